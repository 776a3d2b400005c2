// Output dtypes and shapes of a node, asked of the op itself. Part of libge_compiler.so.
#ifndef OPKIT_SIM_SRC_SESSION_INFERENCE_H_
#define OPKIT_SIM_SRC_SESSION_INFERENCE_H_

#include <vector>

#include "graph/custom_op.h"
#include "graph/graph_internal.h"

namespace opkit_sim::session {
/// Writes the node's output descs: InferDataType first, then InferShape. An op without ShapeInferOp keeps the descs that the user gave.
/// `constants` has, for each input of the node, the constant that feeds it or nullptr; its data is what GetInputTensor shows. false with a
/// report.
bool Infer(ge::BaseCustomOp &op, graph::NodeDesc &node, const std::vector<const ge::Tensor *> &constants);
}  // namespace opkit_sim::session

#endif  // OPKIT_SIM_SRC_SESSION_INFERENCE_H_
