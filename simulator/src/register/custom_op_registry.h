// The process-wide table of custom ops: what REG_AUTO_MAPPING_OP fills and the session asks. Its code is part of libgraph.so.
#ifndef OPKIT_SIM_SRC_REGISTER_CUSTOM_OP_REGISTRY_H_
#define OPKIT_SIM_SRC_REGISTER_CUSTOM_OP_REGISTRY_H_

#include "graph/custom_op.h"

namespace opkit_sim::custom_op {
bool IsRegistered(const char *op_type);

/// The one instance of a type, made when it is first asked for and kept for the process; nullptr if nobody registered the type or its
/// creator gave none.
ge::BaseCustomOp *Instance(const char *op_type);
}  // namespace opkit_sim::custom_op

#endif  // OPKIT_SIM_SRC_REGISTER_CUSTOM_OP_REGISTRY_H_
