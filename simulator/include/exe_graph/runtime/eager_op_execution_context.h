// What EagerExecuteOp::Execute gets: input tensors, the stream, and memory for outputs, workspace and kernel arguments.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_EAGER_OP_EXECUTION_CONTEXT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_EAGER_OP_EXECUTION_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/kernel_args.h"
#include "graph/tensor.h"

namespace gert {
using rtStream = void *;

/// All memory that it hands out belongs to the framework and lives as long as the loaded graph. Failures are nullptr, with a line in the
/// log.
class EagerOpExecutionContext : public ExtendedKernelContext {
 public:
  /// The framework's own cells, behind the tensors of the node.
  enum class AdditionalInputIndex : uint32_t { kDeviceAllocator = 0, kStream, kNum };
  enum class AdditionalOutputIndex : uint32_t { kWorkSpace = 0, kArgsHandler, kNum };

  rtStream GetStream() const;

  /// In a static graph an address is logical while Execute runs: neither dereference it nor compare it with nullptr.
  const Tensor *GetInputTensor(size_t index) const {
    return static_cast<int64_t>(index) < GetAdditionalInputStartIndex() ? GetInputPointer<Tensor>(index) : nullptr;
  }
  const Tensor *GetRequiredInputTensor(size_t ir_index) const { return GetDynamicInputPointer<Tensor>(ir_index, 0); }
  const Tensor *GetOptionalInputTensor(size_t ir_index) const { return GetDynamicInputPointer<Tensor>(ir_index, 0); }
  const Tensor *GetDynamicInputTensor(size_t ir_index, size_t relative_index) const {
    return GetDynamicInputPointer<Tensor>(ir_index, relative_index);
  }

  // Unlike GetInputTensor this isn't bounded by the node's outputs: two more indices give cells of the framework. Genuine behaviour.
  const Tensor *GetOutputTensor(size_t index) const { return GetOutputPointer<Tensor>(index); }

  /// Sets shape, format and dtype of output `index`. In a static graph its memory is bound already and its size isn't compared.
  Tensor *MallocOutputTensor(size_t index, const StorageShape &shape, const StorageFormat &format, ge::DataType dtype);

  /// Lets an output share the memory of an input; both must have the same name in the prototype.
  Tensor *MakeOutputRefInput(size_t output_index, size_t input_index) const;

  /// Device memory, a multiple of 512 bytes. Its address stays valid in arguments: it is never refreshed.
  void *MallocWorkSpace(size_t size);

  /// Copies args_size bytes at once; the caller's buffer may go. args_data of the result is device memory that only the framework writes.
  const KernelArgs *MallocReadOnlyDevArgs(void *host_args, size_t args_size) const;

 protected:
  int64_t GetAdditionalInputStartIndex() const {
    return GetComputeNodeInfo() == nullptr ? -1 : static_cast<int64_t>(GetComputeNodeInfo()->GetInputsNum());
  }
  int64_t GetAdditionalOutputStartIndex() const {
    return GetComputeNodeInfo() == nullptr ? -1 : static_cast<int64_t>(GetComputeNodeInfo()->GetOutputsNum());
  }
};

static_assert(std::is_standard_layout<EagerOpExecutionContext>::value && sizeof(EagerOpExecutionContext) == sizeof(KernelContext),
              "contexts add no members");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_EAGER_OP_EXECUTION_CONTEXT_H_
