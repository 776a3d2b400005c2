// Dimensions of a tensor as custom-op callbacks see them: a fixed-capacity, trivially laid-out list that may cross a library border.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_SHAPE_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_SHAPE_H_

// More than is needed here: programs rely on what the genuine header brings along.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <type_traits>
#include <vector>

#include "utils/extern_math_util.h"

namespace gert {
struct Shape {
  static constexpr size_t kMaxDimNum = 25;
  static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

  Shape() = default;

  // More than kMaxDimNum dims give a scalar, without a word: the genuine constructor can't report either.
  Shape(const std::initializer_list<int64_t> &dims) {
    if (dims.size() <= kMaxDimNum) {
      for (const int64_t dim : dims) {
        dims_[rank_++] = dim;
      }
    }
  }

  bool operator==(const Shape &other) const {
    return rank_ == other.rank_ && std::memcmp(dims_, other.dims_, StoredDims() * sizeof(int64_t)) == 0;
  }
  bool operator!=(const Shape &other) const { return !(*this == other); }

  /// Number of elements: 1 for a scalar, kInvalidDimValue if the product doesn't fit. An unknown dim (-1) is multiplied like any other.
  int64_t GetShapeSize() const {
    int64_t elements = 1;
    for (size_t i = 0; i < StoredDims(); ++i) {
      if (__builtin_mul_overflow(elements, dims_[i], &elements)) {
        return kInvalidDimValue;
      }
    }
    return elements;
  }

  size_t GetDimNum() const { return rank_; }
  void SetDimNum(const size_t dim_num) { rank_ = dim_num; }
  bool IsScalar() const { return rank_ == 0; }
  void SetScalar() { rank_ = 0; }

  /// Checks against the capacity, not against the rank.
  int64_t GetDim(const size_t idx) const { return idx < kMaxDimNum ? dims_[idx] : kInvalidDimValue; }

  // The rank grows to idx, not to idx + 1: SetDim(5, v) on rank 2 gives rank 5, without the dim that was set. Genuine behaviour; call
  // SetDimNum first.
  void SetDim(const size_t idx, const int64_t dim_value) {
    if (idx >= kMaxDimNum) {
      return;
    }
    dims_[idx] = dim_value;
    if (rank_ < idx) {
      rank_ = idx;
    }
  }

  Shape &AppendDim(const int64_t value) {
    if (rank_ < kMaxDimNum) {
      dims_[rank_++] = value;
    }
    return *this;
  }

  const int64_t &operator[](const size_t idx) const { return dims_[idx]; }
  int64_t &operator[](const size_t idx) { return dims_[idx]; }

 private:
  size_t StoredDims() const { return rank_ < kMaxDimNum ? rank_ : kMaxDimNum; }

  size_t rank_ = 0;
  int64_t dims_[kMaxDimNum] = {};
  uint8_t reserved_[40] = {};
};

static_assert(std::is_standard_layout<Shape>::value && sizeof(Shape) == 248, "Shape crosses library borders by layout");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_SHAPE_H_
