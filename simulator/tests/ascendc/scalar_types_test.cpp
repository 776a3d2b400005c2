// half and bfloat16_t: all 65,536 values each way, and rounding at every boundary between neighbours, against arithmetic in double.
#include "harness.h"

using AscendC::RoundMode;

namespace {

// The value of finite bits, from the definition of the format.
double ValueOf(uint16_t bits, int fraction_bits, int bias) {
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                         : std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double HalfValue(uint16_t bits) { return ValueOf(bits, 10, 15); }
double BfloatValue(uint16_t bits) { return ValueOf(bits, 7, 127); }

bool IsFiniteHalf(uint16_t bits) { return (bits & 0x7c00) != 0x7c00; }
bool IsNanHalf(uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

// Between two neighbours of the same sign, `low` nearer to zero: which one a mode gives.
uint16_t Rounded(RoundMode mode, double value, uint16_t low, double low_value, double high_value) {
  const auto high = static_cast<uint16_t>(low + 1);
  if (value == low_value) return low;
  const double from_low = std::fabs(value - low_value);
  const double from_high = std::fabs(high_value - value);
  switch (mode) {
    case RoundMode::CAST_FLOOR:
      return value < 0 ? high : low;
    case RoundMode::CAST_CEIL:
      return value < 0 ? low : high;
    case RoundMode::CAST_TRUNC:
      return low;
    case RoundMode::CAST_ODD:
      return (low & 1) != 0 ? low : high;
    case RoundMode::CAST_ROUND:
      return from_low < from_high ? low : high;
    default:
      return from_low < from_high || (from_low == from_high && (low & 1) == 0) ? low : high;
  }
}

constexpr RoundMode kModes[] = {RoundMode::CAST_NONE,  RoundMode::CAST_RINT,  RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL,
                                RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC, RoundMode::CAST_ODD};

}  // namespace

TEST(every_half_widens_to_its_value_and_back) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const half value = half::FromBits(bits);
    const auto wide = static_cast<float>(value);
    const float software = opkit_sim::ascendc::FloatFromHalfBits(bits);
    REQUIRE_EQ(opkit_sim::ascendc::BitsOf(wide), opkit_sim::ascendc::BitsOf(software));
    if (IsNanHalf(bits)) {
      REQUIRE(wide != wide);
      REQUIRE(IsNanHalf(half(wide).Bits()));
      continue;
    }
    if (IsFiniteHalf(bits)) REQUIRE_EQ(static_cast<double>(wide), HalfValue(bits));
    REQUIRE_EQ(half(wide).Bits(), bits);
    for (const RoundMode mode : kModes) REQUIRE_EQ(opkit_sim::ascendc::HalfBits(wide, mode), bits);
  }
  CHECK_EQ(static_cast<float>(half::FromBits(0x7c00)), HUGE_VALF);
}

TEST(every_bfloat16_widens_to_its_value_and_back) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const auto wide = static_cast<float>(bfloat16_t::FromBits(bits));
    if (wide != wide) {
      REQUIRE((bits & 0x7fff) > 0x7f80);
      REQUIRE((bfloat16_t(wide).Bits() & 0x7fff) > 0x7f80);
      continue;
    }
    if ((bits & 0x7f80) != 0x7f80) REQUIRE_EQ(static_cast<double>(wide), BfloatValue(bits));
    for (const RoundMode mode : kModes) REQUIRE_EQ(opkit_sim::ascendc::BfloatBits(wide, mode), bits);
  }
}

TEST(float_to_half_rounds_between_every_two_neighbours_in_every_mode) {
  for (uint32_t i = 0; i < 0x7bff; ++i) {
    for (const uint32_t sign : {0u, 0x8000u}) {
      const auto low = static_cast<uint16_t>(i | sign);
      const double low_value = HalfValue(low);
      const double high_value = HalfValue(static_cast<uint16_t>(low + 1));
      const double middle = (low_value + high_value) / 2;
      const float points[] = {static_cast<float>(low_value), static_cast<float>(middle), std::nextafterf(static_cast<float>(middle), 0),
                              std::nextafterf(static_cast<float>(middle), static_cast<float>(high_value * 2)),
                              std::nextafterf(static_cast<float>(low_value), static_cast<float>(high_value))};
      for (const float point : points) {
        for (const RoundMode mode : kModes) {
          const uint16_t expected = Rounded(mode, point, low, low_value, high_value);
          const uint16_t got = opkit_sim::ascendc::HalfBits(point, mode);
          // Next to zero the sign of a zero result is kept.
          if (got != expected) REQUIRE_EQ(static_cast<double>(HalfValue(got)), HalfValue(expected));
        }
        REQUIRE_EQ(half(point).Bits(), opkit_sim::ascendc::HalfBits(point, RoundMode::CAST_RINT));
      }
    }
  }
}

TEST(float_to_bfloat16_rounds_between_every_two_neighbours_in_every_mode) {
  for (uint32_t i = 0; i < 0x7f7f; ++i) {
    for (const uint32_t sign : {0u, 0x8000u}) {
      const auto low = static_cast<uint16_t>(i | sign);
      const double low_value = BfloatValue(low);
      const double high_value = BfloatValue(static_cast<uint16_t>(low + 1));
      for (const uint32_t rest : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
        const float point = opkit_sim::ascendc::FloatOf(static_cast<uint32_t>(low) << 16 | rest);
        for (const RoundMode mode : kModes)
          REQUIRE_EQ(opkit_sim::ascendc::BfloatBits(point, mode), Rounded(mode, point, low, low_value, high_value));
      }
    }
  }
}

TEST(overflow_of_half_gives_infinity_or_the_largest_value_as_the_mode_says) {
  using opkit_sim::ascendc::HalfBits;
  CHECK_EQ(half(65504.0f).Bits(), 0x7bff);
  CHECK_EQ(half(65519.0f).Bits(), 0x7bff);
  CHECK_EQ(half(65520.0f).Bits(), 0x7c00);
  CHECK_EQ(half(1e9f).Bits(), 0x7c00);
  CHECK_EQ(HalfBits(1e9f, RoundMode::CAST_TRUNC), 0x7bff);
  CHECK_EQ(HalfBits(-1e9f, RoundMode::CAST_CEIL), 0xfbff);
  CHECK_EQ(HalfBits(-1e9f, RoundMode::CAST_FLOOR), 0xfc00);
  CHECK_EQ(HalfBits(-1e9f, RoundMode::CAST_RINT), 0xfc00);
  CHECK_EQ(HalfBits(0x1p-26f, RoundMode::CAST_RINT), 0);
  CHECK_EQ(HalfBits(0x1p-140f, RoundMode::CAST_CEIL), 1);
  CHECK_EQ(HalfBits(-0x1p-140f, RoundMode::CAST_FLOOR), 0x8001);
}

TEST(half_behaves_as_the_arithmetic_type_that_kernels_take_it_for) {
  half a = 0.5;
  half b(3);
  const half c = (half)1.0f;
  a += b;
  CHECK_EQ(static_cast<float>(a), 3.5f);
  a -= c;
  a *= 2;
  a /= 5;
  CHECK_EQ(static_cast<float>(a), 1.0f);
  CHECK(a == c);
  CHECK(b > c && c < b && a != b && a <= c && -b < 0);
  CHECK_EQ(static_cast<float>(half(b * c + 1.0f)), 4.0f);
  CHECK_EQ(static_cast<int32_t>(b), 3);
  CHECK_EQ(half(2049).Bits(), half(2048).Bits());
  static_assert(!std::is_same_v<half, bfloat16_t> && sizeof(half) == 2 && sizeof(bfloat16_t) == 2);
  static_assert(AscendC::IsSameType<half, half>::value && !AscendC::IsSameType<half, float>::value);
  constexpr half kConstant = 1.5f;
  static_assert(kConstant.Bits() == 0x3e00);
}

TEST(a_double_is_rounded_once) {
  // Just above the middle between 1 and the next half, by less than a float shows.
  CHECK_EQ(half(1.0 + 0x1p-11 + 0x1p-40).Bits(), 0x3c01);
  CHECK_EQ(half(1.0 + 0x1p-11).Bits(), 0x3c00);
  CHECK_EQ(half(-(1.0 + 0x1p-11 + 0x1p-40)).Bits(), 0xbc01);
}

TEST(bfloat16_converts_by_name) {
  CHECK_EQ(AscendC::ToFloat(bfloat16_t(2.5f)), 2.5f);
  CHECK_EQ(AscendC::ToBfloat16(1.0f).Bits(), 0x3f80);
  static_assert(!std::is_convertible_v<bfloat16_t, float>);
}

TEST_MAIN()
