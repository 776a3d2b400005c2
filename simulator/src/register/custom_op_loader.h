// Finds and loads the custom-op libraries that ASCEND_CUSTOM_OPP_PATH names, in the order in which GE does.
#ifndef OPKIT_SIM_SRC_REGISTER_CUSTOM_OP_LOADER_H_
#define OPKIT_SIM_SRC_REGISTER_CUSTOM_OP_LOADER_H_

#include "graph/error_codes.h"

namespace opkit_sim::custom_op {
/// Once per process: after a success further calls do nothing, whatever the variable says by then. GRAPH_FAILED, with a report, if any
/// library can't be loaded.
ge::graphStatus LoadLibraries();
}  // namespace opkit_sim::custom_op

#endif  // OPKIT_SIM_SRC_REGISTER_CUSTOM_OP_LOADER_H_
