// What ShapeInferOp::InferDataType gets: input dtypes to read, output dtypes to write. Dtypes lie in the cells themselves.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_INFER_DATATYPE_CONTEXT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_INFER_DATATYPE_CONTEXT_H_

#include <type_traits>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "graph/types.h"

namespace gert {
/// Getters give DT_UNDEFINED for an absent input or output.
class InferDataTypeContext : public ExtendedKernelContext {
 public:
  ge::DataType GetInputDataType(const size_t index) const { return Read(GetInputPointer<ge::DataType>(index)); }
  ge::DataType GetRequiredInputDataType(const size_t ir_index) const { return GetDynamicInputDataType(ir_index, 0); }
  ge::DataType GetOptionalInputDataType(const size_t ir_index) const { return GetDynamicInputDataType(ir_index, 0); }
  ge::DataType GetDynamicInputDataType(const size_t ir_index, const size_t relative_index) const {
    return Read(GetDynamicInputPointer<ge::DataType>(ir_index, relative_index));
  }
  ge::DataType GetOutputDataType(const size_t index) const { return Read(GetOutputPointer<ge::DataType>(index)); }

  /// GRAPH_FAILED if there is no such output.
  ge::graphStatus SetOutputDataType(const size_t index, const ge::DataType datatype) {
    auto *const cell = GetOutputPointer<ge::DataType>(index);
    if (cell == nullptr) {
      return ge::GRAPH_FAILED;
    }
    *cell = datatype;
    return ge::GRAPH_SUCCESS;
  }

 private:
  static ge::DataType Read(const ge::DataType *cell) { return cell == nullptr ? ge::DT_UNDEFINED : *cell; }
};

static_assert(std::is_standard_layout<InferDataTypeContext>::value && sizeof(InferDataTypeContext) == sizeof(KernelContext),
              "contexts add no members");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_INFER_DATATYPE_CONTEXT_H_
