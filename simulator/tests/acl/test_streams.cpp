// Devices, contexts, streams and events: order, waiting, time, and handles that are gone.
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/event.h"
#include "acl/runtime_internal.h"
#include "check.h"
#include "kernels.h"

using opkit_test::Device;
using opkit_test::Memory;
using opkit_test::RecentError;
using opkit_test::Stream;

namespace {

struct Gate {
  std::atomic<bool> is_open{false};
  static void Wait(void *self) {
    while (!static_cast<Gate *>(self)->is_open.load()) std::this_thread::yield();
  }
};

struct Log {
  std::vector<int> *order;
  int value;
  static void Add(void *self) {
    const Log &log = *static_cast<Log *>(self);
    log.order->push_back(log.value);
  }
};

}  // namespace

TEST(the_simulated_chip_answers_for_itself) {
  const Device device;
  int64_t value = 0;
  REQUIRE_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, &value), ACL_SUCCESS);
  CHECK_EQ(value, 2201);
  REQUIRE_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &value), ACL_SUCCESS);
  CHECK_EQ(value, 40);
  REQUIRE_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &value), ACL_SUCCESS);
  CHECK_EQ(value, 20);
  REQUIRE_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE, &value), ACL_SUCCESS);
  CHECK_EQ(value, 192 * 1024);
  CHECK_EQ(aclrtGetDeviceInfo(1, ACL_DEV_ATTR_NPU_ARCH, &value), ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK_EQ(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(999), &value), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_EQ(std::string(aclrtGetSocName()), "Ascend910B3");
  uint32_t count = 0;
  REQUIRE_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  CHECK_EQ(count, 1U);
  aclrtRunMode mode = ACL_DEVICE;
  REQUIRE_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS);
  CHECK_EQ(mode, ACL_HOST);
  CHECK_EQ(aclrtSetDevice(5), ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST(init_and_finalize_pair) {
  CHECK_EQ(aclFinalize(), ACL_ERROR_UNINITIALIZE);
  CHECK_EQ(aclInit(nullptr), ACL_SUCCESS);
  CHECK_EQ(aclInit(""), ACL_ERROR_REPEAT_INITIALIZE);
  CHECK_EQ(aclFinalize(), ACL_SUCCESS);
  CHECK_EQ(aclFinalize(), ACL_ERROR_UNINITIALIZE);
  CHECK_EQ(aclInit("/no/such/acl.json"), ACL_ERROR_INVALID_FILE);
}

TEST(recent_text_is_given_once_and_per_thread) {
  RecentError();
  CHECK(aclGetRecentErrMsg() == nullptr);
  CHECK_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  std::thread([] { CHECK(aclGetRecentErrMsg() == nullptr); }).join();
  CHECK_CONTAINS(RecentError(), "[100000] aclrtFree: devPtr must not be null");
  CHECK(aclGetRecentErrMsg() == nullptr);
  CHECK_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
  CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
  CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST(a_context_belongs_to_a_thread) {
  const Device device;
  aclrtContext context = nullptr;
  REQUIRE_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::thread([context] {
    aclrtContext mine = nullptr;
    CHECK_EQ(aclrtGetCurrentContext(&mine), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
    CHECK_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    int32_t id = -1;
    CHECK_EQ(aclrtGetDevice(&id), ACL_SUCCESS);
    CHECK_EQ(id, 0);
    CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  }).join();
  aclrtContext own = nullptr;
  REQUIRE_EQ(aclrtCreateContext(&own, 0), ACL_SUCCESS);
  CHECK_EQ(aclrtDestroyContext(own), ACL_SUCCESS);
  CHECK_EQ(aclrtSetCurrentContext(own), ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_EQ(aclrtGetCurrentContext(&own), ACL_ERROR_RT_CONTEXT_NULL);
  CHECK_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_PARAM_INVALID);
  REQUIRE_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
}

TEST(handles_die_with_the_device) {
  aclrtStream stream = nullptr;
  REQUIRE_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  REQUIRE_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  REQUIRE_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  REQUIRE_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
  CHECK_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST(things_that_are_no_stream_are_refused) {
  const Device device;
  int local = 0;
  RecentError();
  CHECK_EQ(aclrtSynchronizeStream(&local), ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_CONTAINS(RecentError(), "is not a live stream");
  aclrtStream stream = nullptr;
  REQUIRE_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  REQUIRE_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  CHECK_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_EQ(aclrtLaunchHostFunc(stream, &Gate::Wait, nullptr), ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_EQ(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(a_stream_keeps_its_order_past_a_full_queue) {
  const Device device;
  const Stream stream;
  constexpr int kCount = 5000;
  std::vector<int> order;
  std::vector<Log> logs;
  for (int i = 0; i < kCount; ++i) logs.push_back(Log{&order, i});
  for (Log &log : logs) REQUIRE_EQ(aclrtLaunchHostFunc(stream.handle, &Log::Add, &log), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(order.size(), static_cast<size_t>(kCount));
  for (int i = 0; i < kCount; ++i) REQUIRE_EQ(order[static_cast<size_t>(i)], i);
}

TEST(many_threads_share_a_stream) {
  const Device device;
  const Stream stream;
  std::atomic<int> count{0};
  const aclrtHostFunc add = [](void *self) { static_cast<std::atomic<int> *>(self)->fetch_add(1); };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) CHECK_EQ(aclrtLaunchHostFunc(stream.handle, add, &count), ACL_SUCCESS);
      CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK_EQ(count.load(), 4000);
}

TEST(streams_are_asynchronous_and_can_be_asked) {
  const Device device;
  const Stream stream;
  Gate gate;
  REQUIRE_EQ(aclrtLaunchHostFunc(stream.handle, &Gate::Wait, &gate), ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  REQUIRE_EQ(aclrtStreamQuery(stream.handle, &status), ACL_SUCCESS);
  CHECK_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream.handle, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  CHECK_EQ(aclrtSynchronizeDeviceWithTimeout(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream.handle, -2), ACL_ERROR_RT_PARAM_INVALID);
  gate.is_open = true;
  CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream.handle, -1), ACL_SUCCESS);
  REQUIRE_EQ(aclrtStreamQuery(stream.handle, &status), ACL_SUCCESS);
  CHECK_EQ(status, ACL_STREAM_STATUS_COMPLETE);
}

TEST(an_event_orders_two_streams) {
  const Device device;
  const Stream first;
  const Stream second;
  aclrtEvent event = nullptr;
  REQUIRE_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  Gate gate;
  std::vector<int> order;
  Log one{&order, 1};
  Log two{&order, 2};
  REQUIRE_EQ(aclrtLaunchHostFunc(first.handle, &Gate::Wait, &gate), ACL_SUCCESS);
  REQUIRE_EQ(aclrtLaunchHostFunc(first.handle, &Log::Add, &one), ACL_SUCCESS);
  REQUIRE_EQ(aclrtRecordEvent(event, first.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtStreamWaitEvent(second.handle, event), ACL_SUCCESS);
  REQUIRE_EQ(aclrtLaunchHostFunc(second.handle, &Log::Add, &two), ACL_SUCCESS);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  REQUIRE_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  CHECK_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  CHECK_EQ(aclrtSynchronizeEventWithTimeout(event, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  gate.is_open = true;
  REQUIRE_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  REQUIRE_EQ(order.size(), 2U);
  CHECK_EQ(order[0], 1);
  CHECK_EQ(order[1], 2);
  REQUIRE_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  CHECK_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  CHECK_EQ(aclrtDestroyEvent(event), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST(events_measure_the_time_between_them) {
  const Device device;
  const Stream stream;
  aclrtEvent start = nullptr;
  aclrtEvent end = nullptr;
  REQUIRE_EQ(aclrtCreateEvent(&start), ACL_SUCCESS);
  REQUIRE_EQ(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  float ms = -1;
  CHECK_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  const aclrtHostFunc nap = [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  REQUIRE_EQ(aclrtRecordEvent(start, stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtLaunchHostFunc(stream.handle, nap, nullptr), ACL_SUCCESS);
  REQUIRE_EQ(aclrtRecordEvent(end, stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
  REQUIRE_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  CHECK(ms >= 19.9F && ms < 2000.0F);
  CHECK_EQ(aclrtEventElapsedTime(&ms, end, start), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL);
  uint64_t stamp = 0;
  CHECK_EQ(aclrtEventGetTimestamp(end, &stamp), ACL_SUCCESS);
  CHECK(stamp > 0);
  REQUIRE_EQ(aclrtResetEvent(end, stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  CHECK_EQ(aclrtDestroyEvent(start), ACL_SUCCESS);
  CHECK_EQ(aclrtDestroyEvent(end), ACL_SUCCESS);
}

TEST(a_host_function_can_not_wait_for_its_own_stream) {
  const Device device;
  const Stream stream;
  struct Seen {
    aclrtStream stream;
    aclError code;
  } seen{stream.handle, ACL_SUCCESS};
  const aclrtHostFunc wait = [](void *self) {
    Seen &mine = *static_cast<Seen *>(self);
    mine.code = aclrtSynchronizeStream(mine.stream);
  };
  REQUIRE_EQ(aclrtLaunchHostFunc(stream.handle, wait, &seen), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(seen.code, ACL_ERROR_RT_STREAM_NOT_COMPLETE);
}

TEST(a_host_function_can_not_wait_for_the_whole_device) {
  const Device device;
  const Stream stream;
  struct Seen {
    void *memory;
    std::vector<aclError> codes;
  } seen{nullptr, {}};
  REQUIRE_EQ(aclrtMalloc(&seen.memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const aclrtHostFunc wait = [](void *self) {
    Seen &mine = *static_cast<Seen *>(self);
    aclrtContext context = nullptr;
    CHECK_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    mine.codes = {aclrtSynchronizeDevice(), aclrtFreeWithDevSync(mine.memory), aclrtResetDevice(0), aclrtResetDeviceForce(0)};
    CHECK_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  };
  REQUIRE_EQ(aclrtLaunchHostFunc(stream.handle, wait, &seen), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStreamWithTimeout(stream.handle, 60000), ACL_SUCCESS);
  CHECK_EQ(seen.codes.size(), 4U);
  for (const aclError code : seen.codes) CHECK_EQ(code, ACL_ERROR_RT_STREAM_NOT_COMPLETE);
  // The refused reset counted for nothing, and the memory is still there.
  CHECK_EQ(aclrtFreeWithDevSync(seen.memory), ACL_SUCCESS);
}

TEST(a_device_can_not_be_waited_for_while_its_stream_is_captured) {
  const Device device;
  const Stream stream;
  std::shared_ptr<const opkit_sim::rt::TaskList> tasks;
  REQUIRE_EQ(opkit_sim::rt::BeginCapture(stream.handle), ACL_SUCCESS);
  RecentError();
  CHECK_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_STREAM_CAPTURED);
  CHECK_CONTAINS(RecentError(), "being recorded for a static graph");
  REQUIRE_EQ(opkit_sim::rt::EndCapture(stream.handle, &tasks), ACL_SUCCESS);
  CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST(an_internal_drain_waits_and_leaves_the_failure_to_the_program) {
  const Device device;
  const Stream stream;
  Gate gate;
  void *memory = nullptr;
  REQUIRE_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  REQUIRE_EQ(aclrtLaunchHostFunc(stream.handle, &Gate::Wait, &gate), ACL_SUCCESS);
  REQUIRE_EQ(aclrtMemsetAsync(memory, 64, 0, 64, stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtFree(memory), ACL_SUCCESS);
  gate.is_open = true;
  RecentError();
  opkit_sim::rt::Drain(stream.handle);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  CHECK_EQ(aclrtStreamQuery(stream.handle, &status), ACL_SUCCESS);
  CHECK_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  opkit_sim::rt::Drain(&status);  // no stream
  CHECK_EQ(RecentError(), "");
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_DEVICE_MEM_ERROR);
}

TEST(a_default_stream_has_one_handle_for_every_thread) {
  const Device device;
  const aclrtStream handle = opkit_sim::rt::DefaultStream();
  REQUIRE(handle != nullptr);
  Gate gate;
  std::atomic<bool> has_run{false};
  REQUIRE_EQ(aclrtLaunchHostFunc(nullptr, &Gate::Wait, &gate), ACL_SUCCESS);
  const aclrtHostFunc run = [](void *self) { static_cast<std::atomic<bool> *>(self)->store(true); };
  REQUIRE_EQ(aclrtLaunchHostFunc(nullptr, run, &has_run), ACL_SUCCESS);
  gate.is_open = true;
  std::thread([&] {
    CHECK(opkit_sim::rt::DefaultStream() == nullptr);
    CHECK_EQ(opkit_sim::rt::CurrentDevice(), -1);
    opkit_sim::rt::Drain(handle);
    CHECK(has_run.load());
    CHECK_EQ(RecentError(), "");
  }).join();
  CHECK_EQ(opkit_sim::rt::CurrentDevice(), 0);
}

TEST(an_event_recorded_by_two_threads_ends_at_the_later_recording) {
  for (int round = 0; round < 500; ++round) {
    opkit_sim::rt::Event event;
    const uint64_t tickets[2] = {event.BeginRecord(), event.BeginRecord()};
    std::atomic<int> ready{0};
    const auto reach = [&](int which) {
      ready.fetch_add(1);
      while (ready.load() != 2) std::this_thread::yield();
      event.Reach(tickets[which]);
    };
    std::thread other(reach, 0);
    reach(1);
    other.join();
    REQUIRE(event.IsReached());
  }
}

TEST_MAIN()
