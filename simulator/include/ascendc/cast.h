// Cast: the conversions that the vector unit of A2 and A3 has, with their legal rounding modes; integers saturate, NaN becomes 0.
#ifndef OPKIT_SIM_ASCENDC_CAST_H_
#define OPKIT_SIM_ASCENDC_CAST_H_

#include "ascendc/vector_loop.h"

namespace opkit_sim::ascendc {

constexpr uint32_t ModeBit(::AscendC::RoundMode mode) { return 1u << static_cast<uint32_t>(mode); }

constexpr uint32_t kNoneOnly = ModeBit(::AscendC::RoundMode::CAST_NONE);
constexpr uint32_t kRounding = ModeBit(::AscendC::RoundMode::CAST_RINT) | ModeBit(::AscendC::RoundMode::CAST_FLOOR) |
                               ModeBit(::AscendC::RoundMode::CAST_CEIL) | ModeBit(::AscendC::RoundMode::CAST_ROUND) |
                               ModeBit(::AscendC::RoundMode::CAST_TRUNC);
constexpr uint32_t kAllModes = kRounding | kNoneOnly | ModeBit(::AscendC::RoundMode::CAST_ODD);

// The legal modes of a pair; 0 if the unit lacks it.
template <typename D, typename S>
constexpr uint32_t CastModes() {
  if constexpr (std::is_same_v<S, half>) {
    if (std::is_same_v<D, float>) return kNoneOnly;
    if (kIsOneOf<D, int8_t, uint8_t>) return kRounding | kNoneOnly;
    if (kIsOneOf<D, int16_t, int32_t>) return kRounding;
  } else if constexpr (std::is_same_v<S, bfloat16_t>) {
    if (std::is_same_v<D, float>) return kNoneOnly;
    if (std::is_same_v<D, int32_t>) return kRounding;
  } else if constexpr (std::is_same_v<S, float>) {
    if (std::is_same_v<D, half>) return kAllModes;
    if (kIsOneOf<D, int16_t, int32_t, int64_t, bfloat16_t, float>) return kRounding;
  } else if constexpr (kIsOneOf<S, int8_t, uint8_t>) {
    if (std::is_same_v<D, half>) return kNoneOnly;
  } else if constexpr (std::is_same_v<S, int16_t>) {
    if (std::is_same_v<D, float>) return kNoneOnly;
    if (std::is_same_v<D, half>) return kRounding | kNoneOnly;
  } else if constexpr (std::is_same_v<S, int32_t>) {
    if (std::is_same_v<D, float>) return kRounding | kNoneOnly;
    if (kIsOneOf<D, int16_t, int64_t>) return kNoneOnly;
    if (std::is_same_v<D, half>) return kAllModes;
  } else if constexpr (std::is_same_v<S, int64_t>) {
    if (std::is_same_v<D, float>) return kRounding;
    if (std::is_same_v<D, int32_t>) return kNoneOnly;
  }
  return 0;
}

template <::AscendC::RoundMode mode>
OPKIT_SIM_HOT float RoundFloat(float value) {
  if constexpr (mode == ::AscendC::RoundMode::CAST_FLOOR) return __builtin_floorf(value);
  if constexpr (mode == ::AscendC::RoundMode::CAST_CEIL) return __builtin_ceilf(value);
  if constexpr (mode == ::AscendC::RoundMode::CAST_TRUNC) return __builtin_truncf(value);
  if constexpr (mode == ::AscendC::RoundMode::CAST_ROUND) return __builtin_roundf(value);
  return __builtin_rintf(value);
}

// `value` is a whole number. The limits are exact as floats, or the next one up.
template <typename D>
OPKIT_SIM_HOT D SaturateFloat(float value) {
  constexpr float kLowest = static_cast<float>(std::is_signed_v<D> ? -(int64_t{1} << (sizeof(D) * 8 - 2)) * 2.0f : 0.0f);
  constexpr float kOver = static_cast<float>(uint64_t{1} << (sizeof(D) * 8 - (std::is_signed_v<D> ? 2 : 1))) *
                          (std::is_signed_v<D> ? 2.0f : 1.0f) * (std::is_signed_v<D> ? 1.0f : 2.0f);
  constexpr D kMost = static_cast<D>(~D{0} ^ (std::is_signed_v<D> ? static_cast<D>(uint64_t{1} << (sizeof(D) * 8 - 1)) : D{0}));
  if (value >= kOver) return kMost;
  if (value < kLowest) return static_cast<D>(~kMost);
  return value == value ? static_cast<D>(value) : D{0};
}

template <typename D, typename S>
OPKIT_SIM_HOT D SaturateInteger(S value) {
  constexpr auto kMost = static_cast<S>((uint64_t{1} << (sizeof(D) * 8 - 1)) - 1);
  constexpr auto kLeast = static_cast<S>(-kMost - 1);
  return static_cast<D>(value > kMost ? kMost : value < kLeast ? kLeast : value);
}

template <::AscendC::RoundMode mode>
OPKIT_SIM_HOT float FloatFromInteger(int64_t value) {
  const bool is_negative = value < 0;
  const uint64_t magnitude = is_negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (magnitude < (uint64_t{1} << 24)) return static_cast<float>(value);
  const int shift = 40 - __builtin_clzll(magnitude);
  uint64_t kept = magnitude >> shift;
  const uint64_t rest = magnitude & ((uint64_t{1} << shift) - 1);
  if (shift != 0 && RoundsUp(mode, is_negative, kept, rest, uint64_t{1} << (shift - 1))) ++kept;
  const float scaled = static_cast<float>(kept) * static_cast<float>(uint64_t{1} << shift);
  return is_negative ? -scaled : scaled;
}

template <typename D, typename S, ::AscendC::RoundMode mode>
OPKIT_SIM_HOT D Convert(S value) {
  if constexpr (std::is_same_v<D, half>) {
    return half::FromBits(HalfBits(static_cast<float>(value), mode));
  } else if constexpr (std::is_same_v<D, bfloat16_t>) {
    return bfloat16_t::FromBits(BfloatBits(value, mode));
  } else if constexpr (std::is_same_v<D, float>) {
    if constexpr (std::is_integral_v<S>) return FloatFromInteger<mode>(value);
    if constexpr (std::is_same_v<S, float>) return RoundFloat<mode>(value);
    return static_cast<float>(value);
  } else if constexpr (std::is_integral_v<S>) {
    if constexpr (sizeof(D) >= sizeof(S))
      return value;
    else
      return SaturateInteger<D>(value);
  } else {
    return SaturateFloat<D>(RoundFloat<mode>(static_cast<float>(value)));
  }
}

template <typename D, typename S, ::AscendC::RoundMode mode>
inline void ConvertRun(D *dst, const S *src, uint64_t count) {
  constexpr bool is_nearest = mode == ::AscendC::RoundMode::CAST_NONE || mode == ::AscendC::RoundMode::CAST_RINT;
  if constexpr (std::is_same_v<D, float> && kIsOneOf<S, half, bfloat16_t>) {
    WidenMany(dst, src, static_cast<uint32_t>(count));
  } else if constexpr (std::is_same_v<S, float> && std::is_same_v<D, half> && is_nearest) {
    NarrowMany(dst, src, static_cast<uint32_t>(count));
  } else {
    OPKIT_SIM_INDEPENDENT
    for (uint64_t i = 0; i < count; ++i) dst[i] = Convert<D, S, mode>(src[i]);
  }
}

template <typename D, typename S>
inline void ConvertRun(const BlockState &block, ::AscendC::RoundMode mode, D *dst, const S *src, uint64_t count) {
  using Mode = ::AscendC::RoundMode;
  constexpr uint32_t kLegal = CastModes<D, S>();
  if constexpr (std::is_same_v<S, int32_t> && std::is_same_v<D, half>) {
    // Dequantisation: the mode has no effect.
    for (uint64_t i = 0; i < count; ++i) dst[i] = half(static_cast<float>(src[i]) * block.deq_scale);
  } else {
    switch (mode) {
      case Mode::CAST_FLOOR:
        if constexpr ((kLegal & ModeBit(Mode::CAST_FLOOR)) != 0) ConvertRun<D, S, Mode::CAST_FLOOR>(dst, src, count);
        break;
      case Mode::CAST_CEIL:
        if constexpr ((kLegal & ModeBit(Mode::CAST_CEIL)) != 0) ConvertRun<D, S, Mode::CAST_CEIL>(dst, src, count);
        break;
      case Mode::CAST_ROUND:
        if constexpr ((kLegal & ModeBit(Mode::CAST_ROUND)) != 0) ConvertRun<D, S, Mode::CAST_ROUND>(dst, src, count);
        break;
      case Mode::CAST_TRUNC:
        if constexpr ((kLegal & ModeBit(Mode::CAST_TRUNC)) != 0) ConvertRun<D, S, Mode::CAST_TRUNC>(dst, src, count);
        break;
      case Mode::CAST_ODD:
        if constexpr ((kLegal & ModeBit(Mode::CAST_ODD)) != 0) ConvertRun<D, S, Mode::CAST_ODD>(dst, src, count);
        break;
      default:
        ConvertRun<D, S, Mode::CAST_RINT>(dst, src, count);
        break;
    }
  }
}

OPKIT_SIM_COLD [[noreturn]] inline void RejectCastMode(BlockState &block, ::AscendC::RoundMode mode, uint32_t legal, Where where) {
  constexpr const char *kNames[] = {"NONE", "RINT", "FLOOR", "CEIL", "ROUND", "TRUNC", "ODD"};
  char list[64];
  int used = 0;
  for (uint32_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    if ((legal >> i & 1) != 0) used += std::snprintf(list + used, sizeof list - static_cast<size_t>(used), " %s", kNames[i]);
  }
  const auto number = static_cast<uint32_t>(mode);
  Fail(block, rule::kCastMode, where, "Cast: this pair of types has no CAST_%s, only%s",
       number < sizeof kNames / sizeof kNames[0] ? kNames[number] : "?", list);
}

template <typename D, typename S>
inline void CheckCast(BlockState &block, ::AscendC::RoundMode mode, Where where) {
  constexpr uint32_t kLegal = CastModes<D, S>();
  static_assert(
      kLegal != 0,
      "Cast has no such pair; it has int8/uint8 to half, int16 to half/float, int32 to half/float/int16/int64, int64 to float/int32, half "
      "to "
      "int8/uint8/int16/int32/float, bfloat16 to float/int32, float to half/bfloat16/int16/int32/int64/float: go through half or float");
  if (OPKIT_SIM_UNLIKELY((kLegal & ModeBit(mode)) == 0)) RejectCastMode(block, mode, kLegal, where);
}

template <typename D, typename S>
inline void CastRepeat(const ::AscendC::LocalTensor<D> &dst, const ::AscendC::LocalTensor<S> &src, ::AscendC::RoundMode mode,
                       const Repeats &repeats, const ::AscendC::UnaryRepeatParams &params, Where where) {
  BlockState &block = Block();
  CheckCast<D, S>(block, mode, where);
  const UnaryWalks walks = WalksOf(block, "Cast", params, where);
  if (repeats.IsNothing()) return;
  CheckLocal<Access::kRead, Pipe::kVector>(block, "Cast", "src", src.Span(), walks.src.Footprint<S>(repeats), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, "Cast", "dst", dst.Span(), walks.dst.Footprint<D>(repeats), where);
  const bool is_dense = walks.dst.block_stride == 1 && walks.src.block_stride == 1;
  ForEachRunOf(repeats, RunLimit(is_dense, repeats.lanes), [&](uint32_t lane, uint32_t repeat, uint32_t length) {
    ConvertRun(block, mode, Advance(dst.Data(), walks.dst.Offset<D>(lane, repeat)),
               static_cast<const S *>(Advance(src.Data(), walks.src.Offset<S>(lane, repeat))), length);
  });
}

// Elements of the wider type in one repeat.
template <typename D, typename S>
constexpr uint32_t CastLanes() {
  return LanesOf(sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
}

}  // namespace opkit_sim::ascendc

namespace AscendC {

template <typename D, typename S>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, int64_t count,
                 opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  sim::CheckCast<D, S>(block, mode, where);
  const uint64_t elements = sim::UseCount(block, "Cast", count, where);
  if (elements == 0) return;
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kVector>(block, "Cast", "src", src.Span(), elements * sizeof(S), where);
  sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kVector>(block, "Cast", "dst", dst.Span(), elements * sizeof(D), where);
  sim::ConvertRun(block, mode, dst.Data(), static_cast<const S *>(src.Data()), elements);
}

// The mask counts elements of the wider type.
template <typename D, typename S, bool isSetMask = true>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, uint64_t mask, int64_t repeatTime,
                 const UnaryRepeatParams &params, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::CastRepeat(dst, src, mode, sim::UseRepeats<isSetMask>("Cast", sim::CastLanes<D, S>(), mask, repeatTime, where), params, where);
}
template <typename D, typename S, bool isSetMask = true>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, const uint64_t mask[], int64_t repeatTime,
                 const UnaryRepeatParams &params, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::CastRepeat(dst, src, mode, sim::UseRepeats<isSetMask>("Cast", sim::CastLanes<D, S>(), mask, repeatTime, where), params, where);
}

// The factor of a Cast from int32_t to half.
inline void SetDeqScale(half scale) { opkit_sim::ascendc::Block().deq_scale = static_cast<float>(scale); }

}  // namespace AscendC

#endif  // OPKIT_SIM_ASCENDC_CAST_H_
