// Compare and Select: one bit per element, in the order of the elements, eight to a byte from the low end.
#ifndef OPKIT_SIM_ASCENDC_COMPARE_H_
#define OPKIT_SIM_ASCENDC_COMPARE_H_

#include "ascendc/vector_loop.h"

namespace opkit_sim::ascendc {

template <::AscendC::CMPMODE mode, typename C>
OPKIT_SIM_HOT bool Holds(C a, C b) {
  using Mode = ::AscendC::CMPMODE;
  if constexpr (mode == Mode::LT) return a < b;
  if constexpr (mode == Mode::GT) return a > b;
  if constexpr (mode == Mode::EQ) return a == b;
  if constexpr (mode == Mode::LE) return a <= b;
  if constexpr (mode == Mode::GE) return a >= b;
  return a != b;
}

template <typename T>
OPKIT_SIM_HOT ComputeType<T> LaneOf(T value) {
  return static_cast<ComputeType<T>>(value);
}
// A scalar operand is the same in every lane.
template <typename T>
struct Constant {
  T value;
  T operator[](uint64_t) const { return value; }
};

template <::AscendC::CMPMODE mode, typename T, typename Second>
inline void CompareRun(uint8_t *bits, const T *first, const Second &second, uint64_t count) {
  for (uint64_t i = 0; i < count; i += 8) {
    const uint64_t some = count - i < 8 ? count - i : 8;
    unsigned byte = 0;
    for (uint64_t k = 0; k < some; ++k) byte |= static_cast<unsigned>(Holds<mode>(LaneOf(first[i + k]), LaneOf(second[i + k]))) << k;
    bits[i / 8] = static_cast<uint8_t>(byte);
  }
}

template <typename T, typename Second>
inline void CompareRun(::AscendC::CMPMODE mode, uint8_t *bits, const T *first, const Second &second, uint64_t count) {
  using Mode = ::AscendC::CMPMODE;
  switch (mode) {
    case Mode::LT:
      CompareRun<Mode::LT>(bits, first, second, count);
      break;
    case Mode::GT:
      CompareRun<Mode::GT>(bits, first, second, count);
      break;
    case Mode::EQ:
      CompareRun<Mode::EQ>(bits, first, second, count);
      break;
    case Mode::LE:
      CompareRun<Mode::LE>(bits, first, second, count);
      break;
    case Mode::GE:
      CompareRun<Mode::GE>(bits, first, second, count);
      break;
    case Mode::NE:
      CompareRun<Mode::NE>(bits, first, second, count);
      break;
  }
}

template <typename T, typename U>
inline void CheckCompare(BlockState &block, const char *api, ::AscendC::CMPMODE mode, Where where) {
  static_assert(kIsOneOf<T, half, float, int32_t>, "Compare and CompareScalar take half and float, and int32_t for EQ");
  static_assert(kIsOneOf<U, int8_t, uint8_t>, "the result of Compare and CompareScalar is int8_t or uint8_t");
  if constexpr (std::is_same_v<T, int32_t>) {
    if (OPKIT_SIM_UNLIKELY(mode != ::AscendC::CMPMODE::EQ))
      Fail(block, rule::kCastMode, where, "%s: int32_t has only EQ; cast to float for the others", api);
  }
}

template <typename T>
inline uint64_t UseCompareCount(BlockState &block, const char *api, int64_t count, Where where) {
  const uint64_t elements = UseCount(block, api, count, where);
  // The rest is computed all the same: kernels whose buffers are longer than their data rely on it.
  if (OPKIT_SIM_UNLIKELY(elements * sizeof(T) % 256 != 0)) {
    Warn(block, rule::kCompareTail, where,
         "%s: %llu elements are %llu bytes, no multiple of 256: a device leaves the last %llu elements undone", api,
         static_cast<unsigned long long>(elements), static_cast<unsigned long long>(elements * sizeof(T)),
         static_cast<unsigned long long>(elements % (256 / sizeof(T))));
  }
  return elements;
}

// In the repeat form the bits of all repeats follow each other, whatever dst's strides say, and the mask has no effect.
template <typename T, typename Second>
inline void CompareRepeat(::AscendC::CMPMODE mode, uint8_t *bits, const Repeats &repeats, const T *first, const Walk &first_walk,
                          Second second_at) {
  constexpr uint32_t kPerBlock = 32 / sizeof(T);
  for (uint32_t repeat = 0; repeat < repeats.times; ++repeat) {
    for (uint32_t lane = 0; lane < repeats.lanes; lane += kPerBlock) {
      T left[kPerBlock];
      T right[kPerBlock];
      const T *from = Advance(first, first_walk.Offset<T>(lane, repeat));
      for (uint32_t i = 0; i < kPerBlock; ++i) {
        left[i] = from[i];
        right[i] = second_at(lane + i, repeat);
      }
      CompareRun(mode, bits + (repeat * repeats.lanes + lane) / 8, left, right, kPerBlock);
    }
  }
}

template <typename T>
inline Repeats WholeRepeats(BlockState &block, const char *api, int64_t times, Where where) {
  return {FirstElements(LanesOf(sizeof(T))), LanesOf(sizeof(T)), CheckRepeatTimes(block, api, times, where)};
}

// ---- Select

template <typename T, typename First, typename Second>
inline void SelectRun(T *dst, const uint8_t *bits, uint64_t first_bit, const First &first, const Second &second, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t bit = first_bit + i;
    dst[i] = (bits[bit / 8] >> (bit % 8) & 1) != 0 ? first[i] : second[i];
  }
}

constexpr uint32_t kSelectReserve = 8192;

template <typename T, typename U>
inline void CheckSelect(BlockState &block, ::AscendC::SELMODE mode, bool has_scalar, Where where) {
  static_assert(kIsHalfFloat<T>, "Select takes half and float");
  static_assert(kIsOneOf<U, uint8_t, uint16_t, uint32_t, uint64_t>, "the mask of Select is uint8_t, uint16_t, uint32_t or uint64_t");
  if (OPKIT_SIM_UNLIKELY(has_scalar != (mode == ::AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE))) {
    Fail(block, rule::kCastMode, where, "Select: a %s second source needs %s", has_scalar ? "scalar" : "tensor",
         has_scalar ? "VSEL_TENSOR_SCALAR_MODE" : "VSEL_CMPMASK_SPR or VSEL_TENSOR_TENSOR_MODE");
  }
  const uint32_t reserved = mode == ::AscendC::SELMODE::VSEL_CMPMASK_SPR ? 0 : kSelectReserve;
  if (OPKIT_SIM_UNLIKELY(block.ub_used > block.launch->ub_bytes - reserved)) {
    Warn(block, rule::kUbSize, where, "Select: this mode uses the last %u bytes of the UB, and the buffers take %u of %u", reserved,
         block.ub_used, block.launch->ub_bytes);
  }
}

template <typename T>
inline uint64_t SelectBits(::AscendC::SELMODE mode, uint64_t elements) {
  const uint64_t lanes = LanesOf(sizeof(T));
  return mode == ::AscendC::SELMODE::VSEL_CMPMASK_SPR && elements > lanes ? lanes : elements;
}

template <typename T, typename U, typename Second>
inline void SelectCount(BlockState &block, const ::AscendC::LocalTensor<T> &dst, const ::AscendC::LocalTensor<U> &mask,
                        const ::AscendC::LocalTensor<T> &src0, const Second &second, ::AscendC::SELMODE mode, uint64_t elements,
                        Where where) {
  CheckLocal<Access::kRead, Pipe::kVector>(block, "Select", "selMask", mask.Span(), (SelectBits<T>(mode, elements) + 7) / 8, where);
  CheckLocal<Access::kRead, Pipe::kVector>(block, "Select", "src0", src0.Span(), elements * sizeof(T), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, "Select", "dst", dst.Span(), elements * sizeof(T), where);
  const bool reuses = mode == ::AscendC::SELMODE::VSEL_CMPMASK_SPR;
  const uint64_t step = reuses ? LanesOf(sizeof(T)) : elements;
  for (uint64_t done = 0; done < elements; done += step) {
    const uint64_t some = elements - done < step ? elements - done : step;
    if constexpr (std::is_pointer_v<Second>) {
      SelectRun(dst.Data() + done, mask.Span().address, 0, src0.Data() + done, second + done, some);
    } else {
      SelectRun(dst.Data() + done, mask.Span().address, 0, src0.Data() + done, second, some);
    }
  }
}

template <typename T, typename U>
inline void SelectRepeat(const ::AscendC::LocalTensor<T> &dst, const ::AscendC::LocalTensor<U> &sel, const ::AscendC::LocalTensor<T> &src0,
                         const ::AscendC::LocalTensor<T> *src1, T scalar, ::AscendC::SELMODE mode, const Repeats &repeats,
                         const ::AscendC::BinaryRepeatParams &params, Where where) {
  BlockState &block = Block();
  CheckSelect<T, U>(block, mode, src1 == nullptr, where);
  const BinaryWalks walks = WalksOf(block, "Select", params, where);
  if (repeats.IsNothing()) return;
  const bool reuses = mode == ::AscendC::SELMODE::VSEL_CMPMASK_SPR;
  const uint64_t bits =
      (reuses ? 0 : (repeats.times - 1) * static_cast<uint64_t>(repeats.lanes)) + repeats.MaskOf(repeats.times - 1).Extent();
  CheckLocal<Access::kRead, Pipe::kVector>(block, "Select", "selMask", sel.Span(), (bits + 7) / 8, where);
  CheckLocal<Access::kRead, Pipe::kVector>(block, "Select", "src0", src0.Span(), walks.src0.Footprint<T>(repeats), where);
  if (src1 != nullptr)
    CheckLocal<Access::kRead, Pipe::kVector>(block, "Select", "src1", src1->Span(), walks.src1.Footprint<T>(repeats), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, "Select", "dst", dst.Span(), walks.dst.Footprint<T>(repeats), where);
  ForEachRunOf(repeats, RunLimit(false, repeats.lanes), [&](uint32_t lane, uint32_t repeat, uint32_t length) {
    const uint64_t first_bit = (reuses ? 0 : static_cast<uint64_t>(repeat) * repeats.lanes) + lane;
    T *to = Advance(dst.Data(), walks.dst.Offset<T>(lane, repeat));
    const T *first = Advance(src0.Data(), walks.src0.Offset<T>(lane, repeat));
    if (src1 != nullptr) {
      SelectRun(to, sel.Span().address, first_bit, first, Advance(src1->Data(), walks.src1.Offset<T>(lane, repeat)), length);
    } else {
      SelectRun(to, sel.Span().address, first_bit, first, Constant<T>{scalar}, length);
    }
  });
}

template <typename T, typename U>
inline void CompareScalarCount(const char *api, const ::AscendC::LocalTensor<U> &dst, const ::AscendC::LocalTensor<T> &src0, T scalar,
                               ::AscendC::CMPMODE mode, int64_t count, Where where) {
  BlockState &block = Block();
  CheckCompare<T, U>(block, api, mode, where);
  const uint64_t elements = UseCompareCount<T>(block, api, count, where);
  if (elements == 0) return;
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src0", src0.Span(), elements * sizeof(T), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), (elements + 7) / 8, where);
  CompareRun(mode, dst.Span().address, static_cast<const T *>(src0.Data()), Constant<T>{scalar}, elements);
}

template <typename T, typename U>
inline void CompareScalarRepeat(const char *api, const ::AscendC::LocalTensor<U> &dst, const ::AscendC::LocalTensor<T> &src0, T scalar,
                                ::AscendC::CMPMODE mode, int64_t times, const ::AscendC::UnaryRepeatParams &params, Where where) {
  BlockState &block = Block();
  CheckCompare<T, U>(block, api, mode, where);
  const Repeats repeats = WholeRepeats<T>(block, api, times, where);
  const Walk walk = WalksOf(block, api, params, where).src;
  if (repeats.IsNothing()) return;
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src0", src0.Span(), walk.Footprint<T>(repeats), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), static_cast<uint64_t>(repeats.times) * repeats.lanes / 8, where);
  CompareRepeat(mode, dst.Span().address, repeats, static_cast<const T *>(src0.Data()), walk, [&](uint32_t, uint32_t) { return scalar; });
}

}  // namespace opkit_sim::ascendc

namespace AscendC {

template <typename T, typename U>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode, int64_t count,
                    opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  sim::CheckCompare<T, U>(block, "Compare", mode, where);
  const uint64_t elements = sim::UseCompareCount<T>(block, "Compare", count, where);
  if (elements == 0) return;
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kVector>(block, "Compare", "src0", src0.Span(), elements * sizeof(T), where);
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kVector>(block, "Compare", "src1", src1.Span(), elements * sizeof(T), where);
  sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kVector>(block, "Compare", "dst", dst.Span(), (elements + 7) / 8, where);
  sim::CompareRun(mode, dst.Span().address, static_cast<const T *>(src0.Data()), static_cast<const T *>(src1.Data()), elements);
}

template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode, uint64_t,
                    int64_t repeatTime, const BinaryRepeatParams &params,
                    opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  sim::CheckCompare<T, U>(block, "Compare", mode, where);
  const sim::Repeats repeats = sim::WholeRepeats<T>(block, "Compare", repeatTime, where);
  const sim::BinaryWalks walks = sim::WalksOf(block, "Compare", params, where);
  if (repeats.IsNothing()) return;
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kVector>(block, "Compare", "src0", src0.Span(), walks.src0.Footprint<T>(repeats), where);
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kVector>(block, "Compare", "src1", src1.Span(), walks.src1.Footprint<T>(repeats), where);
  sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kVector>(block, "Compare", "dst", dst.Span(),
                                                           static_cast<uint64_t>(repeats.times) * repeats.lanes / 8, where);
  sim::CompareRepeat(mode, dst.Span().address, repeats, static_cast<const T *>(src0.Data()), walks.src0,
                     [&](uint32_t lane, uint32_t repeat) { return *sim::Advance(src1.Data(), walks.src1.Offset<T>(lane, repeat)); });
}
template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode, const uint64_t[],
                    int64_t repeatTime, const BinaryRepeatParams &params,
                    opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  Compare<T, U, isSetMask>(dst, src0, src1, mode, MASK_PLACEHOLDER, repeatTime, params, where);
}

#define OPKIT_SIM_COMPARE_SCALAR(NAME)                                                                                                    \
  template <typename T, typename U>                                                                                                       \
  inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE mode, int64_t count,                \
                   opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                                                 \
    opkit_sim::ascendc::CompareScalarCount(#NAME, dst, src0, src1Scalar, mode, count, where);                                             \
  }                                                                                                                                       \
  template <typename T, typename U, bool isSetMask = true>                                                                                \
  inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE mode, uint64_t, int64_t repeatTime, \
                   const UnaryRepeatParams &params, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                \
    opkit_sim::ascendc::CompareScalarRepeat(#NAME, dst, src0, src1Scalar, mode, repeatTime, params, where);                               \
  }                                                                                                                                       \
  template <typename T, typename U, bool isSetMask = true>                                                                                \
  inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE mode, const uint64_t[],             \
                   int64_t repeatTime, const UnaryRepeatParams &params,                                                                   \
                   opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                                                 \
    opkit_sim::ascendc::CompareScalarRepeat(#NAME, dst, src0, src1Scalar, mode, repeatTime, params, where);                               \
  }
OPKIT_SIM_COMPARE_SCALAR(CompareScalar)
OPKIT_SIM_COMPARE_SCALAR(Compares)
#undef OPKIT_SIM_COMPARE_SCALAR

template <typename T, typename U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                   SELMODE mode, int64_t count, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  sim::CheckSelect<T, U>(block, mode, false, where);
  const uint64_t elements = sim::UseCount(block, "Select", count, where);
  if (elements == 0) return;
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kVector>(block, "Select", "src1", src1.Span(), elements * sizeof(T), where);
  sim::SelectCount(block, dst, selMask, src0, static_cast<const T *>(src1.Data()), mode, elements, where);
}
template <typename T, typename U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1, SELMODE mode,
                   int64_t count, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  sim::CheckSelect<T, U>(block, mode, true, where);
  const uint64_t elements = sim::UseCount(block, "Select", count, where);
  if (elements == 0) return;
  sim::SelectCount(block, dst, selMask, src0, sim::Constant<T>{src1}, mode, elements, where);
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                   SELMODE mode, uint64_t mask, int64_t repeatTime, const BinaryRepeatParams &params,
                   opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::SelectRepeat(dst, selMask, src0, &src1, T{}, mode, sim::UseRepeats<isSetMask>("Select", 256 / sizeof(T), mask, repeatTime, where),
                    params, where);
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                   SELMODE mode, const uint64_t mask[], int64_t repeatTime, const BinaryRepeatParams &params,
                   opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::SelectRepeat(dst, selMask, src0, &src1, T{}, mode, sim::UseRepeats<isSetMask>("Select", 256 / sizeof(T), mask, repeatTime, where),
                    params, where);
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1, SELMODE mode,
                   uint64_t mask, int64_t repeatTime, const BinaryRepeatParams &params,
                   opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  const sim::Repeats repeats = sim::UseRepeats<isSetMask>("Select", 256 / sizeof(T), mask, repeatTime, where);
  sim::SelectRepeat<T, U>(dst, selMask, src0, nullptr, src1, mode, repeats, params, where);
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1, SELMODE mode,
                   const uint64_t mask[], int64_t repeatTime, const BinaryRepeatParams &params,
                   opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  const sim::Repeats repeats = sim::UseRepeats<isSetMask>("Select", 256 / sizeof(T), mask, repeatTime, where);
  sim::SelectRepeat<T, U>(dst, selMask, src0, nullptr, src1, mode, repeats, params, where);
}

}  // namespace AscendC

#endif  // OPKIT_SIM_ASCENDC_COMPARE_H_
