// What is behind ge::Shape, ge::TensorDesc and ge::Tensor, and how to copy a desc without its shared shapes.
#ifndef OPKIT_SIM_SRC_METADEF_TENSOR_INTERNAL_H_
#define OPKIT_SIM_SRC_METADEF_TENSOR_INTERNAL_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "graph/tensor.h"

namespace ge {

class TensorDescImpl {
 public:
  Shape shape;
  Format format = FORMAT_ND;
  DataType data_type = DT_FLOAT;
  Shape origin_shape;
  Format origin_format = FORMAT_ND;
  bool has_origin_shape = false;
  bool has_origin_format = false;
  std::vector<std::pair<int64_t, int64_t>> range;
  AscendString name;
  int64_t size = 0;
  int64_t real_dim_count = 0;
  Placement placement = kPlacementHost;
  std::shared_ptr<uint8_t[]> const_data;
  size_t const_data_bytes = 0U;
  AscendString expand_dims_rule;
  bool has_reuse_input = false;
  uint32_t reuse_input = 0U;
};

class TensorAdapter {
 public:
  // A desc that shares nothing with `desc` but constant data. Origin shape and format that were never set become shape and format.
  static TensorDesc Detach(const TensorDesc &desc);
};

}  // namespace ge

#endif  // OPKIT_SIM_SRC_METADEF_TENSOR_INTERNAL_H_
