// Former name of runtime_tensor.h, which projects still include.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_TENSOR_ALIAS_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_TENSOR_ALIAS_H_

#include "exe_graph/runtime/runtime_tensor.h"

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_TENSOR_ALIAS_H_
