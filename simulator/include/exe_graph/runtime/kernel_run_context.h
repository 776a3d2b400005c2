/* The argument list of every callback, as plain C: inputs first, outputs behind them, each a pointer-sized cell with an optional deleter.
 */
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_KERNEL_RUN_CONTEXT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_KERNEL_RUN_CONTEXT_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*FreeCallback)(void *);

typedef struct {
  union {
    void *pointer;
    unsigned char inplace[sizeof(void *)];
  } data;
  FreeCallback deleter;
} AsyncAnyValue;

/* values[0 .. input_size) are inputs, values[input_size .. input_size + output_size) outputs; output_start points at the latter. */
typedef struct {
  size_t input_size;
  size_t output_size;
  const void *compute_node_info;
  const void *kernel_extend_info;
  AsyncAnyValue **output_start;
  AsyncAnyValue *values[1];
} KernelRunContext;

#ifdef __cplusplus
}
#endif

#endif /* OPKIT_SIM_EXE_GRAPH_RUNTIME_KERNEL_RUN_CONTEXT_H_ */
