// Which axes a format conversion inserts before it re-lays a tensor out, as a bit per axis of the expanded shape.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_EXPAND_DIMS_TYPE_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_EXPAND_DIMS_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exe_graph/runtime/shape.h"
#include "graph/error_codes.h"
#include "graph/types.h"

namespace gert {
class ExpandDimsType {
 public:
  using AxisIndex = uint64_t;
  static constexpr size_t kMaxExpandSize = 56;

  ExpandDimsType() : axes_(0), inserted_(0) {}

  /// One character per axis of the expanded shape, '1' where an axis is inserted: "1001" makes [a, b] a [1, a, b, 1].
  explicit ExpandDimsType(const ge::char_t *const text) : ExpandDimsType() {
    const size_t length = text == nullptr ? 0 : std::strlen(text);
    if (length > kMaxExpandSize) {
      return;
    }
    axes_ = static_cast<uint8_t>(length);
    for (size_t i = 0; i < length; ++i) {
      if (text[i] == '1') {
        SetExpandIndex(i);
      }
    }
  }

  // The axis count is the top byte; only the low byte of the mask is taken over, as the genuine constructor does.
  explicit ExpandDimsType(const int64_t packed) : ExpandDimsType() {
    const auto bits = static_cast<uint64_t>(packed);
    axes_ = static_cast<uint8_t>(bits >> kMaxExpandSize);
    if (axes_ <= kMaxExpandSize) {
      inserted_ = bits & 0xffULL;
    }
  }

  bool operator==(const ExpandDimsType &other) const { return axes_ == other.axes_ && inserted_ == other.inserted_; }

  AxisIndex GetFullSize() const { return axes_; }
  void SetExpandIndex(const AxisIndex index) { inserted_ = (inserted_ | (uint64_t{1} << index)) & ((uint64_t{1} << kMaxExpandSize) - 1); }
  bool IsExpandIndex(const AxisIndex index) const { return (inserted_ >> index) & 1U; }

  /// GRAPH_FAILED if the shape has fewer dims than there are axes to keep; a shape that is already full is copied.
  ge::graphStatus Expand(const Shape &shape, Shape &out_shape) const {
    if (shape.GetDimNum() == axes_) {
      out_shape = shape;
      return ge::GRAPH_SUCCESS;
    }
    Shape expanded;
    size_t taken = 0;
    for (AxisIndex axis = 0; axis < axes_; ++axis) {
      if (IsExpandIndex(axis)) {
        expanded.AppendDim(1);
      } else if (taken < shape.GetDimNum()) {
        expanded.AppendDim(shape.GetDim(taken++));
      } else {
        return ge::GRAPH_FAILED;
      }
    }
    while (taken < shape.GetDimNum()) {
      expanded.AppendDim(shape.GetDim(taken++));
    }
    out_shape = expanded;
    return ge::GRAPH_SUCCESS;
  }

  ge::graphStatus Expand(Shape &shape) const {
    const Shape before = shape;
    return Expand(before, shape);
  }

 private:
  uint64_t axes_ : 8;
  uint64_t inserted_ : kMaxExpandSize;
  uint8_t reserved_[40] = {};
};

static_assert(sizeof(ExpandDimsType) == 48, "ExpandDimsType crosses library borders by layout");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_EXPAND_DIMS_TYPE_H_
