// Elementwise instructions in count, mask and bit-mask form against scalar loops over the addresses that the format of a repeat defines.
#include "harness.h"

using namespace AscendC;
using ascendc_test::CheckSame;
using ascendc_test::Numbers;
using ascendc_test::Place;
using ascendc_test::RunClean;
using ascendc_test::ValuesOf;

namespace {

constexpr uint32_t kDst = 0, kSrc0 = 32768, kSrc1 = 65536;
constexpr int kCounts[] = {1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000};

template <typename T>
T Wrapped(int64_t value) {
  return static_cast<T>(static_cast<uint64_t>(value));
}

// One operation on two elements, written apart from the emulation's.
template <typename T>
T Reference(const std::string &name, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<int64_t>(a);
    const auto y = static_cast<int64_t>(b);
    if (name == "Add") return Wrapped<T>(x + y);
    if (name == "Sub") return Wrapped<T>(x - y);
    if (name == "Mul") return Wrapped<T>(x * y);
    if (name == "Max") return x > y ? a : b;
    if (name == "Min") return x < y ? a : b;
    if (name == "And") return Wrapped<T>(x & y);
    if (name == "Or") return Wrapped<T>(x | y);
    if (name == "Not") return Wrapped<T>(~x);
    if (name == "Relu") return x > 0 ? a : T{0};
  } else {
    // In double, then rounded once: exact for one operation on narrower operands.
    const auto x = static_cast<double>(static_cast<float>(a));
    const auto y = static_cast<double>(static_cast<float>(b));
    double result = 0;
    if (name == "Add") result = x + y;
    if (name == "Sub") result = x - y;
    if (name == "Mul") result = x * y;
    if (name == "Div") result = x / y;
    if (name == "Max") result = x > y ? x : y;
    if (name == "Min") result = x < y ? x : y;
    if (name == "Abs") result = x < 0 ? -x : x;
    if (name == "Sqrt") result = std::sqrt(x);
    if (name == "Reciprocal") result = 1 / x;
    if (name == "Relu") result = x > 0 ? x : 0;
    return T(static_cast<float>(result));
  }
  return T{};
}

template <typename T>
struct BinaryForms {
  const char *name;
  void (*count)(const LocalTensor<T> &, const LocalTensor<T> &, const LocalTensor<T> &, int64_t, opkit_sim::ascendc::Where);
  void (*masked)(const LocalTensor<T> &, const LocalTensor<T> &, const LocalTensor<T> &, uint64_t, int64_t, const BinaryRepeatParams &,
                 opkit_sim::ascendc::Where);
  void (*bits)(const LocalTensor<T> &, const LocalTensor<T> &, const LocalTensor<T> &, const uint64_t *, int64_t,
               const BinaryRepeatParams &, opkit_sim::ascendc::Where);
};

template <typename T>
struct UnaryForms {
  const char *name;
  void (*count)(const LocalTensor<T> &, const LocalTensor<T> &, int64_t, opkit_sim::ascendc::Where);
  void (*masked)(const LocalTensor<T> &, const LocalTensor<T> &, uint64_t, int64_t, const UnaryRepeatParams &, opkit_sim::ascendc::Where);
  void (*bits)(const LocalTensor<T> &, const LocalTensor<T> &, const uint64_t *, int64_t, const UnaryRepeatParams &,
               opkit_sim::ascendc::Where);
};

template <typename T>
struct ScalarForms {
  const char *name;  // of the binary operation
  void (*count)(const LocalTensor<T> &, const LocalTensor<T> &, const T &, int64_t, opkit_sim::ascendc::Where);
  void (*masked)(const LocalTensor<T> &, const LocalTensor<T> &, const T &, uint64_t, int64_t, const UnaryRepeatParams &,
                 opkit_sim::ascendc::Where);
  void (*bits)(const LocalTensor<T> &, const LocalTensor<T> &, const T &, const uint64_t *, int64_t, const UnaryRepeatParams &,
               opkit_sim::ascendc::Where);
};

#define FORMS(KIND, T, FUNCTION, NAME) \
  KIND<T> { NAME, &FUNCTION<T>, &FUNCTION<T, true>, &FUNCTION<T, true> }
#define SCALAR_FORMS(T, FUNCTION, NAME) \
  ScalarForms<T> { NAME, &FUNCTION<T, true>, &FUNCTION<T, true>, &FUNCTION<T, true> }

opkit_sim::ascendc::Where Here() { return opkit_sim::ascendc::Where::Here(); }

struct Mask {
  uint64_t word[2];
  bool Has(uint32_t lane) const { return (word[lane / 64] >> lane % 64 & 1) != 0; }
};

// Byte offset of a lane, from the text: repeat and block strides in units of 32 bytes.
template <typename T>
size_t At(uint32_t repeat, uint32_t lane, int64_t block_stride, int64_t repeat_stride) {
  const uint32_t per_block = 32 / sizeof(T);
  return (repeat * static_cast<size_t>(repeat_stride) + lane / per_block * static_cast<size_t>(block_stride)) * (32 / sizeof(T)) +
         lane % per_block;
}

template <typename T>
std::vector<Mask> MasksOf() {
  std::vector<Mask> masks;
  const uint32_t lanes = 256 / sizeof(T);
  for (const uint32_t count : {1u, 8u, 9u, 16u, lanes / 2 + 1, lanes - 1, lanes}) {
    Mask mask{{0, 0}};
    for (uint32_t i = 0; i < count; ++i) mask.word[i / 64] |= uint64_t{1} << i % 64;
    masks.push_back(mask);
  }
  return masks;
}

uint64_t CountOf(const Mask &mask) {
  return static_cast<uint64_t>(__builtin_popcountll(mask.word[0]) + __builtin_popcountll(mask.word[1]));
}

template <typename T>
void CheckBinary(const BinaryForms<T> &op) {
  Numbers numbers(sizeof(T) + op.name[0]);
  const std::vector<T> a = numbers.Many<T>(4096), b = numbers.Many<T>(4096), old = numbers.Many<T>(4096);
  for (const int count : kCounts) {
    std::vector<T> expected = old;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) expected[i] = Reference(op.name, a[i], b[i]);
    RunClean([&] {
      const auto dst = Place(kDst, old);
      op.count(dst, Place(kSrc0, a), Place(kSrc1, b), count, Here());
      CheckSame(op.name, ValuesOf(dst, old.size()), expected);
    });
    RunClean([&] {  // in place
      const auto dst = Place(kDst, a);
      op.count(dst, dst, Place(kSrc1, b), count, Here());
      std::vector<T> in_place = a;
      std::copy_n(expected.begin(), count, in_place.begin());
      CheckSame(op.name, ValuesOf(dst, a.size()), in_place);
    });
  }
  const BinaryRepeatParams walks[] = {{}, {1, 1, 1, 8, 8, 0}, {2, 1, 1, 16, 8, 8}, {1, 0, 2, 8, 1, 17}, {1, 1, 1, 9, 7, 8}};
  std::vector<Mask> masks = MasksOf<T>();
  const size_t contiguous = masks.size();
  const uint64_t high = sizeof(T) == 2 ? 0x8000000000000101u : 0;
  masks.push_back({{0x5555555555555555u, high}});
  masks.push_back({{0x80000000000000f0u, high}});
  for (const BinaryRepeatParams &walk : walks) {
    for (size_t m = 0; m < masks.size(); ++m) {
      const Mask &mask = masks[m];
      for (const uint32_t repeats : {1u, 3u}) {
        std::vector<T> expected = old;
        for (uint32_t r = 0; r < repeats; ++r) {
          for (uint32_t lane = 0; lane < 256 / sizeof(T); ++lane) {
            if (!mask.Has(lane)) continue;
            expected[At<T>(r, lane, walk.dstBlkStride, walk.dstRepStride)] =
                Reference(op.name, a[At<T>(r, lane, walk.src0BlkStride, walk.src0RepStride)],
                          b[At<T>(r, lane, walk.src1BlkStride, walk.src1RepStride)]);
          }
        }
        RunClean([&] {
          const auto dst = Place(kDst, old);
          op.bits(dst, Place(kSrc0, a), Place(kSrc1, b), mask.word, repeats, walk, Here());
          CheckSame(op.name, ValuesOf(dst, old.size()), expected);
          if (m >= contiguous) return;
          const auto again = Place(kDst, old);
          op.masked(again, Place(kSrc0, a), Place(kSrc1, b), CountOf(mask), repeats, walk, Here());
          CheckSame(op.name, ValuesOf(again, old.size()), expected);
        });
      }
    }
  }
}

// `apply` hides whether there is a scalar.
template <typename T, typename Count, typename Masked, typename Bits, typename Expect>
void CheckOneSource(const char *name, const std::vector<T> &a, Count count_form, Masked masked_form, Bits bits_form, Expect expect) {
  Numbers numbers(7);
  const std::vector<T> old = numbers.Many<T>(4096);
  for (const int count : kCounts) {
    std::vector<T> expected = old;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) expected[i] = expect(a[i]);
    RunClean([&] {
      const auto dst = Place(kDst, old);
      count_form(dst, Place(kSrc0, a), count);
      CheckSame(name, ValuesOf(dst, old.size()), expected);
    });
  }
  const UnaryRepeatParams walks[] = {{}, {2, 1, 16, 8}, {1, 0, 8, 1}, {1, 2, 9, 16}};
  std::vector<Mask> masks = MasksOf<T>();
  const size_t contiguous = masks.size();
  masks.push_back({{0xaaaaaaaaaaaaaaaau, sizeof(T) == 2 ? 0x8000000000000001u : 0}});
  for (const UnaryRepeatParams &walk : walks) {
    for (size_t m = 0; m < masks.size(); ++m) {
      std::vector<T> expected = old;
      for (uint32_t r = 0; r < 2; ++r) {
        for (uint32_t lane = 0; lane < 256 / sizeof(T); ++lane) {
          if (!masks[m].Has(lane)) continue;
          expected[At<T>(r, lane, walk.dstBlkStride, walk.dstRepStride)] = expect(a[At<T>(r, lane, walk.srcBlkStride, walk.srcRepStride)]);
        }
      }
      RunClean([&] {
        const auto dst = Place(kDst, old);
        bits_form(dst, Place(kSrc0, a), masks[m].word, walk);
        CheckSame(name, ValuesOf(dst, old.size()), expected);
        if (m >= contiguous) return;
        const auto again = Place(kDst, old);
        masked_form(again, Place(kSrc0, a), CountOf(masks[m]), walk);
        CheckSame(name, ValuesOf(again, old.size()), expected);
      });
    }
  }
}

template <typename T>
void CheckUnary(const UnaryForms<T> &op) {
  std::vector<T> a = Numbers(3).Many<T>(4096);
  if (std::strcmp(op.name, "Sqrt") == 0 || std::strcmp(op.name, "Reciprocal") == 0) {
    for (T &value : a) value = T(std::fabs(static_cast<float>(value)) + 0.25f);
  }
  CheckOneSource<T>(
      op.name, a, [&](auto dst, auto src, int count) { op.count(dst, src, count, Here()); },
      [&](auto dst, auto src, uint64_t mask, auto walk) { op.masked(dst, src, mask, 2, walk, Here()); },
      [&](auto dst, auto src, const uint64_t *mask, auto walk) { op.bits(dst, src, mask, 2, walk, Here()); },
      [&](T value) { return Reference(op.name, value, value); });
}

template <typename T>
void CheckScalar(const ScalarForms<T> &op) {
  const T scalar = T(3);
  CheckOneSource<T>(
      op.name, Numbers(5).Many<T>(4096), [&](auto dst, auto src, int count) { op.count(dst, src, scalar, count, Here()); },
      [&](auto dst, auto src, uint64_t mask, auto walk) { op.masked(dst, src, scalar, mask, 2, walk, Here()); },
      [&](auto dst, auto src, const uint64_t *mask, auto walk) { op.bits(dst, src, scalar, mask, 2, walk, Here()); },
      [&](T value) { return Reference(op.name, value, scalar); });
}

template <typename T>
void CheckArithmetic() {
  CheckBinary(FORMS(BinaryForms, T, Add, "Add"));
  CheckBinary(FORMS(BinaryForms, T, Sub, "Sub"));
  CheckBinary(FORMS(BinaryForms, T, Mul, "Mul"));
  CheckBinary(FORMS(BinaryForms, T, Max, "Max"));
  CheckBinary(FORMS(BinaryForms, T, Min, "Min"));
  CheckScalar(SCALAR_FORMS(T, Adds, "Add"));
  CheckScalar(SCALAR_FORMS(T, Muls, "Mul"));
  CheckScalar(SCALAR_FORMS(T, Maxs, "Max"));
  CheckScalar(SCALAR_FORMS(T, Mins, "Min"));
}

}  // namespace

TEST(arithmetic_on_int16) { CheckArithmetic<int16_t>(); }
TEST(arithmetic_on_int32) { CheckArithmetic<int32_t>(); }
TEST(arithmetic_on_half) { CheckArithmetic<half>(); }
TEST(arithmetic_on_float) { CheckArithmetic<float>(); }

TEST(division_and_functions_on_half_and_float) {
  CheckBinary(FORMS(BinaryForms, half, Div, "Div"));
  CheckBinary(FORMS(BinaryForms, float, Div, "Div"));
  CheckUnary(FORMS(UnaryForms, half, Abs, "Abs"));
  CheckUnary(FORMS(UnaryForms, float, Abs, "Abs"));
  CheckUnary(FORMS(UnaryForms, half, Sqrt, "Sqrt"));
  CheckUnary(FORMS(UnaryForms, float, Sqrt, "Sqrt"));
  CheckUnary(FORMS(UnaryForms, float, Reciprocal, "Reciprocal"));
  CheckUnary(FORMS(UnaryForms, half, Relu, "Relu"));
  CheckUnary(FORMS(UnaryForms, float, Relu, "Relu"));
  CheckUnary(FORMS(UnaryForms, int32_t, Relu, "Relu"));
}

TEST(bitwise_operations) {
  CheckBinary(FORMS(BinaryForms, int16_t, And, "And"));
  CheckBinary(FORMS(BinaryForms, uint16_t, And, "And"));
  CheckBinary(FORMS(BinaryForms, uint16_t, Or, "Or"));
  CheckUnary(FORMS(UnaryForms, uint16_t, Not, "Not"));
  CheckUnary(FORMS(UnaryForms, int16_t, Not, "Not"));
}

TEST(exp_and_ln_are_within_two_units_of_the_last_place) {
  RunClean([] {
    std::vector<float> x(1000), positive(1000);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = (static_cast<float>(i) - 500.0f) / 8.0f;
      positive[i] = std::ldexp(1.0f + static_cast<float>(i) / 1000.0f, static_cast<int>(i % 200) - 100);
    }
    const auto dst = Place(kDst, std::vector<float>(1000));
    Exp(dst, Place(kSrc0, x), 1000);
    for (uint32_t i = 0; i < 1000; ++i) {
      const double exact = std::exp(static_cast<double>(x[i]));
      REQUIRE(std::fabs(dst.Data()[i] - exact) <= 2 * 0x1p-24 * exact + 1e-45);
    }
    Ln(dst, Place(kSrc0, positive), 1000);
    for (uint32_t i = 0; i < 1000; ++i) {
      const double exact = std::log(static_cast<double>(positive[i]));
      REQUIRE(std::fabs(dst.Data()[i] - exact) <= 2 * 0x1p-24 * std::fabs(exact) + 1e-7);
    }
    Rsqrt(dst, Place(kSrc0, positive), 1000);
    for (uint32_t i = 0; i < 1000; ++i) {
      const double exact = 1 / std::sqrt(static_cast<double>(positive[i]));
      REQUIRE(std::fabs(dst.Data()[i] - exact) <= 2 * 0x1p-24 * exact);
    }
    std::vector<half> narrow(256);
    for (size_t i = 0; i < narrow.size(); ++i) narrow[i] = half(static_cast<float>(i) / 32.0f);
    const auto narrow_dst = Place(kDst, std::vector<half>(256));
    Exp(narrow_dst, Place(kSrc0, narrow), 256);
    for (uint32_t i = 0; i < 256; ++i) {
      const double exact = std::exp(static_cast<double>(static_cast<float>(narrow[i])));
      REQUIRE(std::fabs(static_cast<float>(narrow_dst.Data()[i]) - exact) <= 0x1p-11 * exact);
    }
  });
}

TEST(axpy_adds_a_scaled_tensor_and_widens_half_to_float) {
  RunClean([] {
    const auto dst = Place(kDst, std::vector<float>(200, 1.0f));
    Axpy(dst, Place(kSrc0, std::vector<half>(200, half(2))), half(0.5f), 130);
    for (uint32_t i = 0; i < 200; ++i) REQUIRE_EQ(dst.Data()[i], i < 130 ? 2.0f : 1.0f);
    Axpy(dst, Place(kSrc0, std::vector<float>(200, 3.0f)), 2.0f, 64, 2, UnaryRepeatParams());
    for (uint32_t i = 0; i < 200; ++i) REQUIRE_EQ(dst.Data()[i], i < 128 ? 8.0f : i < 130 ? 2.0f : 1.0f);
    const auto narrow = Place(kDst, std::vector<half>(100, half(1)));
    Axpy(narrow, Place(kSrc0, std::vector<half>(100, half(4))), half(0.25f), 99);
    REQUIRE_EQ(static_cast<float>(narrow.Data()[98]), 2.0f);
    REQUIRE_EQ(static_cast<float>(narrow.Data()[99]), 1.0f);
  });
}

namespace {

template <typename T>
void CheckDuplicate() {
  const T old = T(9), value = T(3);
  for (const int count : kCounts) {
    RunClean([&] {
      const auto dst = Place(kDst, std::vector<T>(2048, old));
      Duplicate(dst, value, count);
      for (int i = 0; i < 2048; ++i) REQUIRE(ascendc_test::SameBits(dst.Data()[i], i < count ? value : old));
    });
  }
  RunClean([&] {
    const auto dst = Place(kDst, std::vector<T>(4096, old));
    const uint64_t bits[2] = {0x11, 0};
    Duplicate(dst, value, bits, 2, 1, 16);
    Duplicate(dst[2048], value, 5, 3, 1, 8);
    const int lanes = 256 / sizeof(T);
    for (int i = 0; i < 4096; ++i) {
      const bool by_bits = i < 2048 && i / (2 * lanes) < 2 && (i % (2 * lanes) == 0 || i % (2 * lanes) == 4);
      const bool by_count = i >= 2048 && (i - 2048) / lanes < 3 && (i - 2048) % lanes < 5;
      REQUIRE(ascendc_test::SameBits(dst.Data()[i], by_bits || by_count ? value : old));
    }
  });
}

}  // namespace

TEST(duplicate_fills_in_every_type) {
  CheckDuplicate<int16_t>();
  CheckDuplicate<uint16_t>();
  CheckDuplicate<int32_t>();
  CheckDuplicate<uint32_t>();
  CheckDuplicate<half>();
  CheckDuplicate<bfloat16_t>();
  CheckDuplicate<float>();
}

TEST(nothing_is_written_for_a_count_a_mask_or_a_repeat_of_zero) {
  RunClean([] {
    const std::vector<float> old(128, 5.0f);
    const auto dst = Place(kDst, old);
    const auto src = Place(kSrc0, std::vector<float>(128, 1.0f));
    Add(dst, src, src, 0);
    Add(dst, src, src, uint64_t{0}, 2, BinaryRepeatParams());
    Add(dst, src, src, uint64_t{64}, 0, BinaryRepeatParams());
    Exp(dst, src, 0);
    Duplicate(dst, 1.0f, 0);
    CheckSame("dst", ValuesOf(dst, 128), old);
  });
}

TEST(a_repeat_stride_of_zero_accumulates) {
  RunClean([] {
    const auto sum = Place(kDst, std::vector<float>(64, 0.0f));
    std::vector<float> values(64 * 5);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    Add(sum, Place(kSrc0, values), sum, uint64_t{64}, 5, BinaryRepeatParams(1, 1, 1, 0, 8, 0));
    for (uint32_t i = 0; i < 64; ++i) REQUIRE_EQ(sum.Data()[i], static_cast<float>(5 * i + 64 * 10));
  });
}

TEST(the_mask_register_is_used_where_the_call_does_not_set_it) {
  RunClean([] {
    const auto dst = Place(kDst, std::vector<float>(256, 0.0f));
    const auto one = Place(kSrc0, std::vector<float>(256, 1.0f));
    SetVectorMask<float>(0, 0xff);
    Add<float, false>(dst, one, one, MASK_PLACEHOLDER, 1, BinaryRepeatParams());
    REQUIRE_EQ(dst.Data()[7], 2.0f);
    REQUIRE_EQ(dst.Data()[8], 0.0f);
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(0, 130);
    Muls<float, false>(dst, one, 3.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
    REQUIRE_EQ(dst.Data()[129], 3.0f);
    REQUIRE_EQ(dst.Data()[130], 0.0f);
    SetMaskNorm();
    ResetMask();
    Adds<float, false>(dst, one, 6.0f, MASK_PLACEHOLDER, 4, UnaryRepeatParams());
    REQUIRE_EQ(dst.Data()[255], 7.0f);
  });
}

TEST(counter_mode_touches_no_more_than_its_count) {
  RunClean([] {
    TPipe pipe;
    TBuf<TPosition::VECCALC> from;
    TBuf<TPosition::VECCALC> to;
    // 130 floats, two whole repeats and two elements.
    pipe.InitBuffer(from, 544);
    pipe.InitBuffer(to, 544);
    LocalTensor<float> src = from.Get<float>(130);
    LocalTensor<float> dst = to.Get<float>(130);
    Duplicate(src, 2.0f, 130);
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(0, 130);
    Muls<float, false>(dst, src, 3.0f, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
    CHECK_EQ(dst.Data()[129], 6.0f);
    const uint64_t mask[] = {130, 0};
    Adds(dst, src, 1.0f, mask, 1, UnaryRepeatParams());
    CHECK_EQ(dst.Data()[0], 3.0f);
    CHECK_EQ(dst.Data()[129], 3.0f);
    SetMaskNorm();
    ResetMask();
  });
}

TEST_MAIN()
