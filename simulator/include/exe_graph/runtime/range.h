// A lower and an upper bound that someone else owns: shape ranges of dynamic dims.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_RANGE_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_RANGE_H_

#include "exe_graph/runtime/shape.h"

namespace gert {
template <typename T>
class Range {
 public:
  Range() = default;
  Range(T *min, T *max) : min_(min), max_(max) {}
  explicit Range(T *both) : Range(both, both) {}

  // Compares addresses first: equal pointers need no dereference, which also makes two empty ranges equal.
  bool operator==(const Range &other) const {
    return (min_ == other.min_ && max_ == other.max_) || (*min_ == *other.min_ && *max_ == *other.max_);
  }

  const T *GetMin() const { return min_; }
  const T *GetMax() const { return max_; }
  T *GetMin() { return min_; }
  T *GetMax() { return max_; }
  void SetMin(T *min) { min_ = min; }
  void SetMax(T *max) { max_ = max; }

 private:
  T *min_ = nullptr;
  T *max_ = nullptr;
  uint8_t reserved_[40] = {};
};
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_RANGE_H_
