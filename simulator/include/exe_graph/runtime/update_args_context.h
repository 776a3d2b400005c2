// What ArgsUpdater::UpdateHostArgs gets: the tensors with their current addresses, and the argument blocks that Execute registered.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_UPDATE_ARGS_CONTEXT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_UPDATE_ARGS_CONTEXT_H_

#include <type_traits>

#include "exe_graph/runtime/eager_op_execution_context.h"
#include "exe_graph/runtime/kernel_args.h"

namespace gert {
class UpdateArgsContext : public EagerOpExecutionContext {
 public:
  /// The block of the index-th MallocReadOnlyDevArgs call, on the host (to write) or on the device (an address only).
  /// nullptr past the end, and for the host side of an op that isn't an ArgsUpdater.
  const KernelArgs *GetKernelArgs(Placement placement, size_t index) const;
};

static_assert(std::is_standard_layout<UpdateArgsContext>::value && sizeof(UpdateArgsContext) == sizeof(KernelContext),
              "contexts add no members");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_UPDATE_ARGS_CONTEXT_H_
