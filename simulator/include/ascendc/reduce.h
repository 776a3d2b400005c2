// Sums, maxima and minima over a tensor. Sums are taken as the device takes them: a tree of neighbours within each 256-byte repeat, then
// the same over the repeats' results; a sequential sum would differ in the last bits.
#ifndef OPKIT_SIM_ASCENDC_REDUCE_H_
#define OPKIT_SIM_ASCENDC_REDUCE_H_

#include "ascendc/vector_loop.h"

namespace opkit_sim::ascendc {

constexpr uint32_t kMaxLanes = 128;
// More repeats than the UB can hold.
constexpr uint32_t kMaxPartials = 1024;

// Every node of the tree is rounded to T. `lanes` is overwritten; width is a power of two.
template <typename T>
inline float SumTree(float *lanes, uint32_t width) {
  for (uint32_t half_width = width / 2; half_width != 0; half_width /= 2) {
    for (uint32_t i = 0; i < half_width; ++i) lanes[i] = static_cast<float>(T(lanes[2 * i] + lanes[2 * i + 1]));
  }
  return lanes[0];
}

// The sum of consecutive elements, at most one repeat of them.
template <typename T>
inline float SumOfRun(const T *from, uint64_t count) {
  constexpr uint32_t kLanes = LanesOf(sizeof(T));
  float lanes[kMaxLanes] = {};
  for (uint64_t i = 0; i < count; ++i) lanes[i] = static_cast<float>(from[i]);
  return SumTree<T>(lanes, kLanes);
}

template <typename T>
inline float SumOfMasked(const MaskBits &mask, const T *base, const Walk &walk, uint32_t repeat) {
  constexpr uint32_t kLanes = LanesOf(sizeof(T));
  float lanes[kMaxLanes] = {};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (mask.Has(lane)) lanes[lane] = static_cast<float>(*Advance(base, walk.Offset<T>(lane, repeat)));
  }
  return SumTree<T>(lanes, kLanes);
}

template <typename T>
inline T SumOfPartials(T *partials, uint64_t count) {
  constexpr uint64_t kLanes = LanesOf(sizeof(T));
  while (count > 1) {
    const uint64_t groups = (count + kLanes - 1) / kLanes;
    for (uint64_t i = 0; i < groups; ++i) {
      const uint64_t some = count - i * kLanes < kLanes ? count - i * kLanes : kLanes;
      partials[i] = T(SumOfRun(partials + i * kLanes, some));
    }
    count = groups;
  }
  return partials[0];
}

// The work tensor holds the repeats' results; a short one is fatal on a device only if something else lies behind it.
template <typename T>
inline void UseWorkTensor(BlockState &block, const char *api, const ::AscendC::LocalTensor<T> &work, const T *partials, uint64_t count,
                          Where where) {
  const uint64_t bytes = count * sizeof(T);
  if (OPKIT_SIM_UNLIKELY(work.Span().bytes < bytes)) {
    Warn(block, rule::kReduceTemp, where, "%s: the work tensor has %llu bytes, but the results of all repeats take %llu", api,
         static_cast<unsigned long long>(work.Span().bytes), static_cast<unsigned long long>(bytes));
    return;
  }
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "the work tensor", work.Span(), bytes, where);
  std::memcpy(work.Span().address, partials, bytes);
}

struct Extreme {
  float value;
  uint32_t index;
};

// The first of equals wins; a NaN never does, unless it is the first element.
template <bool is_max, typename T>
inline void FindExtreme(Extreme &best, bool &has_best, T element, uint32_t index) {
  const auto value = static_cast<float>(element);
  if (!has_best || (is_max ? value > best.value : value < best.value)) best = {value, index};
  has_best = true;
}

template <typename T>
inline void StoreExtreme(const ::AscendC::LocalTensor<T> &dst, const Extreme &best, bool with_index) {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  StoreScalar<T>(dst.Span().address, T(best.value));
  if (with_index) StoreScalar<Bits>(dst.Span().address + sizeof(T), static_cast<Bits>(best.index));
}

inline uint32_t CheckLongRepeat(BlockState &block, const char *api, int64_t times, Where where) {
  if (OPKIT_SIM_UNLIKELY(times < 0 || times > 0x7fffffffll)) {
    Fail(block, rule::kRepeat, where, "%s: repeat times %lld", api, static_cast<long long>(times));
  }
  return static_cast<uint32_t>(times);
}

// These take more repeats than UseRepeats lets through; in counter mode the number is the register's, whatever is passed.
inline void SetLongRepeat(BlockState &block, const char *api, Repeats &repeats, int64_t times, Where where) {
  const uint32_t checked = CheckLongRepeat(block, api, times, where);
  if (!block.is_counter_mode) repeats.times = checked;
}

template <bool is_max, typename T>
inline void ExtremeCount(const char *api, const ::AscendC::LocalTensor<T> &dst, const ::AscendC::LocalTensor<T> &src,
                         const ::AscendC::LocalTensor<T> &work, int64_t count, bool with_index, Where where) {
  BlockState &block = Block();
  const uint64_t elements = UseCount(block, api, count, where);
  if (elements == 0) return;
  constexpr uint64_t kLanes = LanesOf(sizeof(T));
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src", src.Span(), elements * sizeof(T), where);
  Extreme best{0, 0};
  bool has_best = false;
  T partials[2 * kMaxPartials];
  const uint64_t repeats = (elements + kLanes - 1) / kLanes;
  for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
    Extreme here{0, 0};
    bool has_here = false;
    for (uint64_t i = repeat * kLanes; i < elements && i < (repeat + 1) * kLanes; ++i) {
      FindExtreme<is_max>(here, has_here, src.Data()[i], static_cast<uint32_t>(i));
    }
    FindExtreme<is_max>(best, has_best, here.value, here.index);
    partials[2 * repeat] = T(here.value);
    partials[2 * repeat + 1] = T(static_cast<float>(here.index % kLanes));
  }
  UseWorkTensor(block, api, work, partials, 2 * repeats, where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), (with_index ? 2 : 1) * sizeof(T), where);
  StoreExtreme(dst, best, with_index);
}

template <bool is_max, typename T>
inline void ExtremeRepeat(const char *api, const ::AscendC::LocalTensor<T> &dst, const ::AscendC::LocalTensor<T> &src, Repeats repeats,
                          int64_t times, int64_t repeat_stride, bool with_index, Where where) {
  BlockState &block = Block();
  SetLongRepeat(block, api, repeats, times, where);
  const Walk walk{1, CheckStride(block, api, "srcRepStride", repeat_stride, 65535, where)};
  if (repeats.IsNothing()) return;
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src", src.Span(), walk.Footprint<T>(repeats), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), (with_index ? 2 : 1) * sizeof(T), where);
  Extreme best{0, 0};
  bool has_best = false;
  for (uint32_t repeat = 0; repeat < repeats.times; ++repeat) {
    const MaskBits mask = repeats.MaskOf(repeat);
    for (uint32_t lane = 0; lane < repeats.lanes; ++lane) {
      if (!mask.Has(lane)) continue;
      const uint64_t offset = walk.Offset<T>(lane, repeat);
      FindExtreme<is_max>(best, has_best, *Advance(src.Data(), offset), static_cast<uint32_t>(offset / sizeof(T)));
    }
  }
  StoreExtreme(dst, best, with_index);
}

template <typename T>
inline void SumRepeat(const ::AscendC::LocalTensor<T> &dst, const ::AscendC::LocalTensor<T> &src, const ::AscendC::LocalTensor<T> &work,
                      Repeats repeats, int64_t times, int64_t repeat_stride, Where where) {
  static_assert(kIsHalfFloat<T>, "ReduceSum takes half and float");
  BlockState &block = Block();
  SetLongRepeat(block, "ReduceSum", repeats, times, where);
  const Walk walk{1, CheckStride(block, "ReduceSum", "srcRepStride", repeat_stride, 65535, where)};
  if (repeats.IsNothing()) return;
  if (OPKIT_SIM_UNLIKELY(repeats.times > kMaxPartials))
    Fail(block, rule::kRepeat, where, "ReduceSum: %u repeats are more than the UB holds", repeats.times);
  CheckLocal<Access::kRead, Pipe::kVector>(block, "ReduceSum", "src", src.Span(), walk.Footprint<T>(repeats), where);
  T partials[kMaxPartials];
  for (uint32_t repeat = 0; repeat < repeats.times; ++repeat) {
    partials[repeat] = T(SumOfMasked(repeats.MaskOf(repeat), static_cast<const T *>(src.Data()), walk, repeat));
  }
  UseWorkTensor(block, "ReduceSum", work, partials, repeats.times, where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, "ReduceSum", "dst", dst.Span(), sizeof(T), where);
  StoreScalar<T>(dst.Span().address, SumOfPartials(partials, repeats.times));
}

}  // namespace opkit_sim::ascendc

namespace AscendC {

template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, int64_t count,
                      opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  static_assert(sim::kIsHalfFloat<T>, "ReduceSum takes half and float");
  constexpr uint64_t kLanes = sim::LanesOf(sizeof(T));
  sim::BlockState &block = sim::Block();
  const uint64_t elements = sim::UseCount(block, "ReduceSum", count, where);
  if (elements == 0) return;
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kVector>(block, "ReduceSum", "src", src.Span(), elements * sizeof(T), where);
  T partials[sim::kMaxPartials];
  const uint64_t repeats = (elements + kLanes - 1) / kLanes;
  for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
    const uint64_t rest = elements - repeat * kLanes;
    partials[repeat] = T(sim::SumOfRun(static_cast<const T *>(src.Data()) + repeat * kLanes, rest < kLanes ? rest : kLanes));
  }
  sim::UseWorkTensor(block, "ReduceSum", work, partials, repeats, where);
  sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kVector>(block, "ReduceSum", "dst", dst.Span(), sizeof(T), where);
  sim::StoreScalar<T>(dst.Span().address, sim::SumOfPartials(partials, repeats));
}
template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, uint64_t mask, int64_t repeatTime,
                      int64_t srcRepStride, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  const opkit_sim::ascendc::Repeats one = opkit_sim::ascendc::UseRepeats<isSetMask>("ReduceSum", 256 / sizeof(T), mask, 1, where);
  opkit_sim::ascendc::SumRepeat(dst, src, work, one, repeatTime, srcRepStride, where);
}
template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, const uint64_t mask[],
                      int64_t repeatTime, int64_t srcRepStride, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  const opkit_sim::ascendc::Repeats one = opkit_sim::ascendc::UseRepeats<isSetMask>("ReduceSum", 256 / sizeof(T), mask, 1, where);
  opkit_sim::ascendc::SumRepeat(dst, src, work, one, repeatTime, srcRepStride, where);
}

#define OPKIT_SIM_EXTREME(NAME, IS_MAX)                                                                                                    \
  template <typename T>                                                                                                                    \
  inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, int64_t count, bool calIndex = false, \
                   opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                                                  \
    static_assert(opkit_sim::ascendc::kIsHalfFloat<T>, #NAME " takes half and float");                                                     \
    opkit_sim::ascendc::ExtremeCount<IS_MAX>(#NAME, dst, src, work, count, calIndex, where);                                               \
  }                                                                                                                                        \
  template <typename T>                                                                                                                    \
  inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, uint64_t mask, int64_t repeatTime,        \
                   int64_t srcRepStride, bool calIndex = false, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {     \
    static_assert(opkit_sim::ascendc::kIsHalfFloat<T>, #NAME " takes half and float");                                                     \
    opkit_sim::ascendc::ExtremeRepeat<IS_MAX>(#NAME, dst, src,                                                                             \
                                              opkit_sim::ascendc::UseRepeats<true>(#NAME, 256 / sizeof(T), mask, 1, where), repeatTime,    \
                                              srcRepStride, calIndex, where);                                                              \
  }                                                                                                                                        \
  template <typename T>                                                                                                                    \
  inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, const uint64_t mask[],                    \
                   int64_t repeatTime, int64_t srcRepStride, bool calIndex = false,                                                        \
                   opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                                                  \
    static_assert(opkit_sim::ascendc::kIsHalfFloat<T>, #NAME " takes half and float");                                                     \
    opkit_sim::ascendc::ExtremeRepeat<IS_MAX>(#NAME, dst, src,                                                                             \
                                              opkit_sim::ascendc::UseRepeats<true>(#NAME, 256 / sizeof(T), mask, 1, where), repeatTime,    \
                                              srcRepStride, calIndex, where);                                                              \
  }
OPKIT_SIM_EXTREME(ReduceMax, true)
OPKIT_SIM_EXTREME(ReduceMin, false)
#undef OPKIT_SIM_EXTREME

}  // namespace AscendC

namespace opkit_sim::ascendc {

// The raw instruction under the sums: one value per repeat of the masked lanes, to dst or onto the accumulator register.
template <typename T>
inline void RawSum(T *dst, T *src, int64_t times, int64_t dst_stride, int64_t block_stride, int64_t repeat_stride, bool accumulates,
                   Where where) {
  BlockState &block = Block();
  const Repeats repeats = FromRegister(block, "vcadd", LanesOf(sizeof(T)), CheckRepeatTimes(block, "vcadd", times, where), where);
  const Walk walk{CheckStride(block, "vcadd", "srcBlockStride", block_stride, 65535, where),
                  CheckStride(block, "vcadd", "srcRepeatStride", repeat_stride, 65535, where)};
  const uint64_t step = CheckStride(block, "vcadd", "dstRepeatStride", dst_stride, 65535, where) * sizeof(T);
  if (repeats.IsNothing()) return;
  LocalSpan from;
  from.address = reinterpret_cast<uint8_t *>(src);
  CheckLocal<Access::kRead, Pipe::kVector>(block, "vcadd", "src", from, walk.Footprint<T>(repeats), where);
  LocalSpan to;
  to.address = reinterpret_cast<uint8_t *>(dst);
  if (!accumulates)
    CheckLocal<Access::kWrite, Pipe::kVector, sizeof(T)>(block, "vcadd", "dst", to, (repeats.times - 1) * step + sizeof(T), where);
  float total = 0;
  for (uint32_t repeat = 0; repeat < repeats.times; ++repeat) {
    const float sum = SumOfMasked(repeats.MaskOf(repeat), static_cast<const T *>(src), walk, repeat);
    if (accumulates)
      total = static_cast<float>(T(total + sum));
    else
      StoreScalar<T>(to.address + repeat * step, T(sum));
  }
  if (accumulates) {
    block.accumulator = 0;
    StoreScalar<T>(&block.accumulator, T(total));
  }
}

}  // namespace opkit_sim::ascendc

#define OPKIT_SIM_RAW_SUM(T)                                                                                            \
  inline void vcadd(__ubuf__ T *dst, __ubuf__ T *src, int64_t repeat, int64_t dstRepeatStride, int64_t srcBlockStride,  \
                    int64_t srcRepeatStride, bool accumulates = false,                                                  \
                    opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                              \
    opkit_sim::ascendc::RawSum(dst, src, repeat, dstRepeatStride, srcBlockStride, srcRepeatStride, accumulates, where); \
  }
OPKIT_SIM_RAW_SUM(float)
OPKIT_SIM_RAW_SUM(half)
#undef OPKIT_SIM_RAW_SUM

// The bits of the last accumulated sum, in the low bytes.
inline int64_t get_acc_val() { return static_cast<int64_t>(opkit_sim::ascendc::Block().accumulator); }

#endif  // OPKIT_SIM_ASCENDC_REDUCE_H_
