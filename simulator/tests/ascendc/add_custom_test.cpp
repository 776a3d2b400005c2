// The kernel that ships with opkit, from its own source, over sizes around its tile, types, tile lengths and numbers of blocks.
#include "harness.h"

// One source, several variants in one program: the entry is renamed, the rest is told apart by namespace.
#define add_custom add_float
namespace add_float_variant {
#include "../../../kernels/add_custom.asc"
}
#undef add_custom
#undef BLOCK_SIZE
#undef DTYPE_X
#define add_custom add_half
#define DTYPE_X half
namespace add_half_variant {
#include "../../../kernels/add_custom.asc"
}
#undef add_custom
#undef BLOCK_SIZE
#undef DTYPE_X
#define add_custom add_int32
#define DTYPE_X int32_t
namespace add_int32_variant {
#include "../../../kernels/add_custom.asc"
}
#undef add_custom
#undef BLOCK_SIZE
#undef DTYPE_X
#define add_custom add_half_small
#define DTYPE_X half
#define BLOCK_SIZE 16
namespace add_half_small_variant {
#include "../../../kernels/add_custom.asc"
}
#undef add_custom
#undef BLOCK_SIZE
#undef DTYPE_X
#define add_custom add_float_large
#define DTYPE_X float
#define BLOCK_SIZE 8192
namespace add_float_large_variant {
#include "../../../kernels/add_custom.asc"
}
#undef add_custom

using add_float_large_variant::add_float_large;
using add_float_variant::add_float;
using add_half_small_variant::add_half_small;
using add_half_variant::add_half;
using add_int32_variant::add_int32;
using ascendc_test::Device;
using ascendc_test::Numbers;
using ascendc_test::Outcome;
using ascendc_test::Settings;

namespace {

using Entry = void (*)(GM_ADDR, GM_ADDR, GM_ADDR, int64_t);

template <typename T>
T Sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  else
    return T(static_cast<float>(a) + static_cast<float>(b));
}

template <typename T>
void CheckAdd(Entry entry, size_t length, uint32_t blocks, uint32_t threads) {
  Numbers numbers(length + blocks);
  const std::vector<T> x = numbers.Many<T>(length), y = numbers.Many<T>(length);
  std::vector<T> expected(length);
  for (size_t i = 0; i < length; ++i) expected[i] = Sum(x[i], y[i]);
  Device device;
  T *x_gm = device.Allocate("x", x), *y_gm = device.Allocate("y", y);
  T *z_gm = device.Allocate("z", std::vector<T>(length, T(-7)));
  Settings settings;
  settings.blocks = blocks;
  settings.threads = threads;
  settings.strict = true;
  const Outcome outcome = device.Run(
      [&] {
        entry(reinterpret_cast<uint8_t *>(x_gm), reinterpret_cast<uint8_t *>(y_gm), reinterpret_cast<uint8_t *>(z_gm),
              static_cast<int64_t>(length));
      },
      settings);
  CHECK_EQ(outcome.Text(), "");
  CHECK_EQ(outcome.abandoned, 0);
  ascendc_test::CheckSame(("z of length " + std::to_string(length)).c_str(), std::vector<T>(z_gm, z_gm + length), expected);
}

template <typename T>
void CheckSizes(Entry entry, size_t tile) {
  for (const size_t length : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{9}, tile - 1, tile, tile + 1, 2 * tile - 1,
                              65535 * tile / 1024, 64 * tile + 1}) {
    const auto tiles = static_cast<uint32_t>((length + tile - 1) / tile);
    for (const uint32_t blocks : {1u, 3u, 16u, std::max(1u, tiles), tiles + 5}) CheckAdd<T>(entry, length, blocks, 1);
    CheckAdd<T>(entry, length, std::max(1u, tiles), 4);
  }
}

}  // namespace

TEST(add_of_float) { CheckSizes<float>(&add_float, 1024); }
TEST(add_of_half) { CheckSizes<half>(&add_half, 1024); }
TEST(add_of_int32) { CheckSizes<int32_t>(&add_int32, 1024); }
TEST(add_with_the_smallest_tile) { CheckSizes<half>(&add_half_small, 16); }
TEST(add_with_a_large_tile) { CheckSizes<float>(&add_float_large, 8192); }

TEST(add_of_more_tiles_than_a_launch_has_blocks) { CheckAdd<half>(&add_half_small, 16 * 65535 * 2 + 3, 65535, 2); }

TEST(a_length_that_the_tensors_lack_is_found_in_the_kernels_own_line) {
  Device device;
  float *x = device.Allocate("x", std::vector<float>(1000)), *y = device.Allocate("y", std::vector<float>(1000));
  float *z = device.Allocate("z", std::vector<float>(1000));
  const Outcome outcome =
      device.Run([&] { add_float(reinterpret_cast<uint8_t *>(x), reinterpret_cast<uint8_t *>(y), reinterpret_cast<uint8_t *>(z), 1024); });
  CHECK_EQ(outcome.abandoned, 1);
  REQUIRE_EQ(outcome.findings.size(), 1);
  CHECK_EQ(outcome.findings[0].rule, "GM-OOB");
  CHECK_CONTAINS(outcome.findings[0].file, "kernels/add_custom.asc");
  CHECK_CONTAINS(outcome.findings[0].message, "bytes 0..4095 of 'x', 96 bytes past its 4000");
}

TEST_MAIN()
