// The door for the graph engine: what a capture keeps, what a replay reads, labels in the task records.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "acl/runtime_internal.h"
#include "check.h"
#include "kernels.h"

using opkit_sim::rt::BeginCapture;
using opkit_sim::rt::EndCapture;
using opkit_sim::rt::EnqueueArgsUpdate;
using opkit_sim::rt::EnqueueCopy;
using opkit_sim::rt::EnqueueReplay;
using opkit_sim::rt::RecordTag;
using opkit_sim::rt::TaskList;
using opkit_test::Device;
using opkit_test::Loaded;
using opkit_test::Memory;
using opkit_test::RecentError;
using opkit_test::Stream;

namespace {

const char *const kIncrement = R"(
extern "C" __global__ __aicore__ void increment(__gm__ uint8_t *values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) ((uint32_t *)values)[i] += 1;
}
)";

struct Args {
  void *values;
  uint32_t count;
};

}  // namespace

TEST(a_capture_runs_nothing_and_its_replay_reads_current_device_args) {
  const Device device;
  const Stream stream;
  const Loaded binary(kIncrement);
  const Memory<uint32_t> first(std::vector<uint32_t>(2, 0));
  const Memory<uint32_t> second(std::vector<uint32_t>(2, 0));
  const Memory<Args> args(std::vector<Args>{{nullptr, 2}});
  std::shared_ptr<const TaskList> tasks;
  REQUIRE_EQ(BeginCapture(stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtLaunchKernelV2(binary.Function("increment"), 1, args.Get(), sizeof(Args), nullptr, stream.handle), ACL_SUCCESS);
  RecentError();
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_STREAM_CAPTURED);
  CHECK_CONTAINS(RecentError(), "being recorded for a static graph");
  REQUIRE_EQ(EndCapture(stream.handle, &tasks), ACL_SUCCESS);
  CHECK_EQ(opkit_sim::rt::TaskCount(*tasks), 1U);
  CHECK_EQ(opkit_sim::rt::KernelCount(*tasks), 1U);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  for (int i = 0; i < 10; ++i) {
    const Args now{i % 2 == 0 ? first.Get() : second.Get(), 2};
    REQUIRE_EQ(EnqueueArgsUpdate(stream.handle, args.Get(), &now, sizeof now, RecordTag{}), ACL_SUCCESS);
    REQUIRE_EQ(EnqueueReplay(stream.handle, tasks, RecordTag{}), ACL_SUCCESS);
  }
  REQUIRE_EQ(EnqueueReplay(stream.handle, tasks, RecordTag{}), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(first.Read()[1], 5U);
  CHECK_EQ(second.Read()[1], 6U);
}

TEST(a_capture_keeps_host_args_and_copies) {
  const Device device;
  const Stream stream;
  const Stream other;
  const Loaded binary(kIncrement);
  const Memory<uint32_t> values(std::vector<uint32_t>(2, 0));
  const Memory<uint32_t> copy(std::vector<uint32_t>(2, 0));
  const Memory<uint32_t> beside(std::vector<uint32_t>(2, 0));
  std::shared_ptr<const TaskList> tasks;
  REQUIRE_EQ(BeginCapture(stream.handle), ACL_SUCCESS);
  CHECK_EQ(BeginCapture(other.handle), ACL_ERROR_RT_STREAM_CAPTURED);
  {
    Args args{values.Get(), 2};
    REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("increment"), 1, stream.handle, nullptr, &args, sizeof args, nullptr, 0),
               ACL_SUCCESS);
    args = Args{beside.Get(), 2};
    REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("increment"), 1, other.handle, nullptr, &args, sizeof args, nullptr, 0),
               ACL_SUCCESS);
    std::memset(static_cast<void *>(&args), 0xFF, sizeof args);
  }
  REQUIRE_EQ(aclrtMemcpyAsync(copy.Get(), 8, values.Get(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtMemsetAsync(values.Get(), 4, 0, 4, stream.handle), ACL_SUCCESS);
  // A refused call is refused in a capture too.
  CHECK_EQ(aclrtMemsetAsync(values.Get(), 80, 0, 80, stream.handle), ACL_ERROR_RT_PARAM_INVALID);
  aclrtEvent event = nullptr;
  REQUIRE_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  CHECK_EQ(aclrtRecordEvent(event, stream.handle), ACL_ERROR_RT_STREAM_CAPTURED);
  REQUIRE_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  REQUIRE_EQ(EndCapture(stream.handle, &tasks), ACL_SUCCESS);
  CHECK_EQ(EndCapture(stream.handle, &tasks), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  CHECK_EQ(opkit_sim::rt::TaskCount(*tasks), 3U);
  // The other stream wasn't part of it.
  REQUIRE_EQ(aclrtSynchronizeStream(other.handle), ACL_SUCCESS);
  CHECK_EQ(beside.Read()[0], 1U);
  CHECK_EQ(values.Read()[0], 0U);
  for (int i = 0; i < 3; ++i) REQUIRE_EQ(EnqueueReplay(stream.handle, tasks, RecordTag{}), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(copy.Read()[0], 1U);
  CHECK_EQ(copy.Read()[1], 3U);
  CHECK_EQ(values.Read()[0], 0U);
}

TEST(a_list_outlives_its_binary_but_does_not_run_without_it) {
  const Device device;
  const Stream stream;
  Loaded binary(kIncrement);
  const Memory<uint32_t> values(std::vector<uint32_t>(2, 0));
  std::shared_ptr<const TaskList> tasks;
  Args args{values.Get(), 2};
  REQUIRE_EQ(BeginCapture(stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("increment"), 1, stream.handle, nullptr, &args, sizeof args, nullptr, 0),
             ACL_SUCCESS);
  REQUIRE_EQ(EndCapture(stream.handle, &tasks), ACL_SUCCESS);
  binary.Unload();
  REQUIRE_EQ(EnqueueReplay(stream.handle, tasks, RecordTag{}), ACL_SUCCESS);
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_KERNEL_UNREGISTERING);
  CHECK_EQ(values.Read()[0], 0U);
}

TEST(records_carry_the_labels) {
  const Device device;
  const Stream stream;
  const Loaded binary(kIncrement);
  const Memory<uint32_t> values(std::vector<uint32_t>(2, 0));
  const Memory<uint32_t> copy(std::vector<uint32_t>(2, 0));
  std::shared_ptr<const TaskList> tasks;
  Args args{values.Get(), 2};
  REQUIRE_EQ(BeginCapture(stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("increment"), 3, stream.handle, nullptr, &args, sizeof args, nullptr, 0),
             ACL_SUCCESS);
  REQUIRE_EQ(EndCapture(stream.handle, &tasks), ACL_SUCCESS);
  RecordTag tag;
  tag.name = "identity_0_add_MemLayoutConflict_\"1\"";
  tag.op = "Identity";
  tag.graph_id = 4;
  tag.run = 17;
  REQUIRE_EQ(EnqueueCopy(stream.handle, copy.Get(), values.Get(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE, tag), ACL_SUCCESS);
  tag.name = "add_node";
  tag.op = "AddRefreshOp";
  REQUIRE_EQ(EnqueueReplay(stream.handle, tasks, tag), ACL_SUCCESS);
  REQUIRE_EQ(EnqueueArgsUpdate(stream.handle, copy.Get(), "12345678", 8, tag), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK(opkit_sim::rt::AreTasksRecorded());
  const std::string path = OPKIT_TEST_BINARY_DIR "/capture_records.jsonl";
  std::remove(path.c_str());
  opkit_sim::rt::FlushTaskRecords();
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  REQUIRE(lines.size() >= 3);
  const std::string &identity = lines[lines.size() - 3];
  CHECK_CONTAINS(identity,
                 R"("kind": "MEMCPY_ASYNC", "name": "identity_0_add_MemLayoutConflict_\"1\"", "op": "Identity", "graph_id": 4, "run": 17)");
  CHECK_CONTAINS(identity, "\"bytes\": 8");
  const std::string &kernel = lines[lines.size() - 2];
  CHECK_CONTAINS(kernel, R"("kind": "KERNEL", "name": "add_node", "op": "AddRefreshOp", "kernel": "increment")");
  CHECK_CONTAINS(kernel, "\"blocks\": 3");
  CHECK_CONTAINS(lines.back(), "\"kind\": \"ARGS_H2D\"");
}

TEST_MAIN()
