// Element strides of a view, the second half of TensorV2.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_STRIDE_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_STRIDE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>

namespace gert {
struct Stride {
  static constexpr size_t kMaxDimNum = 25;
  static constexpr int64_t kInvalidStrideValue = std::numeric_limits<int64_t>::min();

  Stride() = default;
  Stride(const std::initializer_list<int64_t> &strides) {
    if (strides.size() <= kMaxDimNum) {
      for (const int64_t stride : strides) {
        strides_[rank_++] = stride;
      }
    }
  }

  bool operator==(const Stride &other) const {
    return rank_ == other.rank_ && std::memcmp(strides_, other.strides_, (rank_ < kMaxDimNum ? rank_ : kMaxDimNum) * sizeof(int64_t)) == 0;
  }
  bool operator!=(const Stride &other) const { return !(*this == other); }

  size_t GetDimNum() const { return rank_; }
  void SetDimNum(const size_t dim_num) { rank_ = dim_num; }
  int64_t GetStride(const size_t idx) const { return idx < kMaxDimNum ? strides_[idx] : kInvalidStrideValue; }

  // Grows the rank as Shape::SetDim does.
  void SetStride(const size_t idx, const int64_t stride) {
    if (idx >= kMaxDimNum) {
      return;
    }
    strides_[idx] = stride;
    if (rank_ < idx) {
      rank_ = idx;
    }
  }

  Stride &AppendStride(const int64_t value) {
    if (rank_ < kMaxDimNum) {
      strides_[rank_++] = value;
    }
    return *this;
  }

  const int64_t &operator[](const size_t idx) const { return strides_[idx]; }
  int64_t &operator[](const size_t idx) { return strides_[idx]; }

 private:
  size_t rank_ = 0;
  int64_t strides_[kMaxDimNum] = {};
  uint8_t reserved_[40] = {};
};

static_assert(std::is_standard_layout<Stride>::value && sizeof(Stride) == 248, "Stride crosses library borders by layout");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_STRIDE_H_
