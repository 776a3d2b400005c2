#include "graph/tensor.h"
#include "metadef/tensor_internal.h"

namespace ge {

TensorDesc::TensorDesc() : impl(std::make_shared<TensorDescImpl>()) {}

TensorDesc::TensorDesc(Shape shape, Format format, DataType dt) : TensorDesc() {
  Update(shape, format, dt);
  impl->real_dim_count = static_cast<int64_t>(shape.GetDimNum());
}

TensorDesc::TensorDesc(const TensorDesc &desc)
    : impl(desc.impl == nullptr ? std::make_shared<TensorDescImpl>() : std::make_shared<TensorDescImpl>(*desc.impl)) {}

// The source stays usable: every other call would have to check for a missing impl otherwise.
TensorDesc::TensorDesc(TensorDesc &&desc) : TensorDesc() { impl.swap(desc.impl); }

TensorDesc &TensorDesc::operator=(const TensorDesc &desc) {
  if (this != &desc) {
    impl = std::make_shared<TensorDescImpl>(*desc.impl);
  }
  return *this;
}

TensorDesc &TensorDesc::operator=(TensorDesc &&desc) {
  if (this != &desc) {
    impl.swap(desc.impl);
  }
  return *this;
}

void TensorDesc::Update(const Shape &shape, Format format, DataType dt) {
  impl->shape = shape;
  impl->format = format;
  impl->data_type = dt;
}

Shape TensorDesc::GetShape() const { return impl->shape; }
void TensorDesc::SetShape(const Shape &shape) { impl->shape = shape; }

graphStatus TensorDesc::SetUnknownDimNumShape() {
  impl->shape = Shape({UNKNOWN_DIM_NUM});
  return GRAPH_SUCCESS;
}

graphStatus TensorDesc::SetShapeRange(const std::vector<std::pair<int64_t, int64_t>> &range) {
  impl->range = range;
  return GRAPH_SUCCESS;
}

graphStatus TensorDesc::GetShapeRange(std::vector<std::pair<int64_t, int64_t>> &range) const {
  range = impl->range;
  return GRAPH_SUCCESS;
}

Format TensorDesc::GetFormat() const { return impl->format; }
void TensorDesc::SetFormat(Format format) { impl->format = format; }

Shape TensorDesc::GetOriginShape() const { return impl->origin_shape; }
void TensorDesc::SetOriginShape(const Shape &origin_shape) {
  impl->origin_shape = origin_shape;
  impl->has_origin_shape = true;
}

Format TensorDesc::GetOriginFormat() const { return impl->origin_format; }
void TensorDesc::SetOriginFormat(Format origin_format) {
  impl->origin_format = origin_format;
  impl->has_origin_format = true;
}

DataType TensorDesc::GetDataType() const { return impl->data_type; }
void TensorDesc::SetDataType(DataType dt) { impl->data_type = dt; }

graphStatus TensorDesc::GetName(AscendString &name) { return static_cast<const TensorDesc *>(this)->GetName(name); }

graphStatus TensorDesc::GetName(AscendString &name) const {
  name = impl->name;
  return GRAPH_SUCCESS;
}

void TensorDesc::SetName(const char_t *name) { impl->name = AscendString(name); }

int64_t TensorDesc::GetSize() const { return impl->size; }
void TensorDesc::SetSize(int64_t size) { impl->size = size; }
int64_t TensorDesc::GetRealDimCnt() const { return impl->real_dim_count; }
void TensorDesc::SetRealDimCnt(const int64_t real_dim_cnt) { impl->real_dim_count = real_dim_cnt; }
Placement TensorDesc::GetPlacement() const { return impl->placement; }
void TensorDesc::SetPlacement(Placement placement) { impl->placement = placement; }

void TensorDesc::SetConstData(std::unique_ptr<uint8_t[]> const_data_buffer, const size_t &const_data_len) {
  impl->const_data = std::move(const_data_buffer);
  impl->const_data_bytes = const_data_len;
}

bool TensorDesc::GetConstData(uint8_t **const_data_buffer, size_t &const_data_len) const {
  if (const_data_buffer == nullptr || impl->const_data == nullptr) {
    return false;
  }
  *const_data_buffer = impl->const_data.get();
  const_data_len = impl->const_data_bytes;
  return true;
}

void TensorDesc::SetExpandDimsRule(const AscendString &expand_dims_rule) { impl->expand_dims_rule = expand_dims_rule; }

graphStatus TensorDesc::GetExpandDimsRule(AscendString &expand_dims_rule) const {
  expand_dims_rule = impl->expand_dims_rule;
  return GRAPH_SUCCESS;
}

void TensorDesc::SetReuseInputIndex(const uint32_t idx) {
  impl->has_reuse_input = true;
  impl->reuse_input = idx;
}

TensorDesc TensorAdapter::Detach(const TensorDesc &desc) {
  TensorDesc copy(desc);
  TensorDescImpl &impl = *copy.impl;
  const std::vector<int64_t> dims = impl.shape.GetDims();
  impl.shape = Shape(dims);
  impl.origin_shape = Shape(impl.has_origin_shape ? impl.origin_shape.GetDims() : dims);
  impl.origin_format = impl.has_origin_format ? impl.origin_format : impl.format;
  return copy;
}

}  // namespace ge
