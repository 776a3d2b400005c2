// Copies between device memory and the UB: both forms, both parameter families, padding, gaps, atomics, and tensors large enough for
// streaming stores.
#include "harness.h"

using namespace AscendC;
using ascendc_test::CheckSame;
using ascendc_test::Device;
using ascendc_test::Numbers;
using ascendc_test::Outcome;
using ascendc_test::Place;
using ascendc_test::Settings;
using ascendc_test::ValuesOf;

namespace {

void CheckClean(const Outcome &outcome) { CHECK_EQ(outcome.Text(), ""); }

template <typename T>
std::vector<T> Values(const T *from, size_t count) {
  return std::vector<T>(from, from + count);
}

template <typename T>
GlobalTensor<T> Global(T *address, size_t count) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(address, count);
  return tensor;
}

// A row of DataCopyPad into the UB, as the format says it lies there.
template <typename T>
void CheckPadIn(uint32_t rows, uint32_t row, uint32_t source_gap, uint32_t block_gap, uint32_t left, uint32_t right, bool pads) {
  Numbers numbers(rows * 7 + row);
  const size_t source_step = row + source_gap;
  const std::vector<T> source = numbers.Many<T>((rows - 1) * source_step + row);
  const size_t per_block = 32 / sizeof(T);
  const size_t width = (left + row + right + per_block - 1) / per_block * per_block;
  const size_t step = width + block_gap * per_block;
  const T old = T(77), value = T(5);
  std::vector<T> expected(4096, old);
  for (size_t r = 0; r < rows; ++r) {
    const T filler = pads ? value : source[r * source_step];
    for (size_t i = 0; i < width; ++i) expected[r * step + i] = i >= left && i < left + row ? source[r * source_step + i - left] : filler;
  }
  for (const bool is_ext : {true, false}) {
    Device device;
    T *gm = device.Allocate("x", source);
    CheckClean(device.Run([&] {
      const auto dst = Place(0, std::vector<T>(4096, old));
      const auto bytes = static_cast<uint32_t>(row * sizeof(T));
      const auto gap = static_cast<uint32_t>(source_gap * sizeof(T));
      if (is_ext) {
        DataCopyPad(dst, Global(gm, source.size()), DataCopyExtParams{static_cast<uint16_t>(rows), bytes, gap, block_gap, 0},
                    DataCopyPadExtParams<T>{pads, static_cast<uint8_t>(left), static_cast<uint8_t>(right), value});
      } else {
        uint64_t raw = 0;
        std::memcpy(&raw, &value, sizeof(T));
        DataCopyPad(dst, Global(gm, source.size()),
                    DataCopyParams{static_cast<uint16_t>(rows), static_cast<uint16_t>(bytes), static_cast<uint16_t>(gap),
                                   static_cast<uint16_t>(block_gap)},
                    DataCopyPadParams{pads, static_cast<uint8_t>(left), static_cast<uint8_t>(right), raw});
      }
      CheckSame("DataCopyPad in", ValuesOf(dst, 4096), expected);
    }));
  }
}

template <typename T>
void CheckPadOut(uint32_t rows, uint32_t row, uint32_t block_gap, uint32_t destination_gap) {
  const std::vector<T> source = Numbers(row).Many<T>(4096);
  const size_t per_block = 32 / sizeof(T);
  const size_t source_step = (row + per_block - 1) / per_block * per_block + block_gap * per_block;
  const size_t step = row + destination_gap;
  std::vector<T> expected((rows - 1) * step + row, T(9));
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < row; ++i) expected[r * step + i] = source[r * source_step + i];
  }
  for (const bool is_ext : {true, false}) {
    Device device;
    T *gm = device.Allocate("z", std::vector<T>(expected.size(), T(9)));
    CheckClean(device.Run([&] {
      const auto src = Place(0, source);
      const auto bytes = static_cast<uint32_t>(row * sizeof(T));
      const auto gap = static_cast<uint32_t>(destination_gap * sizeof(T));
      if (is_ext) {
        DataCopyPad(Global(gm, expected.size()), src, DataCopyExtParams{static_cast<uint16_t>(rows), bytes, block_gap, gap, 0});
      } else {
        DataCopyPad(Global(gm, expected.size()), src,
                    DataCopyParams{static_cast<uint16_t>(rows), static_cast<uint16_t>(bytes), static_cast<uint16_t>(block_gap),
                                   static_cast<uint16_t>(gap)});
      }
    }));
    CheckSame("DataCopyPad out", Values(gm, expected.size()), expected);
  }
}

template <typename T>
void CheckPads() {
  for (const uint32_t row : {1u, 3u, 7u, 8u, 9u, 16u, 31u, 64u, 65u}) {
    CheckPadIn<T>(1, row, 0, 0, 0, 0, false);
    CheckPadIn<T>(3, row, 5, 2, 0, 0, false);
    CheckPadOut<T>(1, row, 0, 0);
    CheckPadOut<T>(4, row, 1, 3);
    if (sizeof(T) == 8) continue;
    CheckPadIn<T>(2, row, 0, 0, 2, 1, true);
    CheckPadIn<T>(3, row, 1, 1, 0, 3, true);
  }
}

}  // namespace

TEST(count_copies_move_whole_blocks) {
  for (const uint32_t count : {0u, 8u, 16u, 24u, 1024u, 4096u}) {
    const std::vector<float> source = Numbers(count).Many<float>(4096);
    Device device;
    float *x = device.Allocate("x", source);
    float *z = device.Allocate("z", std::vector<float>(4096, -1.0f));
    CheckClean(device.Run([&] {
      const auto tile = Place(64, std::vector<float>(8192, 3.0f));
      DataCopy(tile, Global(x, 4096), count);
      PipeBarrier<PIPE_ALL>();
      if (count != 0) CHECK_EQ(tile.GetValue(count - 1), source[count - 1]);
      CHECK_EQ(tile.GetValue(count), 3.0f);
      DataCopy(tile[4096], tile, count);
      PipeBarrier<PIPE_ALL>();
      DataCopy(Global(z, 4096), tile[4096], count);
    }));
    std::vector<float> expected(4096, -1.0f);
    std::copy_n(source.begin(), count, expected.begin());
    CheckSame("z", Values(z, 4096), expected);
  }
}

TEST(copies_by_blocks_keep_both_gaps) {
  const std::vector<int16_t> source = Numbers(1).Many<int16_t>(1024);
  Device device;
  int16_t *x = device.Allocate("x", source);
  int16_t *z = device.Allocate("z", std::vector<int16_t>(1024, int16_t{0}));
  CheckClean(device.Run([&] {
    const auto tile = Place(0, std::vector<int16_t>(4096, int16_t{-1}));
    DataCopy(tile, Global(x, 1024), DataCopyParams{3, 2, 1, 4});  // 32 elements, source step 48, destination step 96
    PipeBarrier<PIPE_ALL>();
    for (uint32_t r = 0; r < 3; ++r) {
      for (uint32_t i = 0; i < 96; ++i) {
        if (r == 2 && i >= 32) break;
        REQUIRE_EQ(tile.GetValue(r * 96 + i), i < 32 ? source[r * 48 + i] : int16_t{-1});
      }
    }
    DataCopy(tile[2048], tile, DataCopyParams{3, 2, 4, 0});
    PipeBarrier<PIPE_ALL>();
    DataCopy(Global(z, 1024), tile[2048], DataCopyParams{3, 2, 0, 2});
    DataCopy(Global(z, 1024), tile, DataCopyParams{0, 2, 0, 0});
  }));
  for (uint32_t i = 0; i < 1024; ++i) {
    const bool is_copied = i < 2 * 64 + 32 && i % 64 < 32;
    REQUIRE_EQ(z[i], is_copied ? source[i / 64 * 48 + i % 64] : 0);
  }
}

TEST(padded_copies_in_every_element_size) {
  CheckPads<int8_t>();
  CheckPads<half>();
  CheckPads<bfloat16_t>();
  CheckPads<float>();
  CheckPads<int32_t>();
  CheckPads<int64_t>();
}

TEST(a_padded_copy_reads_and_writes_at_any_byte_of_device_memory) {
  Device device;
  int8_t *x = device.Allocate("x", std::vector<int8_t>{1, 2, 3, 4, 5});
  int8_t *z = device.Allocate("z", std::vector<int8_t>(5, int8_t{0}));
  CheckClean(device.Run([&] {
    const auto tile = Place(0, std::vector<int8_t>(32, int8_t{0}));
    DataCopyPad(tile, Global(x, 5)[1], DataCopyExtParams{1, 3, 0, 0, 0}, DataCopyPadExtParams<int8_t>{false, 0, 0, 0});
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(Global(z, 5)[2], tile, DataCopyExtParams{1, 3, 0, 0, 0});
  }));
  CheckSame("z", Values(z, 5), std::vector<int8_t>{0, 0, 2, 3, 4});
}

TEST(the_bytes_of_an_unspecified_padding_are_no_plausible_values) {
  Device device;
  float *x = device.Allocate("x", std::vector<float>(4, 1.0f));
  CheckClean(device.Run([&] {
    const auto tile = Place(0, std::vector<float>(16, 0.0f));
    DataCopyPad(tile, Global(x, 4), DataCopyExtParams{1, 16, 0, 0, 0}, DataCopyPadExtParams<float>{false, 1, 2, 0});
    PipeBarrier<PIPE_ALL>();
    CHECK_EQ(tile.ReinterpretCast<uint32_t>().GetValue(0), 0xa5a5a5a5u);
    CHECK_EQ(tile.GetValue(1), 1.0f);
    CHECK_EQ(tile.ReinterpretCast<uint32_t>().GetValue(6), 0xa5a5a5a5u);
  }));
}

TEST(large_tensors_are_written_past_the_caches_with_every_head_and_tail) {
  constexpr size_t kCount = 3 << 20;
  const std::vector<int16_t> source = Numbers(5).Many<int16_t>(4096);
  Device device;
  int16_t *z = device.Allocate("z", std::vector<int16_t>(kCount, int16_t{0}));
  CheckClean(device.Run([&] {
    const auto tile = Place(0, source);
    for (uint32_t i = 0; i < 200; ++i) {
      DataCopyPad(Global(z, kCount)[i * 4100 + i], tile, DataCopyExtParams{1, static_cast<uint32_t>(8192 - 2 * i), 0, 0, 0});
    }
  }));
  for (uint32_t i = 0; i < 200; ++i) {
    const int16_t *begin = z + i * 4100 + i;
    REQUIRE(std::memcmp(begin, source.data(), 8192 - 2 * i) == 0);
    REQUIRE_EQ(begin[4096 - i], 0);
  }
}

TEST(atomic_copies_combine_what_all_blocks_write_from_all_threads) {
  Device device;
  float *sum = device.Allocate("sum", std::vector<float>(64, 1.0f));
  half *narrow = device.Allocate("narrow", std::vector<half>(64, half(0)));
  int32_t *most = device.Allocate("most", std::vector<int32_t>(64, 7));
  int8_t *least = device.Allocate("least", std::vector<int8_t>(64, int8_t{7}));
  Settings settings;
  settings.blocks = 500;
  settings.threads = 4;
  CheckClean(device.Run(
      [&] {
        const auto block = static_cast<int32_t>(GetBlockIdx());
        SetAtomicAdd<float>();
        DataCopy(Global(sum, 64), Place(0, std::vector<float>(64, 1.0f)), 64);
        SetAtomicAdd<half>();
        DataCopyPad(Global(narrow, 64), Place(0, std::vector<half>(64, half(1))), DataCopyExtParams{1, 126, 0, 0, 0});
        SetAtomicMax<int32_t>();
        DataCopy(Global(most, 64), Place(0, std::vector<int32_t>(64, block)), 64);
        SetAtomicMin<int8_t>();
        DataCopy(Global(least, 64), Place(0, std::vector<int8_t>(64, static_cast<int8_t>(-block % 100))), 64);
        SetAtomicNone();
      },
      settings));
  CHECK_EQ(sum[63], 501.0f);
  CHECK_EQ(static_cast<float>(narrow[62]), 500.0f);
  CHECK_EQ(static_cast<float>(narrow[63]), 0.0f);
  CHECK_EQ(most[63], 499);
  CHECK_EQ(least[63], -99);
}

TEST(device_memory_is_filled_and_read_by_element) {
  Device device;
  half *x = device.Allocate("x", std::vector<half>(9, half(2)));
  CheckClean(device.Run([&] {
    GlobalTensor<half> tensor = Global(x, 9);
    CHECK_EQ(tensor.GetSize(), 9);
    CHECK_EQ(tensor[4].GetSize(), 5);
    InitGlobalMemory(tensor, 8, half(1));
    tensor.SetValue(3, half(5));
    CHECK_EQ(static_cast<float>(tensor.GetValue(3) + tensor(8)), 7.0f);
    CHECK_EQ(tensor.ReinterpretCast<uint16_t>().GetValue(0), 0x3c00);
    CHECK(tensor.GetPhyAddr(2) == x + 2);
    DataCacheCleanAndInvalid<half, CacheLine::SINGLE_CACHE_LINE>(tensor);
  }));
}

TEST_MAIN()
