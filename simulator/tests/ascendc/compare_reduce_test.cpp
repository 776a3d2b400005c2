// Compare, Select and the reductions against scalar loops; sums against the tree that the device adds by.
#include "harness.h"

using namespace AscendC;
using ascendc_test::CheckSame;
using ascendc_test::ExpectError;
using ascendc_test::ExpectWarning;
using ascendc_test::Numbers;
using ascendc_test::Place;
using ascendc_test::RunClean;
using ascendc_test::ValuesOf;

namespace {

constexpr uint32_t kDst = 0, kSrc0 = 32768, kSrc1 = 65536, kBits = 98304, kWork = 131072;
constexpr CMPMODE kModes[] = {CMPMODE::LT, CMPMODE::GT, CMPMODE::EQ, CMPMODE::LE, CMPMODE::GE, CMPMODE::NE};

bool Holds(CMPMODE mode, double a, double b) {
  const bool less = a < b, equal = a == b;
  switch (mode) {
    case CMPMODE::LT:
      return less;
    case CMPMODE::GT:
      return !less && !equal;
    case CMPMODE::EQ:
      return equal;
    case CMPMODE::LE:
      return less || equal;
    case CMPMODE::GE:
      return !less;
    case CMPMODE::NE:
      return !equal;
  }
  return false;
}

template <typename T>
double Number(T value) {
  if constexpr (std::is_integral_v<T>)
    return value;
  else
    return static_cast<float>(value);
}

template <typename T>
void CheckCompare(const std::vector<CMPMODE> &modes) {
  Numbers numbers(11);
  std::vector<T> a = numbers.Many<T>(1024), b = numbers.Many<T>(1024);
  for (size_t i = 0; i < a.size(); i += 3) b[i] = a[i];
  const uint32_t lanes = 256 / sizeof(T);
  for (const CMPMODE mode : modes) {
    for (const uint32_t count : {lanes, 2 * lanes, 1024u}) {
      RunClean([&] {
        const auto dst = Place(kDst, std::vector<uint8_t>(256, 0xee));
        const auto src0 = Place(kSrc0, a), src1 = Place(kSrc1, b);
        auto check = [&](const char *name, auto second) {
          std::vector<uint8_t> expected(256, 0xee);
          for (uint32_t i = 0; i < count; ++i) {
            if (i % 8 == 0) expected[i / 8] = 0;
            if (Holds(mode, Number(a[i]), second(i))) expected[i / 8] = static_cast<uint8_t>(expected[i / 8] | 1u << i % 8);
          }
          CheckSame(name, ValuesOf(dst, 256), expected);
          Place(kDst, std::vector<uint8_t>(256, 0xee));
        };
        Compare(dst, src0, src1, mode, count);
        check("Compare", [&](uint32_t i) { return Number(b[i]); });
        CompareScalar(dst, src0, a[3], mode, count);
        check("CompareScalar", [&](uint32_t) { return Number(a[3]); });
        Compares(dst, src0, a[3], mode, count);
        check("Compares", [&](uint32_t) { return Number(a[3]); });
        Compare(dst, src0, src1, mode, uint64_t{lanes}, count / lanes, BinaryRepeatParams());
        check("Compare by repeats", [&](uint32_t i) { return Number(b[i]); });
        Compare(dst, src0, src1, mode, uint64_t{lanes}, count / lanes, BinaryRepeatParams(1, 1, 1, 8, 8, 0));
        check("Compare with one row", [&](uint32_t i) { return Number(b[i % lanes]); });
        CompareScalar(dst, src0, a[3], mode, uint64_t{lanes}, count / lanes, UnaryRepeatParams());
        check("CompareScalar by repeats", [&](uint32_t) { return Number(a[3]); });
      });
    }
  }
}

template <typename T, typename U>
void CheckSelect() {
  Numbers numbers(23);
  const std::vector<T> a = numbers.Many<T>(1024), b = numbers.Many<T>(1024), old = numbers.Many<T>(1024);
  const std::vector<uint8_t> mask = numbers.Many<uint8_t>(128);
  auto bit = [&](size_t i) { return (mask[i / 8] >> i % 8 & 1) != 0; };
  const size_t lanes = 256 / sizeof(T);
  for (const uint32_t count : {1u, 9u, 64u, 65u, 200u, 1000u}) {
    RunClean([&] {
      Place(kBits, mask);
      const auto dst = Place(kDst, old);
      const auto sel = LocalTensor<uint8_t>(TPosition::VECCALC, kBits, 128).template ReinterpretCast<U>();
      const auto src0 = Place(kSrc0, a), src1 = Place(kSrc1, b);
      auto check = [&](const char *name, auto expected_at) {
        std::vector<T> expected = old;
        for (size_t i = 0; i < count; ++i) expected[i] = expected_at(i);
        CheckSame(name, ValuesOf(dst, old.size()), expected);
        Place(kDst, old);
      };
      Select(dst, sel, src0, src1, SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
      check("tensor and tensor", [&](size_t i) { return bit(i) ? a[i] : b[i]; });
      Select(dst, sel, src0, b[0], SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
      check("tensor and scalar", [&](size_t i) { return bit(i) ? a[i] : b[0]; });
      Select(dst, sel, src0, src1, SELMODE::VSEL_CMPMASK_SPR, count);
      check("the same mask in every repeat", [&](size_t i) { return bit(i % lanes) ? a[i] : b[i]; });
    });
  }
  RunClean([&] {
    Place(kBits, mask);
    const auto dst = Place(kDst, old);
    const auto sel = LocalTensor<uint8_t>(TPosition::VECCALC, kBits, 128).template ReinterpretCast<U>();
    const auto src0 = Place(kSrc0, a), src1 = Place(kSrc1, b);
    const BinaryRepeatParams walk(1, 1, 1, 9, 8, 0);
    auto check = [&](const char *name, uint64_t masked, auto expected_at) {
      std::vector<T> expected = old;
      for (size_t r = 0; r < 3; ++r) {
        for (size_t i = 0; i < masked; ++i) expected[r * 9 * 32 / sizeof(T) + i] = expected_at(r, i);
      }
      CheckSame(name, ValuesOf(dst, old.size()), expected);
      Place(kDst, old);
    };
    Select(dst, sel, src0, src1, SELMODE::VSEL_TENSOR_TENSOR_MODE, uint64_t{lanes - 5}, 3, walk);
    check("tensor by repeats", lanes - 5, [&](size_t r, size_t i) { return bit(r * lanes + i) ? a[r * lanes + i] : b[i]; });
    Select(dst, sel, src0, b[0], SELMODE::VSEL_TENSOR_SCALAR_MODE, uint64_t{lanes}, 3, walk);
    check("scalar by repeats", lanes, [&](size_t r, size_t i) { return bit(r * lanes + i) ? a[r * lanes + i] : b[0]; });
    Select(dst, sel, src0, src1, SELMODE::VSEL_CMPMASK_SPR, uint64_t{lanes}, 3, walk);
    check("one mask by repeats", lanes, [&](size_t r, size_t i) { return bit(i) ? a[r * lanes + i] : b[i]; });
  });
}

// The tree in recursion: neighbours first, rounded to T at every node.
template <typename T>
T TreeSum(const std::vector<T> &values, size_t begin, size_t size) {
  if (size == 1) return begin < values.size() ? values[begin] : T(0);
  const T left = TreeSum(values, begin, size / 2), right = TreeSum(values, begin + size / 2, size / 2);
  return T(static_cast<float>(left) + static_cast<float>(right));
}

template <typename T>
T DeviceSum(std::vector<T> values) {
  const size_t lanes = 256 / sizeof(T);
  do {
    std::vector<T> next;
    for (size_t begin = 0; begin < values.size(); begin += lanes) {
      const std::vector<T> repeat(values.begin() + static_cast<long>(begin),
                                  values.begin() + static_cast<long>(std::min(begin + lanes, values.size())));
      next.push_back(TreeSum(repeat, 0, lanes));
    }
    values = next;
  } while (values.size() > 1);
  return values[0];
}

template <typename T>
void CheckReductions() {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  Numbers numbers(31);
  for (const uint32_t count : {1u, 7u, 8u, 63u, 64u, 65u, 127u, 128u, 129u, 500u, 1000u, 8200u}) {
    std::vector<T> values = numbers.Many<T>(count);
    if (count > 70) values[70] = values[count / 2];
    size_t most = 0, least = 0;
    for (size_t i = 1; i < count; ++i) {
      if (static_cast<float>(values[i]) > static_cast<float>(values[most])) most = i;
      if (static_cast<float>(values[i]) < static_cast<float>(values[least])) least = i;
    }
    RunClean([&] {
      const auto dst = Place(kDst, std::vector<T>(64, T(0)));
      const auto src = Place(kSrc0, values);
      const LocalTensor<T> work(TPosition::VECCALC, kWork, 2048);
      ReduceSum(dst, src, work, count);
      REQUIRE(ascendc_test::SameBits(dst.Data()[0], DeviceSum(values)));
      REQUIRE(ascendc_test::SameBits(dst.Data()[1], T(0)));
      ReduceMax(dst, src, work, count);
      REQUIRE(ascendc_test::SameBits(dst.Data()[0], values[most]));
      REQUIRE(ascendc_test::SameBits(dst.Data()[1], T(0)));
      ReduceMax(dst, src, work, count, true);
      PipeBarrier<PIPE_ALL>();
      REQUIRE_EQ(dst.template ReinterpretCast<Bits>().GetValue(1), most);
      ReduceMin(dst, src, work, count, true);
      PipeBarrier<PIPE_ALL>();
      REQUIRE(ascendc_test::SameBits(dst.GetValue(0), values[least]));
      REQUIRE_EQ(dst.template ReinterpretCast<Bits>().GetValue(1), least);
    });
  }
}

}  // namespace

TEST(compare_in_all_modes_and_forms) {
  const std::vector<CMPMODE> all(std::begin(kModes), std::end(kModes));
  CheckCompare<half>(all);
  CheckCompare<float>(all);
  CheckCompare<int32_t>({CMPMODE::EQ});
}

TEST(compare_of_nan_is_only_unequal) {
  RunClean([] {
    const auto dst = Place(kDst, std::vector<uint8_t>(32));
    const auto nan = Place(kSrc0, std::vector<float>(64, std::nanf("")));
    for (const CMPMODE mode : kModes) {
      Compare(dst, nan, nan, mode, 64);
      CHECK_EQ(dst.Data()[0], mode == CMPMODE::NE ? 0xff : 0);
    }
  });
}

TEST(compare_computes_the_tail_that_a_device_would_not_and_says_so) {
  ExpectWarning("CMP-256B", __LINE__ + 4, "100 elements are 400 bytes, no multiple of 256: a device leaves the last 36 elements undone",
                [] {
                  const auto dst = Place(kDst, std::vector<uint8_t>(32, 0));
                  const auto src = Place(kSrc0, std::vector<float>(128, 1.0f));
                  Compare(dst, src, src, CMPMODE::EQ, 100);
                  CHECK_EQ(dst.Data()[12], 0x0f);
                });
}

TEST(compare_of_int32_has_only_eq) {
  ExpectError("CAST-MODE", __LINE__ + 3, "int32_t has only EQ", [] {
    const auto dst = Place(kDst, std::vector<uint8_t>(32, 0));
    const auto src = Place(kSrc0, std::vector<int32_t>(64));
    CompareScalar(dst, src, 1, CMPMODE::LT, 64);
  });
}

TEST(select_in_all_modes_and_forms) {
  CheckSelect<half, uint8_t>();
  CheckSelect<float, uint8_t>();
  CheckSelect<float, uint16_t>();
  CheckSelect<half, uint64_t>();
}

TEST(select_of_a_tensor_needs_a_tensor_mode) {
  ExpectError("CAST-MODE", __LINE__ + 3, "a tensor second source needs VSEL_CMPMASK_SPR or VSEL_TENSOR_TENSOR_MODE", [] {
    const auto dst = Place(kDst, std::vector<float>(64));
    const auto bits = Place(kBits, std::vector<uint8_t>(32, 0xff));
    Select(dst, bits, dst, dst, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
  });
}

TEST(select_warns_where_buffers_take_the_bytes_that_it_needs_for_itself) {
  ExpectWarning("UB-SIZE", __LINE__ + 5, "uses the last 8192 bytes of the UB", [] {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 190000);
    const LocalTensor<float> dst = buffer.Get<float>();
    Select(dst, buffer.GetWithOffset<uint8_t>(32, 1024), dst, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
  });
}

TEST(reductions_by_count) {
  CheckReductions<half>();
  CheckReductions<float>();
}

TEST(a_sum_of_halves_overflows_where_the_tree_does) {
  RunClean([] {
    const auto dst = Place(kDst, std::vector<half>(16));
    const LocalTensor<half> work(TPosition::VECCALC, kWork, 128);
    ReduceSum(dst, Place(kSrc0, std::vector<half>{half(60000), half(60000), half(-60000), half(-60000)}), work, 4);
    const auto first = static_cast<float>(dst.Data()[0]);
    CHECK(first != first);  // inf - inf
    ReduceSum(dst, Place(kSrc0, std::vector<half>{half(60000), half(-60000), half(60000), half(-60000)}), work, 4);
    CHECK_EQ(static_cast<float>(dst.Data()[0]), 0.0f);
  });
}

TEST(reductions_by_mask_and_repeat) {
  RunClean([] {
    std::vector<float> values(1024);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37) % 1000);
    const auto dst = Place(kDst, std::vector<float>(16));
    const auto src = Place(kSrc0, values);
    const LocalTensor<float> work(TPosition::VECCALC, kWork, 256);
    ReduceSum(dst, src, work, uint64_t{10}, 4, 9);
    float sum = 0;
    for (size_t r = 0; r < 4; ++r) {
      for (size_t i = 0; i < 10; ++i) sum += values[r * 72 + i];
    }
    CHECK_EQ(dst.Data()[0], sum);  // small whole numbers: exact in any order
    const uint64_t bits[2] = {0x8000000000000001u, 0};
    ReduceSum(dst, src, work, bits, 2, 8);
    CHECK_EQ(dst.Data()[0], values[0] + values[63] + values[64] + values[127]);
    ReduceMax(dst, src, work, uint64_t{64}, 3, 8, true);
    size_t most = 0;
    for (size_t i = 0; i < 192; ++i) most = values[i] > values[most] ? i : most;
    CHECK_EQ(dst.Data()[0], values[most]);
    CHECK_EQ(dst.ReinterpretCast<uint32_t>().Data()[1], most);
    ReduceMin(dst, src, work, bits, 2, 8, false);
    CHECK_EQ(dst.Data()[0], std::min(std::min(values[0], values[63]), std::min(values[64], values[127])));
  });
}

TEST(a_work_tensor_that_is_too_small_is_reported_and_the_sum_is_right) {
  ExpectWarning("REDUCE-TMP", __LINE__ + 4, "the work tensor has 8 bytes, but the results of all repeats take 16", [] {
    const auto dst = Place(kDst, std::vector<float>(16));
    const auto src = Place(kSrc0, std::vector<float>(256, 1.0f));
    const LocalTensor<float> work(TPosition::VECCALC, kWork, 2);
    ReduceSum(dst, src, work, 256);
    CHECK_EQ(dst.Data()[0], 256.0f);
  });
}

TEST(raw_sums_follow_the_mask_register) {
  RunClean([] {
    const auto dst = Place(kDst, std::vector<float>(16, -1.0f));
    std::vector<float> values(256);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const auto src = Place(kSrc0, values);
    AscendCUtils::SetMask<float>(10);
    vcadd((__ubuf__ float *)dst.GetPhyAddr(), (__ubuf__ float *)src.GetPhyAddr(), 3, 2, 1, 8, false);
    CHECK_EQ(dst.Data()[0], 45.0f);
    CHECK_EQ(dst.Data()[1], -1.0f);
    CHECK_EQ(dst.Data()[4], 45.0f + 1280.0f);
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(0, 130);
    vcadd(dst.GetPhyAddr(), src.GetPhyAddr(), 1, 1, 1, 8);
    CHECK_EQ(dst.Data()[2], 128.0f + 129.0f);
    SetMaskNorm();
    ResetMask();
    vcadd(static_cast<__ubuf__ float *>(nullptr), src.GetPhyAddr(), 2, 1, 1, 8, true);
    const auto bits = static_cast<uint32_t>(get_acc_val());
    CHECK_EQ(opkit_sim::ascendc::FloatOf(bits), 127.0f * 64.0f);
  });
}

TEST(counter_mode_reduces_no_more_than_its_count) {
  RunClean([] {
    TPipe pipe;
    TBuf<TPosition::VECCALC> from;
    TBuf<TPosition::VECCALC> results;
    TBuf<TPosition::VECCALC> partials;
    pipe.InitBuffer(from, 544);
    pipe.InitBuffer(results, 64);
    pipe.InitBuffer(partials, 64);
    LocalTensor<float> src = from.Get<float>(130);
    LocalTensor<float> dst = results.Get<float>();
    LocalTensor<float> work = partials.Get<float>();
    Duplicate(src, 1.0f, 130);
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(0, 130);
    vcadd(dst.GetPhyAddr(), src.GetPhyAddr(), 1, 1, 1, 8);
    CHECK_EQ(dst.Data()[1], 64.0f);
    CHECK_EQ(dst.Data()[2], 2.0f);
    const uint64_t mask[] = {130, 0};
    ReduceSum(dst, src, work, mask, 1, 8);
    CHECK_EQ(dst.Data()[0], 130.0f);
    SetMaskNorm();
    ResetMask();
  });
}

TEST_MAIN()
