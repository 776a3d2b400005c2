// Inside of the registries of operator types, and what graph building knows about certain types by name.
#ifndef OPKIT_SIM_SRC_GRAPH_OPERATOR_REGISTRY_H_
#define OPKIT_SIM_SRC_GRAPH_OPERATOR_REGISTRY_H_

#include "graph/ascend_string.h"
#include "graph/operator_factory.h"

namespace opkit_sim::graph {

// Empty functions for a type that registered none.
ge::InferShapeFunc FindInferShape(const ge::AscendString &op_type);
ge::VerifyFunc FindVerify(const ge::AscendString &op_type);

// A name for an operator that was made without one: "<type>_<n>", n counting over the process.
ge::AscendString NameForType(const char *op_type);

bool IsDataType(const ge::AscendString &op_type);   // a graph input
bool IsConstType(const ge::AscendString &op_type);  // holds its value in the attribute "value"

}  // namespace opkit_sim::graph

#endif  // OPKIT_SIM_SRC_GRAPH_OPERATOR_REGISTRY_H_
