#include "graph/tensor.h"

#include "metadef/tensor_internal.h"

namespace ge {

class ShapeImpl {
 public:
  std::vector<int64_t> dims;
};

Shape::Shape() : impl_(std::make_shared<ShapeImpl>()) {}

Shape::Shape(const std::vector<int64_t> &dims) : impl_(std::make_shared<ShapeImpl>(ShapeImpl{dims})) {}

size_t Shape::GetDimNum() const {
  if (impl_ == nullptr || (impl_->dims.size() == 1U && impl_->dims[0] == UNKNOWN_DIM_NUM)) {
    return 0U;
  }
  return impl_->dims.size();
}

int64_t Shape::GetDim(size_t idx) const { return impl_ == nullptr || idx >= impl_->dims.size() ? 0 : impl_->dims[idx]; }

graphStatus Shape::SetDim(size_t idx, int64_t value) {
  if (impl_ == nullptr || idx >= impl_->dims.size()) {
    return GRAPH_FAILED;
  }
  impl_->dims[idx] = value;
  return GRAPH_SUCCESS;
}

std::vector<int64_t> Shape::GetDims() const { return impl_ == nullptr ? std::vector<int64_t>() : impl_->dims; }

int64_t Shape::GetShapeSize() const {
  if (impl_ == nullptr || impl_->dims.empty()) {
    return 0;
  }
  int64_t product = 1;
  bool is_overflow = false;
  for (const int64_t dim : impl_->dims) {
    if (dim == UNKNOWN_DIM || dim == UNKNOWN_DIM_NUM) {
      return -1;
    }
    is_overflow = __builtin_mul_overflow(product, dim, &product) || is_overflow;
  }
  return is_overflow ? 0 : product;
}

}  // namespace ge
