// What CompilableOp::Compile gets: tensors without data, graph options, and the platform that is compiled for.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_OP_COMPILE_CONTEXT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_OP_COMPILE_CONTEXT_H_

#include "exe_graph/runtime/extended_kernel_context.h"
#include "graph/ascend_string.h"
#include "graph/tensor.h"
#include "platform/platform_infos_def.h"

namespace gert {
class OpCompileContext : public ExtendedKernelContext {
 public:
  const Tensor *GetInputTensor(size_t index) const;
  const Tensor *GetRequiredInputTensor(size_t ir_index) const;
  const Tensor *GetOptionalInputTensor(size_t ir_index) const;
  const Tensor *GetDynamicInputTensor(size_t ir_index, size_t relative_index) const;
  const Tensor *GetOutputTensor(size_t index) const;
  const Tensor *GetRequiredOutputTensor(size_t ir_index) const;
  const Tensor *GetDynamicOutputTensor(size_t ir_index, size_t relative_index) const;

  /// Looks in the graph's options, then the session's, then those of GEInitialize. GRAPH_FAILED for a key that none of them has.
  ge::graphStatus GetOption(const ge::AscendString &option_key, ge::AscendString &option) const;
  ge::graphStatus GetPlatformInfos(fe::PlatFormInfos &platform_info, fe::OptionalInfos &optional_infos) const;
};

static_assert(sizeof(OpCompileContext) == sizeof(KernelContext), "contexts add no members");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_OP_COMPILE_CONTEXT_H_
