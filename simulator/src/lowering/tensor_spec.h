// Shape, format and dtype of a tensor without its memory, in the runtime's own types.
#ifndef OPKIT_SIM_SRC_LOWERING_TENSOR_SPEC_H_
#define OPKIT_SIM_SRC_LOWERING_TENSOR_SPEC_H_

#include "exe_graph/runtime/storage_format.h"
#include "exe_graph/runtime/storage_shape.h"
#include "graph/tensor.h"

namespace opkit_sim::lowering {
struct TensorSpec {
  gert::StorageShape shape;
  gert::StorageFormat format;
  ge::DataType dtype = ge::DT_UNDEFINED;

  /// A dim below zero stands for one that isn't known (-1), or for an unknown rank (-2).
  bool IsStatic() const;
  /// -1 if the dtype has no fixed size or the product doesn't fit.
  int64_t Bytes() const;
};

TensorSpec SpecOf(const ge::TensorDesc &desc);
void WriteTo(const TensorSpec &spec, ge::TensorDesc &desc);
}  // namespace opkit_sim::lowering

#endif  // OPKIT_SIM_SRC_LOWERING_TENSOR_SPEC_H_
