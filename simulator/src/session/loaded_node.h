// One node of a loaded graph: the context its op was called with, the arguments it registered, and the launches it made.
#ifndef OPKIT_SIM_SRC_SESSION_LOADED_NODE_H_
#define OPKIT_SIM_SRC_SESSION_LOADED_NODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/runtime_internal.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "lowering/context_frame.h"
#include "lowering/node_memory.h"
#include "session/compiled_graph.h"
#include "session/memory_plan.h"

namespace opkit_sim::session {
class LoadedNode {
 public:
  /// All references must outlive the node.
  LoadedNode(const CompiledGraph &graph, const CompiledNode &node, const NodeSlots &slots, lowering::DeviceBlocks &memory,
             lowering::ArgsTable &args);
  ~LoadedNode();
  LoadedNode(const LoadedNode &) = delete;
  LoadedNode &operator=(const LoadedNode &) = delete;

  /// Bytes of argument table that a node of this kind may register without getting a table of its own.
  static size_t ReservedArgsBytes(const CompiledNode &node);

  /// Has the op launch, into a task list. `addresses` are by slot. false with a report.
  bool Launch(aclrtStream stream, const std::vector<void *> &addresses);
  /// Gives the tensors their current addresses, and has the op, or the declaration, write its arguments. For refreshed nodes only.
  void BindTensors(const std::vector<void *> &addresses);
  bool RefreshArgs(const std::vector<void *> &addresses, size_t task_id);

  bool IsRefreshed() const { return node_.IsAddressRefreshable(); }
  const std::shared_ptr<const rt::TaskList> &tasks() const { return tasks_; }
  const char *name() const { return node_.name.GetString(); }
  const char *type() const { return node_.type.GetString(); }

 private:
  // An argument of a declared launch that holds an address of the graph.
  struct AddressField {
    uint64_t *host;
    size_t slot;
  };

  bool Execute();
  bool LaunchDeclared(aclrtStream stream);
  bool LaunchOne(aclrtStream stream, const lowering::DeclaredLaunch &launch, const std::vector<void *> &workspaces);
  aclrtFuncHandle FunctionOf(const lowering::DeclaredLaunch &launch);

  const CompiledNode &node_;
  const NodeSlots &slots_;
  lowering::ArgsTable &table_;
  lowering::NodeMemory memory_;
  std::vector<gert::Tensor> inputs_;
  std::vector<gert::Tensor> outputs_;
  lowering::ContextFrame frame_;
  std::vector<AddressField> address_fields_;
  std::vector<aclrtBinHandle> binaries_;
  std::vector<std::pair<ge::AscendString, aclrtFuncHandle>> functions_;
  std::shared_ptr<const rt::TaskList> tasks_;
};
}  // namespace opkit_sim::session

#endif  // OPKIT_SIM_SRC_SESSION_LOADED_NODE_H_
