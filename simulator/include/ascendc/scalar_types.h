// half and bfloat16_t, distinct 16-bit types with the device's rounding, for a compiler that may lack both.
//
// half converts to and from float implicitly, so that its arithmetic is float arithmetic; bfloat16_t is storage and converts only by name,
// as on a device.
#ifndef OPKIT_SIM_ASCENDC_SCALAR_TYPES_H_
#define OPKIT_SIM_ASCENDC_SCALAR_TYPES_H_

#include <cstdint>
#include <type_traits>

#include "ascendc/enums.h"

namespace opkit_sim::ascendc {

constexpr uint32_t BitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }
constexpr float FloatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// Whether a magnitude with `kept` as its last kept bit and `rest` (of `half_unit` * 2) cut off grows by one unit.
constexpr bool RoundsUp(::AscendC::RoundMode mode, bool is_negative, uint64_t kept, uint64_t rest, uint64_t half_unit) {
  switch (mode) {
    case ::AscendC::RoundMode::CAST_FLOOR:
      return is_negative && rest != 0;
    case ::AscendC::RoundMode::CAST_CEIL:
      return !is_negative && rest != 0;
    case ::AscendC::RoundMode::CAST_ROUND:
      return rest >= half_unit;
    case ::AscendC::RoundMode::CAST_TRUNC:
      return false;
    case ::AscendC::RoundMode::CAST_ODD:
      return rest != 0 && (kept & 1) == 0;
    default:
      return rest > half_unit || (rest == half_unit && (kept & 1) != 0);
  }
}

// Overflow follows IEEE 754: infinity, or the largest finite value where the mode rounds towards zero there.
constexpr uint16_t HalfBits(float value, ::AscendC::RoundMode mode) {
  const uint32_t bits = BitsOf(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude == 0x7f800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude == 0) return sign;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent > 15) {
    const bool to_infinity = mode == ::AscendC::RoundMode::CAST_NONE || mode == ::AscendC::RoundMode::CAST_RINT ||
                             mode == ::AscendC::RoundMode::CAST_ROUND || (mode == ::AscendC::RoundMode::CAST_FLOOR && sign != 0) ||
                             (mode == ::AscendC::RoundMode::CAST_CEIL && sign == 0);
    return static_cast<uint16_t>(sign | (to_infinity ? 0x7c00u : 0x7bffu));
  }
  // A float that is subnormal itself is far below half's smallest unit: only its being non-zero counts.
  const uint64_t significand = (magnitude & 0x7fffffu) | (magnitude >= 0x800000u ? 0x800000u : 0u);
  int shift = exponent >= -14 ? 13 : -1 - exponent;
  if (shift > 40) shift = 40;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  uint64_t kept = significand >> shift;
  if (exponent >= -14) kept += static_cast<uint64_t>(exponent + 14) << 10;
  if (RoundsUp(mode, sign != 0, kept, rest, uint64_t{1} << (shift - 1))) ++kept;
  return static_cast<uint16_t>(sign | kept);
}

constexpr float FloatFromHalfBits(uint16_t half_bits) {
  const uint32_t sign = static_cast<uint32_t>(half_bits & 0x8000u) << 16;
  const uint32_t exponent = (half_bits >> 10) & 0x1fu;
  const uint32_t fraction = half_bits & 0x3ffu;
  if (exponent == 31) return FloatOf(sign | 0x7f800000u | (fraction << 13) | (fraction != 0 ? 0x400000u : 0u));
  if (exponent != 0) return FloatOf(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float subnormal = static_cast<float>(fraction) * 0x1p-24f;
  return FloatOf(sign | BitsOf(subnormal));
}

constexpr uint16_t BfloatBits(float value, ::AscendC::RoundMode mode) {
  const uint32_t bits = BitsOf(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  const uint32_t kept = magnitude >> 16;
  const bool up = RoundsUp(mode, (bits >> 31) != 0, kept, magnitude & 0xffffu, 0x8000u);
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | (kept + (up ? 1u : 0u)));
}

constexpr float FloatFromBfloatBits(uint16_t bits) { return FloatOf(static_cast<uint32_t>(bits) << 16); }

// A double is brought to float by rounding to odd, so that the second rounding is right.
constexpr float ToFloatOdd(double value) {
  auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value) return nearest;
  uint32_t bits = BitsOf(nearest);
  const bool is_too_far = value > 0 ? static_cast<double>(nearest) > value : static_cast<double>(nearest) < value;
  if (is_too_far) --bits;
  return FloatOf(bits | 1u);
}

template <typename T>
constexpr float ScalarToFloat(T value) {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, long double>) {
    return ToFloatOdd(static_cast<double>(value));
  } else {
    return static_cast<float>(value);
  }
}

// One conversion each way, by the processor's instruction where there is one and the value isn't a constant.
constexpr uint16_t HalfBits(float value) {
#if defined(__F16C__)
  if (!__builtin_is_constant_evaluated()) {
    typedef float Float4 __attribute__((vector_size(16)));
    typedef short Short8 __attribute__((vector_size(16)));
    const auto narrow = static_cast<Short8>(__builtin_ia32_vcvtps2ph(Float4{value, 0, 0, 0}, 0));
    return static_cast<uint16_t>(narrow[0]);
  }
#endif
  return HalfBits(value, ::AscendC::RoundMode::CAST_RINT);
}

constexpr float WidenHalf(uint16_t bits) {
#if defined(__F16C__)
  if (!__builtin_is_constant_evaluated()) {
    typedef short Short8 __attribute__((vector_size(16)));
    return __builtin_ia32_vcvtph2ps(Short8{static_cast<short>(bits), 0, 0, 0, 0, 0, 0, 0})[0];
  }
#endif
  return FloatFromHalfBits(bits);
}

}  // namespace opkit_sim::ascendc

class half {
 public:
  half() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr half(T value) : bits_(opkit_sim::ascendc::HalfBits(opkit_sim::ascendc::ScalarToFloat(value))) {}
  constexpr operator float() const { return opkit_sim::ascendc::WidenHalf(bits_); }

  constexpr half operator-() const { return FromBits(static_cast<uint16_t>(bits_ ^ 0x8000u)); }
  constexpr half &operator+=(float other) { return *this = half(static_cast<float>(*this) + other); }
  constexpr half &operator-=(float other) { return *this = half(static_cast<float>(*this) - other); }
  constexpr half &operator*=(float other) { return *this = half(static_cast<float>(*this) * other); }
  constexpr half &operator/=(float other) { return *this = half(static_cast<float>(*this) / other); }

  static constexpr half FromBits(uint16_t bits) {
    half value{};
    value.bits_ = bits;
    return value;
  }
  constexpr uint16_t Bits() const { return bits_; }

 private:
  uint16_t bits_;
};

class bfloat16_t {
 public:
  bfloat16_t() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr bfloat16_t(T value)
      : bits_(opkit_sim::ascendc::BfloatBits(opkit_sim::ascendc::ScalarToFloat(value), ::AscendC::RoundMode::CAST_RINT)) {}
  constexpr explicit operator float() const { return opkit_sim::ascendc::FloatFromBfloatBits(bits_); }

  static constexpr bfloat16_t FromBits(uint16_t bits) {
    bfloat16_t value{};
    value.bits_ = bits;
    return value;
  }
  constexpr uint16_t Bits() const { return bits_; }

 private:
  uint16_t bits_;
};

// Named so that declarations compile; any use needs the type complete and is an error, for half-byte storage isn't emulated.
struct int4b_t;

namespace AscendC {

constexpr float ToFloat(bfloat16_t value) { return static_cast<float>(value); }
constexpr bfloat16_t ToBfloat16(float value) { return bfloat16_t(value); }

template <typename T, typename U>
struct IsSameType : std::is_same<T, U> {};

}  // namespace AscendC

#endif  // OPKIT_SIM_ASCENDC_SCALAR_TYPES_H_
