// The parts of the execution context that are calls into liblowering.so: output, workspace and argument memory.
#include "exe_graph/runtime/eager_op_execution_context.h"

#include "lowering/node_memory.h"
#include "lowering/workspace.h"
#include "session/report.h"

namespace gert {
namespace {
namespace report = opkit_sim::report;
using opkit_sim::lowering::NodeMemory;

const char *Shown(const char *text) { return text == nullptr ? "" : text; }
}  // namespace

rtStream EagerOpExecutionContext::GetStream() const {
  const auto cell = static_cast<size_t>(GetAdditionalInputStartIndex()) + static_cast<size_t>(AdditionalInputIndex::kStream);
  return GetInputValue<rtStream>(cell);
}

Tensor *EagerOpExecutionContext::MallocOutputTensor(size_t index, const StorageShape &shape, const StorageFormat &format,
                                                    ge::DataType dtype) {
  if (index >= GetComputeNodeOutputNum()) {
    report::Error("E19999", "[MallocOutputTensor] op %s has %zu outputs, there is no output %zu", Shown(GetNodeName()),
                  GetComputeNodeOutputNum(), index);
    return nullptr;
  }
  const auto *memory = GetInputPointer<NodeMemory>(static_cast<size_t>(GetAdditionalInputStartIndex()));
  if (memory->shared_input_of_output[index] != opkit_sim::lowering::kNotShared) {
    report::Error("E19999", "[MallocOutputTensor] output name exists in input, op %s, output %zu: use MakeOutputRefInput",
                  Shown(GetNodeName()), index);
    return nullptr;
  }
  Tensor *tensor = GetOutputPointer<Tensor>(index);
  tensor->GetShape() = shape;
  tensor->MutableFormat() = format;
  tensor->SetDataType(dtype);
  // Bound by the graph. How many bytes the op asks for isn't compared, here as there.
  if (tensor->GetSize() > 0) {
    return tensor;
  }
  report::Error("E19999",
                "[MallocOutputTensor] not supported temporarily: output %zu of op %s has no bytes, a static graph allocates nothing for it",
                index, Shown(GetNodeName()));
  return nullptr;
}

Tensor *EagerOpExecutionContext::MakeOutputRefInput(size_t output_index, size_t input_index) const {
  if (output_index >= GetComputeNodeOutputNum() || input_index >= GetComputeNodeInputNum()) {
    report::Error("E19999", "[MakeOutputRefInput] op %s has no output %zu or no input %zu", Shown(GetNodeName()), output_index,
                  input_index);
    return nullptr;
  }
  const auto *memory = GetInputPointer<NodeMemory>(static_cast<size_t>(GetAdditionalInputStartIndex()));
  if (memory->shared_input_of_output[output_index] != input_index) {
    report::Error("E19999", "[MakeOutputRefInput] output name does not exist in input, op %s, output %zu, input %zu", Shown(GetNodeName()),
                  output_index, input_index);
    return nullptr;
  }
  const Tensor *input = GetInputPointer<Tensor>(input_index);
  auto *output = const_cast<Tensor *>(GetOutputPointer<Tensor>(output_index));
  output->GetShape() = input->GetShape();
  output->MutableFormat() = input->GetFormat();
  output->SetDataType(input->GetDataType());
  return output->MutableTensorData().ShareFrom(input->GetTensorData()) == ge::GRAPH_SUCCESS ? output : nullptr;
}

void *EagerOpExecutionContext::MallocWorkSpace(size_t size) {
  const size_t rounded = opkit_sim::lowering::RoundedWorkspace(size);
  if (rounded == 0) {
    report::Error("E19999", "[MallocWorkSpace] op %s asks for %zu bytes", Shown(GetNodeName()), size);
    return nullptr;
  }
  return MutableInputPointer<NodeMemory>(static_cast<size_t>(GetAdditionalInputStartIndex()))->memory.Allocate(rounded);
}

const KernelArgs *EagerOpExecutionContext::MallocReadOnlyDevArgs(void *host_args, size_t args_size) const {
  if (host_args == nullptr || args_size == 0) {
    report::Error("E19999", "[MallocReadOnlyDevArgs] op %s gives host_args %p, args_size %zu", Shown(GetNodeName()), host_args, args_size);
    return nullptr;
  }
  return MutableInputPointer<NodeMemory>(static_cast<size_t>(GetAdditionalInputStartIndex()))->args.Register(host_args, args_size);
}
}  // namespace gert
