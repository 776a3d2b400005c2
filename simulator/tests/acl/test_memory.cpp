// Device memory: the ledger's exactness, guard pages' neighbours, what copies refuse, host memory.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "acl/runtime_internal.h"
#include "check.h"
#include "kernels.h"

using opkit_sim::rt::Allocation;
using opkit_sim::rt::FindAllocation;
using opkit_sim::rt::OutstandingAllocations;
using opkit_sim::rt::OutstandingBytes;
using opkit_sim::rt::Owner;
using opkit_test::Device;
using opkit_test::Memory;
using opkit_test::RecentError;
using opkit_test::Stream;

TEST(without_a_context_memory_is_refused) {
  void *ptr = nullptr;
  std::thread([&] {
    RecentError();
    CHECK_EQ(aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_CONTAINS(RecentError(), "call aclrtSetDevice");
    int32_t device = 7;
    CHECK_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(device, 7);
  }).join();
  CHECK(ptr == nullptr);
}

TEST(ledger_is_exact) {
  const Device device;
  CHECK_EQ(OutstandingAllocations(Owner::kUser), 0U);
  void *a = nullptr;
  void *b = nullptr;
  REQUIRE_EQ(aclrtMalloc(&a, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  REQUIRE_EQ(aclrtMalloc(&b, (size_t{5} << 20) + 3, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  CHECK_EQ(OutstandingAllocations(Owner::kUser), 2U);
  CHECK_EQ(OutstandingBytes(Owner::kUser), 100 + (size_t{5} << 20) + 3);
  CHECK_EQ(reinterpret_cast<uintptr_t>(a) % 512, 0U);
  CHECK_EQ(reinterpret_cast<uintptr_t>(b) % 512, 0U);
  Allocation found;
  REQUIRE(FindAllocation(static_cast<uint8_t *>(a) + 99, &found));
  CHECK(found.base == a);
  CHECK_EQ(found.bytes, 100U);
  CHECK(!FindAllocation(static_cast<uint8_t *>(a) + 100, &found));
  CHECK_EQ(aclrtFree(a), ACL_SUCCESS);
  CHECK_EQ(aclrtFree(b), ACL_SUCCESS);
  CHECK_EQ(OutstandingAllocations(Owner::kUser), 0U);
  CHECK_EQ(OutstandingBytes(Owner::kUser), 0U);
}

TEST(wrong_frees_say_what_is_wrong) {
  const Device device;
  void *ptr = nullptr;
  REQUIRE_EQ(aclrtMalloc(&ptr, 1000, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RecentError();
  CHECK_EQ(aclrtFree(static_cast<uint8_t *>(ptr) + 8), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "lies 8 bytes inside the allocation");
  CHECK_EQ(aclrtFree(ptr), ACL_SUCCESS);
  CHECK_EQ(aclrtFree(ptr), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "has been freed already");
  int local = 0;
  CHECK_EQ(aclrtFree(&local), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "is not device memory of this process");
  CHECK_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(wrong_mallocs_are_refused) {
  const Device device;
  void *ptr = &ptr;
  CHECK_EQ(aclrtMalloc(&ptr, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  CHECK(ptr == nullptr);
  CHECK_EQ(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  CHECK_EQ(aclrtMalloc(&ptr, size_t{1} << 50, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  CHECK_EQ(aclrtMalloc(&ptr, SIZE_MAX - 10, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  CHECK_EQ(OutstandingAllocations(Owner::kUser), 0U);
}

TEST(copies_round_trip_at_every_size_and_offset) {
  const Device device;
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{4096}, (size_t{2} << 20) - 1, (size_t{2} << 20) + 77, (size_t{9} << 20) + 5}) {
    std::vector<uint8_t> host(bytes + 3);
    for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<uint8_t>(i * 31 + (i >> 8));
    const Memory<uint8_t> a(bytes + 1);
    const Memory<uint8_t> b(bytes + 1);
    REQUIRE_EQ(aclrtMemcpy(a.Get() + 1, bytes, host.data() + 3, bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    REQUIRE_EQ(aclrtMemcpy(b.Get(), bytes, a.Get() + 1, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    std::vector<uint8_t> back(bytes);
    REQUIRE_EQ(aclrtMemcpy(back.data(), bytes, b.Get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    CHECK(std::memcmp(back.data(), host.data() + 3, bytes) == 0);
    REQUIRE_EQ(aclrtMemset(b.Get(), bytes, 0x5A, bytes), ACL_SUCCESS);
    CHECK_EQ(b.Read()[bytes - 1], 0x5A);
  }
}

TEST(overlapping_copies_keep_the_source) {
  const Device device;
  const size_t count = size_t{3} << 20;
  std::vector<uint32_t> host(count);
  std::iota(host.begin(), host.end(), 0U);
  const Memory<uint32_t> memory(host);
  REQUIRE_EQ(aclrtMemcpy(memory.Get() + 10, (count - 10) * 4, memory.Get(), (count - 10) * 4, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  const std::vector<uint32_t> moved = memory.Read();
  CHECK_EQ(moved[10], 0U);
  CHECK_EQ(moved[count - 1], static_cast<uint32_t>(count - 11));
}

TEST(a_copy_beyond_an_allocation_is_refused) {
  const Device device;
  const Stream stream;
  const Memory<uint8_t> memory(100);
  std::vector<uint8_t> host(200, 1);
  RecentError();
  CHECK_EQ(aclrtMemcpy(memory.Get(), 200, host.data(), 101, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "dst is bytes [0, 101) of an allocation of 100 bytes: 1 bytes too many");
  CHECK_EQ(aclrtMemcpy(host.data(), 200, memory.Get() + 60, 41, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_EQ(aclrtMemcpyAsync(memory.Get(), 200, host.data(), 101, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_EQ(aclrtMemset(memory.Get(), 200, 0, 101), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_EQ(aclrtMemsetAsync(memory.Get(), 200, 0, 101, stream.handle), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_EQ(aclrtMemcpy(memory.Get(), 10, host.data(), 11, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
}

TEST(a_copy_in_the_wrong_direction_is_refused) {
  const Device device;
  const Memory<uint8_t> memory(64);
  uint8_t host[64] = {};
  uint8_t other[64] = {};
  RecentError();
  CHECK_EQ(aclrtMemcpy(host, 64, memory.Get(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "which is not device memory");
  CHECK_EQ(aclrtMemcpy(memory.Get(), 64, host, 64, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_EQ(aclrtMemcpy(host, 64, memory.Get(), 64, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_EQ(aclrtMemcpy(memory.Get(), 64, host, 64, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  CHECK_EQ(aclrtMemcpy(other, 64, host, 64, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
  CHECK_EQ(aclrtMemcpy(nullptr, 64, memory.Get(), 64, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_INVALID_PARAM);
  CHECK_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
}

TEST(memory_freed_before_an_asynchronous_copy_ran_fails_the_stream) {
  const Device device;
  const Stream stream;
  struct Gate {
    std::atomic<bool> is_open{false};
  } gate;
  const aclrtHostFunc wait = [](void *self) {
    while (!static_cast<Gate *>(self)->is_open.load()) {
    }
  };
  REQUIRE_EQ(aclrtLaunchHostFunc(stream.handle, wait, &gate), ACL_SUCCESS);
  uint8_t host[64] = {};
  {
    const Memory<uint8_t> memory(64);
    REQUIRE_EQ(aclrtMemcpyAsync(memory.Get(), 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle), ACL_SUCCESS);
  }
  gate.is_open = true;
  RecentError();
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_DEVICE_MEM_ERROR);
  CHECK_CONTAINS(RecentError(), "device memory that has been freed");
}

TEST(a_write_past_the_end_is_found_when_the_memory_is_freed) {
  // A sanitizer build stops at the write itself.
  if (std::string(OPKIT_TEST_SANITIZE).find("address") != std::string::npos) return;
  const Device device;
  void *ptr = nullptr;
  REQUIRE_EQ(aclrtMalloc(&ptr, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  static_cast<volatile uint8_t *>(ptr)[103] = 0;
  RecentError();
  CHECK_EQ(aclrtFree(ptr), ACL_SUCCESS);
  CHECK_CONTAINS(RecentError(), "was written past its end, first at byte 103");
}

TEST(host_memory_is_accounted_for) {
  const Device device;
  void *ptr = nullptr;
  REQUIRE_EQ(aclrtMallocHost(&ptr, 1000), ACL_SUCCESS);
  aclrtPtrAttributes attributes;
  REQUIRE_EQ(aclrtPointerGetAttributes(ptr, &attributes), ACL_SUCCESS);
  CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  CHECK_EQ(aclrtFree(ptr), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_EQ(aclrtFreeHost(ptr), ACL_SUCCESS);
  CHECK_EQ(aclrtFreeHost(ptr), ACL_ERROR_RT_PARAM_INVALID);
  const Memory<uint8_t> memory(10);
  REQUIRE_EQ(aclrtPointerGetAttributes(memory.Get(), &attributes), ACL_SUCCESS);
  CHECK_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
}

TEST(memory_of_the_graph_engine_is_its_own) {
  const Device device;
  void *ptr = nullptr;
  REQUIRE_EQ(opkit_sim::rt::DeviceMalloc(64, Owner::kGraph, &ptr), ACL_SUCCESS);
  CHECK_EQ(OutstandingAllocations(Owner::kUser), 0U);
  CHECK_EQ(OutstandingAllocations(Owner::kGraph), 1U);
  RecentError();
  CHECK_EQ(aclrtFree(ptr), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "belongs to the graph engine");
  CHECK_EQ(opkit_sim::rt::DeviceFree(ptr), ACL_SUCCESS);
  CHECK_EQ(OutstandingAllocations(Owner::kGraph), 0U);
}

TEST(memory_info_follows_the_ledger) {
  const Device device;
  size_t before = 0;
  size_t total = 0;
  REQUIRE_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), ACL_SUCCESS);
  const Memory<uint8_t> memory(size_t{1} << 20);
  size_t after = 0;
  REQUIRE_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), ACL_SUCCESS);
  CHECK_EQ(before - after, size_t{1} << 20);
  CHECK(total >= before);
}

TEST(many_threads_allocate_and_free) {
  const Device device;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (int i = 1; i < 200; ++i) {
        const std::vector<uint8_t> host(static_cast<size_t>(i * 37 + t), static_cast<uint8_t>(i));
        const Memory<uint8_t> memory(host);
        CHECK(memory.Read() == host);
      }
      CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK_EQ(OutstandingAllocations(Owner::kUser), 0U);
}

TEST(conversions_of_half_precision_are_exact) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<aclFloat16>(bits);
    const float value = aclFloat16ToFloat(half);
    if (value != value) {
      CHECK(((half & 0x7C00U) == 0x7C00U) && (half & 0x3FFU) != 0);
      continue;
    }
    if (!opkit_test::IsEqual(aclFloatToFloat16(value), half)) CHECK_EQ(aclFloatToFloat16(value), half);
  }
  CHECK_EQ(aclFloatToFloat16(1.0F), 0x3C00);
  CHECK_EQ(aclFloatToFloat16(65519.0F), 0x7BFF);
  CHECK_EQ(aclFloatToFloat16(65520.0F), 0x7C00);
  CHECK_EQ(aclFloatToFloat16(1.0F + 0x1p-11F), 0x3C00);
  CHECK_EQ(aclFloatToFloat16(1.0F + 3 * 0x1p-11F), 0x3C02);
  CHECK_EQ(aclFloatToFloat16(0x1p-25F), 0);
  CHECK_EQ(aclDataTypeSize(ACL_BF16), 2U);
  CHECK_EQ(aclDataTypeSize(ACL_INT4), 0U);
}

TEST_MAIN()
