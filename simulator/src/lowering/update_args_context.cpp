// UpdateArgsContext::GetKernelArgs, a call into liblowering.so.
#include "exe_graph/runtime/update_args_context.h"

#include "lowering/node_memory.h"
#include "session/report.h"

namespace gert {
const KernelArgs *UpdateArgsContext::GetKernelArgs(Placement placement, size_t index) const {
  const auto *memory = GetInputPointer<opkit_sim::lowering::NodeMemory>(static_cast<size_t>(GetAdditionalInputStartIndex()));
  const KernelArgs *found = memory->args.Find(placement, index);
  if (found == nullptr) {
    opkit_sim::report::Error("E19999", "[GetKernelArgs] op %s has no %s args %zu", GetNodeName(),
                             placement == ge::kPlacementHost ? "host" : "device", index);
  }
  return found;
}
}  // namespace gert
