#include "graph/tensor.h"

#include <cstring>
#include <limits>

#include "metadef/tensor_internal.h"

namespace ge {

class TensorImpl {
 public:
  TensorDesc desc;
  std::unique_ptr<uint8_t[], Tensor::DeleteFunc> data{nullptr, [](uint8_t *) {}};
  size_t size = 0U;

  void Take(uint8_t *bytes, size_t count, const Tensor::DeleteFunc &deleter) {
    // An empty deleter would throw when the buffer goes.
    data = std::unique_ptr<uint8_t[], Tensor::DeleteFunc>(bytes, deleter ? deleter : [](uint8_t *) {});
    size = count;
  }

  void Copy(const uint8_t *bytes, size_t count) {
    auto *copy = new uint8_t[count];
    if (count > 0U) {
      (void)std::memcpy(copy, bytes, count);
    }
    Take(copy, count, [](uint8_t *old) { delete[] old; });
  }

  void Move(std::vector<uint8_t> &&bytes) {
    auto owner = std::make_shared<std::vector<uint8_t>>(std::move(bytes));
    Take(owner->data(), owner->size(), [owner](uint8_t *) mutable { owner.reset(); });
  }
};

namespace {

graphStatus ResizeShape(const Shape &from, size_t dim_num, Shape &to) {
  constexpr size_t kMaxRank = 25U;  // the runtime's tensors hold no more
  if (dim_num > kMaxRank) {
    return GRAPH_FAILED;
  }
  std::vector<int64_t> dims = from.GetDims();
  dims.resize(dim_num, 0);
  to = Shape(dims);
  return GRAPH_SUCCESS;
}

}  // namespace

Tensor::Tensor() : impl(std::make_shared<TensorImpl>()) {}

Tensor::Tensor(const TensorDesc &tensor_desc) : Tensor() { impl->desc = tensor_desc; }

Tensor::Tensor(const TensorDesc &tensor_desc, const std::vector<uint8_t> &data) : Tensor(tensor_desc, data.data(), data.size()) {}

Tensor::Tensor(const TensorDesc &tensor_desc, const uint8_t *data, size_t size) : Tensor(tensor_desc) { (void)SetData(data, size); }

Tensor::Tensor(TensorDesc &&tensor_desc, std::vector<uint8_t> &&data) : Tensor() {
  impl->desc = std::move(tensor_desc);
  impl->Move(std::move(data));
}

TensorDesc Tensor::GetTensorDesc() const { return impl->desc; }

graphStatus Tensor::SetTensorDesc(const TensorDesc &tensor_desc) {
  impl->desc = tensor_desc;
  return GRAPH_SUCCESS;
}

const uint8_t *Tensor::GetData() const { return impl->data.get(); }
uint8_t *Tensor::GetData() { return impl->data.get(); }
size_t Tensor::GetSize() const { return impl->size; }

std::unique_ptr<uint8_t[], Tensor::DeleteFunc> Tensor::ResetData() {
  std::unique_ptr<uint8_t[], Tensor::DeleteFunc> out = std::move(impl->data);
  impl->Take(nullptr, 0U, nullptr);
  return out;
}

graphStatus Tensor::ResetData(uint8_t *data, size_t size, const Tensor::DeleteFunc &deleter_func) {
  return SetData(data, size, deleter_func);
}

graphStatus Tensor::SetData(std::vector<uint8_t> &&data) {
  impl->Move(std::move(data));
  return GRAPH_SUCCESS;
}

graphStatus Tensor::SetData(const std::vector<uint8_t> &data) { return SetData(data.data(), data.size()); }

graphStatus Tensor::SetData(const uint8_t *data, size_t size) {
  if (data == nullptr && size > 0U) {
    return GRAPH_FAILED;
  }
  impl->Copy(data, size);
  return GRAPH_SUCCESS;
}

graphStatus Tensor::SetData(uint8_t *data, size_t size, const Tensor::DeleteFunc &deleter_func) {
  if (data == nullptr && size > 0U) {
    return GRAPH_FAILED;
  }
  impl->Take(data, size, deleter_func);
  return GRAPH_SUCCESS;
}

graphStatus Tensor::SetData(const char_t *data) {
  return data == nullptr ? GRAPH_FAILED : SetData(std::vector<AscendString>{AscendString(data)});
}

graphStatus Tensor::SetData(const std::vector<AscendString> &datas) {
  size_t bytes = datas.size() * sizeof(StringHead);
  for (const AscendString &text : datas) {
    bytes += text.GetLength() + 1U;
  }
  std::vector<uint8_t> payload(bytes);
  size_t at = datas.size() * sizeof(StringHead);
  for (size_t i = 0U; i < datas.size(); ++i) {
    const StringHead head{static_cast<int64_t>(at), static_cast<int64_t>(datas[i].GetLength())};
    (void)std::memcpy(&payload[i * sizeof(StringHead)], &head, sizeof(head));
    (void)std::memcpy(&payload[at], datas[i].GetString(), datas[i].GetLength());
    at += datas[i].GetLength() + 1U;
  }
  impl->Move(std::move(payload));
  return GRAPH_SUCCESS;
}

graphStatus Tensor::IsValid() {
  const Shape shape = impl->desc.GetShape();
  int64_t elements = 1;
  for (const int64_t dim : shape.GetDims()) {
    if (dim < 0) {
      return GRAPH_SUCCESS;
    }
    if (__builtin_mul_overflow(elements, dim, &elements)) {
      return GRAPH_FAILED;
    }
  }
  const DataType type = impl->desc.GetDataType();
  if (GetSizeByDataType(type) < 0) {
    return type == DT_STRING ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  return GetSizeInBytes(elements, type) == static_cast<int64_t>(impl->size) ? GRAPH_SUCCESS : GRAPH_FAILED;
}

graphStatus Tensor::SetOriginShapeDimNum(const size_t dim_num) {
  Shape shape;
  const graphStatus status = ResizeShape(impl->desc.GetOriginShape(), dim_num, shape);
  if (status == GRAPH_SUCCESS) {
    impl->desc.SetOriginShape(shape);
  }
  return status;
}

size_t Tensor::GetOriginShapeDimNum() const { return impl->desc.GetOriginShape().GetDimNum(); }
graphStatus Tensor::SetOriginShapeDim(const size_t idx, const int64_t dim_value) {
  return impl->desc.GetOriginShape().SetDim(idx, dim_value);
}
int64_t Tensor::GetOriginShapeDim(const size_t idx) const { return impl->desc.GetOriginShape().GetDim(idx); }

graphStatus Tensor::SetOriginFormat(const ge::Format &format) {
  impl->desc.SetOriginFormat(format);
  return GRAPH_SUCCESS;
}
ge::Format Tensor::GetOriginFormat() const { return impl->desc.GetOriginFormat(); }

graphStatus Tensor::SetShapeDimNum(const size_t dim_num) {
  Shape shape;
  const graphStatus status = ResizeShape(impl->desc.GetShape(), dim_num, shape);
  if (status == GRAPH_SUCCESS) {
    impl->desc.SetShape(shape);
  }
  return status;
}

size_t Tensor::GetShapeDimNum() const { return impl->desc.GetShape().GetDimNum(); }
graphStatus Tensor::SetShapeDim(const size_t idx, const int64_t dim_value) { return impl->desc.GetShape().SetDim(idx, dim_value); }
int64_t Tensor::GetShapeDim(const size_t idx) const { return impl->desc.GetShape().GetDim(idx); }

graphStatus Tensor::SetFormat(const ge::Format &format) {
  impl->desc.SetFormat(format);
  return GRAPH_SUCCESS;
}
ge::Format Tensor::GetFormat() const { return impl->desc.GetFormat(); }

graphStatus Tensor::SetDataType(const ge::DataType &dtype) {
  impl->desc.SetDataType(dtype);
  return GRAPH_SUCCESS;
}
ge::DataType Tensor::GetDataType() const { return impl->desc.GetDataType(); }

graphStatus Tensor::SetPlacement(const ge::Placement &placement) {
  impl->desc.SetPlacement(placement);
  return GRAPH_SUCCESS;
}
ge::Placement Tensor::GetPlacement() const { return impl->desc.GetPlacement(); }

graphStatus Tensor::SetExpandDimsRule(const AscendString &expand_dims_rule) {
  impl->desc.SetExpandDimsRule(expand_dims_rule);
  return GRAPH_SUCCESS;
}
graphStatus Tensor::GetExpandDimsRule(AscendString &expand_dims_rule) const { return impl->desc.GetExpandDimsRule(expand_dims_rule); }

Tensor Tensor::Clone() const {
  Tensor copy(TensorAdapter::Detach(impl->desc));
  copy.impl->Copy(impl->data.get(), impl->size);
  return copy;
}

}  // namespace ge
