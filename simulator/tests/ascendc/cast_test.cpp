// Cast over the whole table of pairs and modes, against conversions made in long double with the C library's own rounding.
#include <cfenv>
#include <limits>

#include "harness.h"

using namespace AscendC;
using ascendc_test::CheckSame;
using ascendc_test::ExpectError;
using ascendc_test::Place;
using ascendc_test::RunClean;
using ascendc_test::ValuesOf;

namespace {

constexpr uint32_t kDst = 0, kSrc = 65536;

// Rounds to a whole number of units.
long double RoundUnits(long double units, RoundMode mode) {
  switch (mode) {
    case RoundMode::CAST_FLOOR:
      return std::floor(units);
    case RoundMode::CAST_CEIL:
      return std::ceil(units);
    case RoundMode::CAST_ROUND:
      return std::round(units);
    case RoundMode::CAST_TRUNC:
      return std::trunc(units);
    case RoundMode::CAST_ODD: {
      const long double low = std::floor(units);
      return low == units || std::fmod(low, 2) != 0 ? low : low + 1;
    }
    default:
      return std::nearbyint(units);
  }
}

// The float format with that many bits of fraction, rounded by the mode: the step between neighbours at the value's size.
long double RoundTo(long double value, int fraction_bits, int least_exponent, RoundMode mode) {
  if (value == 0 || std::isinf(value) || std::isnan(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int step = std::max(exponent - 1, least_exponent) - fraction_bits;
  return std::ldexp(RoundUnits(std::ldexp(value, -step), mode), step);
}

template <typename D, typename S>
D Reference(S value, RoundMode mode) {
  const auto exact = static_cast<long double>([&] {
    if constexpr (std::is_integral_v<S>)
      return value;
    else
      return static_cast<float>(value);
  }());
  if constexpr (std::is_integral_v<D>) {
    if (std::isnan(exact)) return 0;
    const long double rounded = std::isinf(exact) ? exact : RoundUnits(exact, mode);
    const auto most = static_cast<long double>(std::numeric_limits<D>::max());
    const auto least = static_cast<long double>(std::numeric_limits<D>::min());
    return rounded > most ? std::numeric_limits<D>::max() : rounded < least ? std::numeric_limits<D>::min() : static_cast<D>(rounded);
  } else if constexpr (std::is_same_v<D, half>) {
    const long double rounded = RoundTo(exact, 10, -14, mode);
    if (std::fabs(rounded) <= 65504) return half(static_cast<float>(rounded));
    const bool towards_zero = mode == RoundMode::CAST_TRUNC || mode == RoundMode::CAST_ODD ||
                              (mode == RoundMode::CAST_FLOOR && exact > 0) || (mode == RoundMode::CAST_CEIL && exact < 0);
    const float big = towards_zero && !std::isinf(exact) ? 65504.0f : HUGE_VALF;
    return half(exact < 0 ? -big : big);
  } else if constexpr (std::is_same_v<D, bfloat16_t>) {
    return bfloat16_t(static_cast<float>(RoundTo(exact, 7, -126, mode)));
  } else if constexpr (std::is_same_v<S, float>) {
    return static_cast<float>(RoundUnits(exact, mode));
  } else {
    return static_cast<float>(RoundTo(exact, 23, -126, mode));
  }
}

template <typename S>
std::vector<S> Samples() {
  std::vector<S> values;
  if constexpr (std::is_integral_v<S>) {
    const S most = std::numeric_limits<S>::max(), least = std::numeric_limits<S>::min();
    for (int64_t i = -200; i <= 200; ++i) values.push_back(static_cast<S>(i));
    for (int i = 0; i < 20; ++i) {
      values.push_back(static_cast<S>(most - i));
      values.push_back(static_cast<S>(least + i));
    }
    for (int shift = 0; shift < static_cast<int>(sizeof(S) * 8 - 1); ++shift) {
      for (int64_t around = -3; around <= 3; ++around) {
        values.push_back(static_cast<S>((int64_t{1} << shift) + around));
        values.push_back(static_cast<S>(-(int64_t{1} << shift) + around));
        values.push_back(static_cast<S>((int64_t{3} << shift >> 1) + around));
      }
    }
  } else {
    for (int i = -800; i <= 800; ++i) values.push_back(S(static_cast<float>(i) / 4.0f));
    for (int shift = -30; shift < 66; ++shift) {
      for (const float around : {1.0f, 1.25f, 1.5f, 1.75f, 0.99999994f, 1.0000001f, 1.0004883f, 1.00048840f, 1.0039062f}) {
        values.push_back(S(std::ldexp(around, shift)));
        values.push_back(S(-std::ldexp(around, shift)));
      }
    }
    for (const float value : {0.0f, -0.0f, 32767.0f, 32767.5f, 32768.0f, -32768.5f, 65519.0f, 65520.0f, 127.5f, 128.0f, 255.5f, -0.5f,
                              2147483520.0f, 2147483648.0f, 9.2233715e18f, 9.2233720e18f, HUGE_VALF, -HUGE_VALF}) {
      values.push_back(S(value));
    }
  }
  while (values.size() % 128 != 5) values.push_back(values.front());  // an odd tail
  return values;
}

constexpr RoundMode kNone = RoundMode::CAST_NONE;
const std::vector<RoundMode> kFive = {RoundMode::CAST_RINT, RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL, RoundMode::CAST_ROUND,
                                      RoundMode::CAST_TRUNC};

std::vector<RoundMode> With(std::vector<RoundMode> modes, RoundMode more) {
  modes.push_back(more);
  return modes;
}

template <typename D, typename S>
void CheckPair(const char *name, const std::vector<RoundMode> &modes) {
  const std::vector<S> source = Samples<S>();
  const auto count = static_cast<uint32_t>(source.size());
  for (const RoundMode mode : modes) {
    std::vector<D> expected(source.size());
    for (size_t i = 0; i < source.size(); ++i) expected[i] = Reference<D>(source[i], mode);
    RunClean([&] {
      const auto dst = Place(kDst, std::vector<D>(source.size() + 40, D(1)));
      const auto src = Place(kSrc, source);
      Cast(dst, src, mode, count);
      CheckSame(name, ValuesOf(dst, source.size()), expected);
      REQUIRE(ascendc_test::SameBits(dst.Data()[count], D(1)));

      // The repeat form: lanes of the wider type, each side in blocks of its own type.
      constexpr uint32_t kLanes = 256 / (sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
      const UnaryRepeatParams walk(1, 1, static_cast<int64_t>(kLanes * sizeof(D) / 32) + 1, kLanes * sizeof(S) / 32);
      const uint32_t mask = kLanes - 3;
      Duplicate(dst.template ReinterpretCast<int16_t>(), int16_t{0x1111}, 2000);
      std::vector<D> strided = ValuesOf(dst, 3 * (kLanes + 32 / sizeof(D)));
      Cast(dst, src, mode, mask, 3, walk);
      for (uint32_t repeat = 0; repeat < 3; ++repeat) {
        for (uint32_t lane = 0; lane < mask; ++lane) strided[repeat * (kLanes + 32 / sizeof(D)) + lane] = expected[repeat * kLanes + lane];
      }
      CheckSame(name, ValuesOf(dst, strided.size()), strided);
    });
  }
}

}  // namespace

TEST(casts_from_half) {
  CheckPair<float, half>("half to float", {kNone});
  CheckPair<int8_t, half>("half to int8", With(kFive, kNone));
  CheckPair<uint8_t, half>("half to uint8", With(kFive, kNone));
  CheckPair<int16_t, half>("half to int16", kFive);
  CheckPair<int32_t, half>("half to int32", kFive);
}

TEST(casts_from_float) {
  CheckPair<half, float>("float to half", With(With(kFive, kNone), RoundMode::CAST_ODD));
  CheckPair<bfloat16_t, float>("float to bfloat16", kFive);
  CheckPair<int16_t, float>("float to int16", kFive);
  CheckPair<int32_t, float>("float to int32", kFive);
  CheckPair<int64_t, float>("float to int64", kFive);
  CheckPair<float, float>("float to float", kFive);
}

TEST(casts_from_bfloat16) {
  CheckPair<float, bfloat16_t>("bfloat16 to float", {kNone});
  CheckPair<int32_t, bfloat16_t>("bfloat16 to int32", kFive);
}

TEST(casts_from_integers) {
  CheckPair<half, int8_t>("int8 to half", {kNone});
  CheckPair<half, uint8_t>("uint8 to half", {kNone});
  CheckPair<half, int16_t>("int16 to half", With(kFive, kNone));
  CheckPair<float, int16_t>("int16 to float", {kNone});
  CheckPair<float, int32_t>("int32 to float", With(kFive, kNone));
  CheckPair<int16_t, int32_t>("int32 to int16", {kNone});
  CheckPair<int64_t, int32_t>("int32 to int64", {kNone});
  CheckPair<float, int64_t>("int64 to float", kFive);
  CheckPair<int32_t, int64_t>("int64 to int32", {kNone});
}

TEST(nan_becomes_zero_in_integers_and_stays_in_floats) {
  RunClean([] {
    const auto whole = Place(kDst, std::vector<int32_t>(8, 7));
    Cast(whole, Place(kSrc, std::vector<float>(8, std::nanf(""))), RoundMode::CAST_RINT, 8);
    CHECK_EQ(whole.Data()[3], 0);
    const auto narrow = Place(kDst, std::vector<half>(8));
    Cast(narrow, Place(kSrc, std::vector<float>(8, std::nanf(""))), RoundMode::CAST_RINT, 8);
    CHECK(narrow.Data()[3] != narrow.Data()[3]);
  });
}

TEST(int32_to_half_multiplies_by_the_deq_scale) {
  RunClean([] {
    const auto dst = Place(kDst, std::vector<half>(16));
    const auto src = Place(kSrc, std::vector<int32_t>(16, 100000));
    SetDeqScale(half(0.25f));
    Cast(dst, src, RoundMode::CAST_NONE, 16);
    CHECK_EQ(static_cast<float>(dst.Data()[15]), 24992.0f);  // 25000 lies between two halves: to the even one
  });
}

TEST(a_mode_that_the_pair_lacks_is_named_with_those_it_has) {
  ExpectError("CAST-MODE", __LINE__ + 3, "no CAST_RINT, only NONE", [] {
    const auto dst = Place(kDst, std::vector<float>(16));
    const auto src = Place(kSrc, std::vector<half>(16));
    Cast(dst, src, RoundMode::CAST_RINT, 16);
  });
}

TEST_MAIN()
