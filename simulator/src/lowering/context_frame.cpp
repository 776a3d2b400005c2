#include "lowering/context_frame.h"

#include <cstddef>

namespace opkit_sim::lowering {
ContextFrame::ContextFrame(size_t inputs, size_t outputs, const gert::ComputeNodeInfo *node)
    : inputs_(inputs),
      cells_(inputs + outputs),
      run_context_((sizeof(KernelRunContext) + (inputs + outputs) * sizeof(AsyncAnyValue *)) / 8 + 1) {
  auto *context = reinterpret_cast<KernelRunContext *>(run_context_.data());
  AsyncAnyValue **values = reinterpret_cast<AsyncAnyValue **>(reinterpret_cast<uint8_t *>(context) + offsetof(KernelRunContext, values));
  for (size_t i = 0; i < cells_.size(); ++i) {
    values[i] = &cells_[i];
  }
  context->input_size = inputs;
  context->output_size = outputs;
  context->compute_node_info = node;
  context->kernel_extend_info = nullptr;
  context->output_start = values + inputs;
}
}  // namespace opkit_sim::lowering
