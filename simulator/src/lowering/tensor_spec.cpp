#include "lowering/tensor_spec.h"

#include <cstdint>
#include <vector>

namespace opkit_sim::lowering {
bool TensorSpec::IsStatic() const {
  const gert::Shape &dims = shape.GetStorageShape();
  for (size_t i = 0; i < dims.GetDimNum(); ++i) {
    if (dims.GetDim(i) < 0) {
      return false;
    }
  }
  return true;
}

int64_t TensorSpec::Bytes() const { return ge::GetSizeInBytes(shape.GetStorageShape().GetShapeSize(), dtype); }

TensorSpec SpecOf(const ge::TensorDesc &desc) {
  TensorSpec spec;
  for (const int64_t dim : desc.GetShape().GetDims()) {
    spec.shape.MutableOriginShape().AppendDim(dim);
    spec.shape.MutableStorageShape().AppendDim(dim);
  }
  const ge::Format storage = desc.GetFormat();
  const ge::Format origin = desc.GetOriginFormat();
  // A desc whose origin format nobody set has only one.
  const bool is_origin_set = origin != ge::FORMAT_RESERVED && origin != ge::FORMAT_NULL && origin < ge::FORMAT_END;
  spec.format = gert::StorageFormat(is_origin_set ? origin : storage, storage, gert::ExpandDimsType());
  spec.dtype = desc.GetDataType();
  return spec;
}

void WriteTo(const TensorSpec &spec, ge::TensorDesc &desc) {
  const gert::Shape &shape = spec.shape.GetOriginShape();
  std::vector<int64_t> dims;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    dims.push_back(shape.GetDim(i));
  }
  desc.SetShape(ge::Shape(dims));
  desc.SetOriginShape(ge::Shape(dims));
  desc.SetDataType(spec.dtype);
}
}  // namespace opkit_sim::lowering
