// A list of tensors as a kernel gets it from one address: 64-bit words that say where the addresses begin, in bytes; for each tensor its
// rank in the lower half and its index in the upper half of a word, and its dims; then the addresses. Without shapes there is one such
// word, of rank 0 and with the number of tensors for an index, and a filler of 32 ones.
#ifndef OPKIT_SIM_ASCENDC_LIST_TENSOR_H_
#define OPKIT_SIM_ASCENDC_LIST_TENSOR_H_

#include "ascendc/tensor.h"

namespace opkit_sim::ascendc {

constexpr uint64_t kWordBytes = sizeof(uint64_t);
constexpr uint64_t kListFiller = 0xffffffff;
constexpr uint32_t kAnyLength = 0xffffffff;

inline uint64_t ReadListWord(BlockState &block, const char *api, GM_ADDR list, uint64_t index, Where where) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(list) + index * kWordBytes;
  CheckGlobal<Access::kRead>(block, api, FindGlobal(block, address), kWordBytes, kWordBytes, where);
  return LoadScalar<uint64_t>(reinterpret_cast<const void *>(address));
}

}  // namespace opkit_sim::ascendc

namespace AscendC {

class ListTensorDesc;

// One tensor of a list with its shape, which is kept where SetShapeAddr says.
template <typename T>
class TensorDesc {
 public:
  void SetShapeAddr(uint64_t *shape) { shape_ = shape; }
  uint64_t GetDim() const { return rank_; }
  uint64_t GetIndex() const { return index_; }
  uint64_t GetShape(uint32_t axis, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) const {
    namespace sim = opkit_sim::ascendc;
    if (OPKIT_SIM_UNLIKELY(axis >= rank_)) {
      sim::Fail(sim::Block(), sim::rule::kListTensor, where, "GetShape: axis %u of a tensor of rank %llu", axis,
                static_cast<unsigned long long>(rank_));
    }
    return shape_[axis];
  }
  __gm__ T *GetDataPtr() const { return data_; }
  GlobalTensor<T> GetDataObj() const {
    uint64_t elements = 1;
    for (uint64_t axis = 0; axis < rank_; ++axis) elements *= shape_[axis];
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(data_, elements);
    return tensor;
  }

 private:
  friend class ListTensorDesc;

  uint64_t *shape_ = nullptr;
  uint64_t rank_ = 0;
  uint64_t index_ = 0;
  __gm__ T *data_ = nullptr;
};

class ListTensorDesc {
 public:
  ListTensorDesc() = default;
  // `length` in bytes and `shapeSize`, the number of tensors, are only held against what is read.
  explicit ListTensorDesc(__gm__ void *data, uint32_t length = opkit_sim::ascendc::kAnyLength,
                          uint32_t shapeSize = opkit_sim::ascendc::kAnyLength,
                          opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    Init(data, length, shapeSize, where);
  }

  void Init(__gm__ void *data, uint32_t length = opkit_sim::ascendc::kAnyLength, uint32_t shapeSize = opkit_sim::ascendc::kAnyLength,
            opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    namespace sim = opkit_sim::ascendc;
    sim::BlockState &block = sim::Block();
    list_ = static_cast<GM_ADDR>(data);
    const uint64_t offset = sim::ReadListWord(block, "ListTensorDesc", list_, 0, where);
    const uint64_t first = sim::ReadListWord(block, "ListTensorDesc", list_, 1, where);
    rank_ = first & sim::kListFiller;
    addresses_ = offset / sim::kWordBytes;
    const bool has_room = offset % sim::kWordBytes == 0 && addresses_ >= WordsOfOne() + 1;
    if (OPKIT_SIM_UNLIKELY(!has_room)) {
      sim::Fail(block, sim::rule::kListTensor, where, "ListTensorDesc: the addresses begin %llu bytes behind the start, where shapes lie",
                static_cast<unsigned long long>(offset));
    }
    count_ = first >> 32U;
    if (count_ == 0) count_ = (sim::ReadListWord(block, "ListTensorDesc", list_, addresses_ - WordsOfOne(), where) >> 32U) + 1;
    const bool is_laid_out = rank_ == 0 ? addresses_ == 3 && sim::ReadListWord(block, "ListTensorDesc", list_, 2, where) == sim::kListFiller
                                        : count_ * WordsOfOne() == addresses_ - 1;
    if (OPKIT_SIM_UNLIKELY(!is_laid_out)) {
      sim::Fail(block, sim::rule::kListTensor, where, "ListTensorDesc: %llu tensors of rank %llu don't have their addresses at byte %llu",
                static_cast<unsigned long long>(count_), static_cast<unsigned long long>(rank_), static_cast<unsigned long long>(offset));
    }
    const uint64_t bytes = (addresses_ + count_) * sim::kWordBytes;
    if (OPKIT_SIM_UNLIKELY(length != sim::kAnyLength && shapeSize != sim::kAnyLength && (count_ != shapeSize || bytes != length))) {
      sim::Fail(block, sim::rule::kListTensor, where, "ListTensorDesc: %u tensors in %u bytes are asked for, the list has %llu in %llu",
                shapeSize, length, static_cast<unsigned long long>(count_), static_cast<unsigned long long>(bytes));
    }
  }

  template <class T>
  void GetDesc(TensorDesc<T> &desc, uint32_t index, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) const {
    namespace sim = opkit_sim::ascendc;
    sim::BlockState &block = sim::Block();
    desc.data_ = GetDataPtr<T>(index, where);
    if (OPKIT_SIM_UNLIKELY(rank_ == 0 || desc.shape_ == nullptr)) {
      sim::Fail(block, sim::rule::kListTensor, where, "GetDesc: %s",
                rank_ == 0 ? "the list has no shapes" : "SetShapeAddr gave no memory for the shape");
    }
    desc.rank_ = rank_;
    desc.index_ = index;
    const uint64_t first = 1 + index * WordsOfOne() + 1;
    for (uint64_t axis = 0; axis < rank_; ++axis) desc.shape_[axis] = sim::ReadListWord(block, "GetDesc", list_, first + axis, where);
  }

  template <class T>
  __gm__ T *GetDataPtr(uint32_t index, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) const {
    namespace sim = opkit_sim::ascendc;
    sim::BlockState &block = sim::Block();
    if (OPKIT_SIM_UNLIKELY(index >= count_)) {
      sim::Fail(block, sim::rule::kListTensor, where, "GetDataPtr: tensor %u of a list of %llu", index,
                static_cast<unsigned long long>(count_));
    }
    return reinterpret_cast<__gm__ T *>(sim::ReadListWord(block, "GetDataPtr", list_, addresses_ + index, where));
  }

  uint32_t GetSize() const { return static_cast<uint32_t>(count_); }

 private:
  uint64_t WordsOfOne() const { return rank_ == 0 ? 2 : rank_ + 1; }

  GM_ADDR list_ = nullptr;
  uint64_t rank_ = 0;
  uint64_t count_ = 0;
  uint64_t addresses_ = 0;  // in words
};

}  // namespace AscendC

#endif  // OPKIT_SIM_ASCENDC_LIST_TENSOR_H_
