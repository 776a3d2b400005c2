// What AnnotatedArgsOp::DeclareLaunchArgs gets: it declares launches whose address slots the framework then refreshes by itself.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_ANNOTATED_ARGS_CONTEXT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_ANNOTATED_ARGS_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "graph/error_codes.h"
#include "graph/tensor.h"

namespace gert {
/// Addresses of the tensor with this index among the node's inputs, its outputs, or its workspaces in the order of MallocWorkSpace.
struct InputAddr {
  uint32_t index;
  const void *addr;
};
struct OutputAddr {
  uint32_t index;
  const void *addr;
};
struct WorkspaceAddr {
  uint32_t index;
  const void *addr;
};

struct AnnotatedKernelLaunchInfo {
  const char *kernel_name = nullptr;
  const void *kernel_bin = nullptr;
  size_t kernel_bin_size = 0;
  uint32_t block_dim = 0;
  uint32_t stream_id = 0;
};

/// The arguments of one launch in kernel order, 8 bytes each whatever they are.
class AnnotatedKernelArgs {
 public:
  AnnotatedKernelArgs();
  template <typename First, typename... Rest,
            typename = typename std::enable_if<!std::is_same<typename std::decay<First>::type, AnnotatedKernelArgs>::value>::type>
  explicit AnnotatedKernelArgs(First &&first, Rest &&...rest) : AnnotatedKernelArgs() {
    (void)((AppendArg(std::forward<First>(first)) == ge::GRAPH_SUCCESS) && ... &&
           (AppendArg(std::forward<Rest>(rest)) == ge::GRAPH_SUCCESS));
  }
  AnnotatedKernelArgs(const AnnotatedKernelArgs &other);
  AnnotatedKernelArgs(AnnotatedKernelArgs &&other) noexcept;
  AnnotatedKernelArgs &operator=(const AnnotatedKernelArgs &other);
  AnnotatedKernelArgs &operator=(AnnotatedKernelArgs &&other) noexcept;
  ~AnnotatedKernelArgs();

  ge::graphStatus AppendArg(const InputAddr &addr);
  ge::graphStatus AppendArg(const OutputAddr &addr);
  ge::graphStatus AppendArg(const WorkspaceAddr &addr);
  ge::graphStatus AppendArg(uint64_t value);

 private:
  friend class AnnotatedArgsContext;

  void *impl_;
};

class AnnotatedArgsContext : public ExtendedKernelContext {
 public:
  const Tensor *GetInputTensor(size_t index) const { return index < GetComputeNodeInputNum() ? GetInputPointer<Tensor>(index) : nullptr; }
  const Tensor *GetRequiredInputTensor(size_t ir_index) const { return GetDynamicInputPointer<Tensor>(ir_index, 0); }
  const Tensor *GetOptionalInputTensor(size_t ir_index) const { return GetDynamicInputPointer<Tensor>(ir_index, 0); }
  const Tensor *GetDynamicInputTensor(size_t ir_index, size_t relative_index) const {
    return GetDynamicInputPointer<Tensor>(ir_index, relative_index);
  }
  const Tensor *GetOutputTensor(size_t index) const {
    return index < GetComputeNodeOutputNum() ? GetOutputPointer<Tensor>(index) : nullptr;
  }
  const Tensor *GetRequiredOutputTensor(size_t ir_index) const { return GetDynamicOutputTensor(ir_index, 0); }
  const Tensor *GetDynamicOutputTensor(size_t ir_index, size_t relative_index) const {
    const AnchorInstanceInfo *port = GetIrOutputInstanceInfo(ir_index);
    return Has(port, relative_index) ? GetOutputPointer<Tensor>(port->GetInstanceStart() + relative_index) : nullptr;
  }

  /// addr is nullptr on failure.
  WorkspaceAddr MallocWorkSpace(size_t size);
  /// UINT32_MAX on failure.
  uint32_t GetStreamId() const;
  ge::graphStatus AddLaunch(const AnnotatedKernelLaunchInfo &launch_info, AnnotatedKernelArgs &&args);
};

static_assert(std::is_standard_layout<AnnotatedArgsContext>::value && sizeof(AnnotatedArgsContext) == sizeof(KernelContext),
              "contexts add no members");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_ANNOTATED_ARGS_CONTEXT_H_
