// One block of kernel arguments that the framework keeps for a node: where it lies and how long it is.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_KERNEL_ARGS_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_KERNEL_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "graph/types.h"

namespace gert {
using Placement = ge::Placement;

struct KernelArgs {
  void *args_data = nullptr;
  size_t args_size = 0;
  uint64_t reserved[4] = {};
  Placement placement = ge::kPlacementHost;
  uint8_t placement_reserved_[4] = {};

  KernelArgs() = default;
};

static_assert(sizeof(KernelArgs) == 56 && offsetof(KernelArgs, placement) == 48, "KernelArgs crosses library borders by layout");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_KERNEL_ARGS_H_
