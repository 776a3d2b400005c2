// Compiler attributes under the names that toolkit code uses.
#ifndef OPKIT_SIM_GRAPH_COMPILER_DEF_H_
#define OPKIT_SIM_GRAPH_COMPILER_DEF_H_

#define VAR_UNUSED __attribute__((unused))

#endif  // OPKIT_SIM_GRAPH_COMPILER_DEF_H_
