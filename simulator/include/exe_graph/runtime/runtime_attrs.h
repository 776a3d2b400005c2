// The attributes of a node by their index in the prototype: a table of offsets followed by the values, read in place.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/runtime_tensor.h"

namespace gert {
/// Every accessor gives nullptr for an index past the end; a wrong type isn't noticed.
class RuntimeAttrs {
 public:
  RuntimeAttrs() = delete;
  RuntimeAttrs(const RuntimeAttrs &) = delete;
  RuntimeAttrs &operator=(const RuntimeAttrs &) = delete;

  template <typename T>
  const T *GetAttrPointer(size_t index) const {
    return static_cast<const T *>(At(index));
  }
  const int64_t *GetInt(const size_t index) const { return GetAttrPointer<int64_t>(index); }
  const float *GetFloat(const size_t index) const { return GetAttrPointer<float>(index); }
  const bool *GetBool(const size_t index) const { return GetAttrPointer<bool>(index); }
  const char *GetStr(const size_t index) const { return GetAttrPointer<char>(index); }
  const Tensor *GetTensor(const size_t index) const { return GetAttrPointer<Tensor>(index); }
  const TypedContinuousVector<int64_t> *GetListInt(const size_t index) const {
    return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
  }
  const TypedContinuousVector<float> *GetListFloat(const size_t index) const { return GetAttrPointer<TypedContinuousVector<float>>(index); }
  const ContinuousVectorVector *GetListListInt(const size_t index) const { return GetAttrPointer<ContinuousVectorVector>(index); }
  const ContinuousVectorVector *GetListListFloat(const size_t index) const { return GetAttrPointer<ContinuousVectorVector>(index); }
  size_t GetAttrNum() const { return count_; }

 private:
  const void *At(size_t index) const {
    const auto *base = reinterpret_cast<const uint8_t *>(this);
    return index < count_ ? base + reinterpret_cast<const size_t *>(base + sizeof(RuntimeAttrs))[index] : nullptr;
  }

  size_t count_;
  uint8_t reserved_[40];
};

static_assert(std::is_standard_layout<RuntimeAttrs>::value && sizeof(RuntimeAttrs) == 48, "RuntimeAttrs is the head of a buffer");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H_
