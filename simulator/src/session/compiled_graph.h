// A graph after CompileGraph: every shape and dtype is known, every node has its implementation. A plain value that a load reads. Its code
// is libge_compiler.so.
#ifndef OPKIT_SIM_SRC_SESSION_COMPILED_GRAPH_H_
#define OPKIT_SIM_SRC_SESSION_COMPILED_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "graph/custom_op.h"
#include "graph/graph_internal.h"
#include "lowering/compile_options.h"
#include "lowering/declared_launches.h"
#include "lowering/node_info.h"
#include "lowering/tensor_spec.h"

namespace opkit_sim::session {
/// One tensor of the graph: made by a node, given by the user, or constant.
struct CompiledValue {
  enum class Origin : uint32_t { kGraphInput, kConstant, kNode };

  Origin origin = Origin::kNode;
  size_t index = 0;  // kGraphInput: which one; kNode: output of the node
  size_t node = 0;   // kNode: index into CompiledGraph::nodes
  lowering::TensorSpec spec;
  size_t bytes = 0;
  ge::Tensor constant;  // kConstant
};

struct CompiledNode {
  ge::AscendString name;
  ge::AscendString type;
  std::shared_ptr<const lowering::NodeInfo> info;

  // What the op's class derives from; nullptr where it doesn't.
  ge::EagerExecuteOp *eager = nullptr;
  ge::ArgsUpdater *updater = nullptr;
  ge::AnnotatedArgsOp *annotated = nullptr;

  std::vector<size_t> inputs;                  // values, without absent optional inputs
  std::vector<size_t> outputs;                 // values
  std::vector<size_t> shared_input_of_output;  // lowering::kNotShared, or the input of the same name in the prototype
  lowering::DeclaredLaunches declared;         // of an annotated op that isn't an updater

  /// Decides about Identity copies: by what the class derives from, not by what it calls (ge: IsAddressRefreshable).
  bool IsAddressRefreshable() const { return updater != nullptr || annotated != nullptr; }
  /// An op that is both is refreshed as an updater.
  bool IsDeclared() const { return annotated != nullptr && updater == nullptr; }
};

struct CompiledGraph {
  ge::AscendString name;
  std::vector<CompiledValue> values;
  std::vector<CompiledNode> nodes;  // in the order of execution, without Data and Const
  std::vector<size_t> inputs;       // values
  std::vector<size_t> outputs;      // values; one may stand here more than once
};

/// nullptr, with a report, if the graph can't be compiled. Changes the descs of `graph` to what was inferred.
std::shared_ptr<const CompiledGraph> Compile(graph::GraphDesc &graph, const lowering::CompileOptions &options);
}  // namespace opkit_sim::session

#endif  // OPKIT_SIM_SRC_SESSION_COMPILED_GRAPH_H_
