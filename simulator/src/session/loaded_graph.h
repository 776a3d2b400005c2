// A graph that is loaded: memory is placed, every node has launched once into a task list, and each run binds addresses and replays the
// lists.
#ifndef OPKIT_SIM_SRC_SESSION_LOADED_GRAPH_H_
#define OPKIT_SIM_SRC_SESSION_LOADED_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "session/compiled_graph.h"
#include "session/loaded_node.h"
#include "session/logical_memory.h"
#include "session/memory_plan.h"
#include "session/output_blocks.h"

namespace opkit_sim::session {
/// Not thread-safe: the session runs a graph under a lock.
class LoadedGraph {
 public:
  /// nullptr, with a report, if memory is short or an op fails. Needs a current device; `stream` is the one the ops see.
  static std::unique_ptr<LoadedGraph> Load(std::shared_ptr<const CompiledGraph> graph, uint32_t graph_id, aclrtStream stream);
  /// Waits for the streams that it ran on, as far as they still exist.
  ~LoadedGraph();
  LoadedGraph(const LoadedGraph &) = delete;
  LoadedGraph &operator=(const LoadedGraph &) = delete;

  /// Enqueues a run. false, with a report, if the tensors don't fit the graph or a callback fails; nothing is enqueued then.
  bool Run(aclrtStream stream, const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs);

 private:
  LoadedGraph(std::shared_ptr<const CompiledGraph> graph, uint32_t graph_id);

  bool PlaceMemory();
  bool ReserveArgs();
  bool LoadNodes(aclrtStream stream);

  bool CheckCounts(const std::vector<gert::Tensor> &inputs, const std::vector<gert::Tensor> &outputs) const;
  bool Bind(size_t slot, const gert::Tensor &tensor);
  /// The copy that a tensor in host memory has on the device; nullptr if there is no memory for it.
  void *HostShadow(size_t slot);
  bool BindAll(const std::vector<gert::Tensor> &inputs, const std::vector<gert::Tensor> &outputs);
  bool CopyHostInputs(aclrtStream stream, const std::vector<gert::Tensor> &inputs);
  bool CopyHostOutputs(aclrtStream stream, std::vector<gert::Tensor> &outputs);
  bool RefreshArgs(aclrtStream stream);
  bool Replay(aclrtStream stream);
  bool AllocateOutputs(std::vector<gert::Tensor> &outputs);
  void Remember(aclrtStream stream);
  bool Failed(const char *what, aclError status) const;

  std::shared_ptr<const CompiledGraph> graph_;
  const uint32_t graph_id_;
  const MemoryPlan plan_;
  LogicalMemory logical_;
  lowering::DeviceBlocks memory_;
  lowering::ArgsTable args_;
  OutputBlocks output_blocks_;
  std::vector<void *> addresses_;  // by slot; those of the user's are logical until the first run
  std::vector<void *> host_shadows_;
  std::vector<std::unique_ptr<LoadedNode>> nodes_;
  std::vector<aclrtStream> streams_;
  uint64_t run_ = 0;
  bool is_refresh_due_ = false;
  bool has_refreshed_nodes_ = false;
};
}  // namespace opkit_sim::session

#endif  // OPKIT_SIM_SRC_SESSION_LOADED_GRAPH_H_
