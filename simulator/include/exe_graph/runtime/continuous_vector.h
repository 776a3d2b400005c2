// Vectors that lie in one buffer together with their header, the form in which list attributes reach a callback.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_CONTINUOUS_VECTOR_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_CONTINUOUS_VECTOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "graph/error_codes.h"

namespace gert {
class ContinuousVector {
 public:
  /// nullptr if the size overflows or memory is short.
  template <typename T>
  static std::unique_ptr<uint8_t[]> Create(size_t capacity, size_t &total_size) {
    if (__builtin_mul_overflow(capacity, sizeof(T), &total_size) ||
        __builtin_add_overflow(total_size, sizeof(ContinuousVector), &total_size)) {
      return nullptr;
    }
    std::unique_ptr<uint8_t[]> holder(new (std::nothrow) uint8_t[total_size]);
    if (holder != nullptr) {
      reinterpret_cast<ContinuousVector *>(holder.get())->Init(capacity);
    }
    return holder;
  }
  template <typename T>
  static std::unique_ptr<uint8_t[]> Create(const size_t capacity) {
    size_t total_size = 0;
    return Create<T>(capacity, total_size);
  }

  void Init(const size_t capacity) {
    capacity_ = capacity;
    size_ = 0;
    std::memset(reserved_, 0, sizeof(reserved_));
  }
  size_t GetSize() const { return size_; }
  size_t GetCapacity() const { return capacity_; }
  ge::graphStatus SetSize(const size_t size) {
    if (size > capacity_) {
      return ge::GRAPH_PARAM_OUT_OF_RANGE;
    }
    size_ = size;
    return ge::GRAPH_SUCCESS;
  }
  const void *GetData() const { return elements_; }
  void *MutableData() { return elements_; }

 private:
  size_t capacity_;
  size_t size_;
  uint8_t reserved_[40];
  uint8_t elements_[8];
};

static_assert(std::is_standard_layout<ContinuousVector>::value && sizeof(ContinuousVector) == 64,
              "ContinuousVector lies in attribute buffers");

template <typename T>
class TypedContinuousVector : private ContinuousVector {
 public:
  using ContinuousVector::GetCapacity;
  using ContinuousVector::GetSize;
  using ContinuousVector::SetSize;

  const T *GetData() const { return static_cast<const T *>(ContinuousVector::GetData()); }
  T *MutableData() { return static_cast<T *>(ContinuousVector::MutableData()); }
};

class ContinuousVectorVector {
 public:
  void Init(const size_t capacity) {
    capacity_ = capacity;
    size_ = 0;
    std::memset(reserved_, 0, sizeof(reserved_));
    if (capacity > 0) {
      Offsets()[0] = GetOverHeadLength(capacity);
    }
  }

  /// Appends a vector with inner_vector_capacity elements behind the last one; the buffer must have room. nullptr when full.
  template <typename T>
  ContinuousVector *Add(size_t inner_vector_capacity) {
    size_t bytes = 0;
    if (size_ >= capacity_ || __builtin_mul_overflow(inner_vector_capacity, sizeof(T), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(ContinuousVector), &bytes)) {
      return nullptr;
    }
    auto *inner = reinterpret_cast<ContinuousVector *>(reinterpret_cast<uint8_t *>(this) + Offsets()[size_]);
    inner->Init(inner_vector_capacity);
    (void)inner->SetSize(inner_vector_capacity);
    if (++size_ < capacity_) {
      Offsets()[size_] = Offsets()[size_ - 1] + bytes;
    }
    return inner;
  }
  const ContinuousVector *Get(const size_t index) const {
    const size_t *const offsets = offset_;
    return reinterpret_cast<const ContinuousVector *>(reinterpret_cast<const uint8_t *>(this) + offsets[index]);
  }
  size_t GetSize() const { return size_; }
  static size_t GetOverHeadLength(const size_t capacity) {
    return sizeof(ContinuousVectorVector) + (capacity > 1 ? capacity - 1 : 0) * sizeof(size_t);
  }

 private:
  size_t *Offsets() { return offset_; }

  size_t capacity_ = 0;
  size_t size_ = 0;
  uint8_t reserved_[40] = {};
  size_t offset_[1] = {};
};

static_assert(std::is_standard_layout<ContinuousVectorVector>::value, "ContinuousVectorVector lies in attribute buffers");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_CONTINUOUS_VECTOR_H_
