// Blocks: every one runs exactly once on however many threads; broken rules and faults are reported once and at the right time.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "acl/runtime_internal.h"
#include "check.h"
#include "kernels.h"

using opkit_test::Device;
using opkit_test::Loaded;
using opkit_test::Memory;
using opkit_test::RecentError;
using opkit_test::Stream;

namespace {

const char *const kKernels = R"(
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void count_blocks(GM_ADDR counts, uint32_t work) {
  volatile uint32_t spin = 0;
  for (uint32_t i = 0; i < work; ++i) spin = spin + 1;
  ((__gm__ uint32_t *)counts)[AscendC::GetBlockIdx()] += static_cast<uint32_t>(AscendC::GetBlockNum());
}
extern "C" __global__ __aicore__ void copy_too_much(GM_ADDR x, GM_ADDR y, uint32_t count) {
  AscendC::TPipe pipe;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 4096);
  AscendC::GlobalTensor<float> from;
  from.SetGlobalBuffer((__gm__ float *)x);
  auto local = queue.AllocTensor<float>();
  if (AscendC::GetBlockIdx() == 3) AscendC::DataCopy(local, from, count);
  queue.FreeTensor(local);
}
extern "C" __global__ __aicore__ void write_at(GM_ADDR out, int64_t offset) { ((__gm__ volatile uint8_t *)out)[offset] = 1; }
)";

struct CountArgs {
  void *counts;
  uint32_t work;
};

std::string RunChild(const char *test, int *status) {
  int ends[2];
  REQUIRE_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    execl("/proc/self/exe", "test_blocks", test, static_cast<char *>(nullptr));
    _exit(99);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  REQUIRE_EQ(waitpid(child, status, 0), child);
  return text;
}

size_t Occurrences(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void WriteAt(int64_t offset, bool is_null = false) {
  const Device device;
  const Stream stream;
  const Loaded binary(kKernels);
  const Memory<uint8_t> before(4096);
  const Memory<uint8_t> out(4096);
  struct Args {
    void *out;
    int64_t offset;
  } args{is_null ? nullptr : out.Get(), offset};
  REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("write_at"), 1, stream.handle, nullptr, &args, sizeof args, nullptr, 0),
             ACL_SUCCESS);
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
}

}  // namespace

TEST(every_block_runs_once) {
  const Device device;
  const Stream stream;
  const Loaded binary(kKernels);
  for (const uint32_t work : {0U, 200U}) {
    for (const uint32_t blocks : {1U, 2U, 3U, 40U, 1000U, 16384U, 65535U}) {
      const Memory<uint32_t> counts(std::vector<uint32_t>(blocks, 0));
      CountArgs args{counts.Get(), work};
      REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("count_blocks"), blocks, stream.handle, nullptr, &args, sizeof args - 4,
                                               nullptr, 0),
                 ACL_SUCCESS);
      REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
      const std::vector<uint32_t> seen = counts.Read();
      CHECK(std::all_of(seen.begin(), seen.end(), [blocks](uint32_t value) { return value == blocks; }));
    }
  }
}

TEST(streams_share_the_block_threads) {
  const Device device;
  const Loaded binary(kKernels);
  const Stream streams[3];
  constexpr uint32_t kBlocks = 2000;
  const Memory<uint32_t> counts[3] = {Memory<uint32_t>(std::vector<uint32_t>(kBlocks, 0)),
                                      Memory<uint32_t>(std::vector<uint32_t>(kBlocks, 0)),
                                      Memory<uint32_t>(std::vector<uint32_t>(kBlocks, 0))};
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 3; ++i) {
      CountArgs args{counts[i].Get(), 100};
      REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("count_blocks"), kBlocks, streams[i].handle, nullptr, &args, sizeof args,
                                               nullptr, 0),
                 ACL_SUCCESS);
    }
  }
  REQUIRE_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (const auto &memory : counts) {
    for (const uint32_t value : memory.Read()) REQUIRE_EQ(value, kBlocks * 20);
  }
}

TEST(a_broken_rule_surfaces_at_the_synchronization) {
  const Device device;
  const Stream stream;
  const Loaded binary(kKernels);
  const Memory<float> x(std::vector<float>(100, 1.0F));
  struct Args {
    void *x;
    void *y;
    uint32_t count;
  } args{x.Get(), x.Get(), 128};
  RecentError();
  REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("copy_too_much"), 8, stream.handle, nullptr, &args, sizeof args, nullptr, 0),
             ACL_SUCCESS);
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  const std::string text = RecentError();
  CHECK_CONTAINS(text, "[507035] aclrtSynchronizeStream: kernel copy_too_much, block 3, test.asc:");
  CHECK_CONTAINS(text, "[GM-OOB]");
  CHECK_CONTAINS(text, "'x'");
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST(each_finding_is_printed_once) {
  int status = -1;
  const std::string text = RunChild("a_broken_rule_surfaces", &status);
  CHECK_EQ(status, 0);
  CHECK_EQ(Occurrences(text, "error [GM-OOB]"), 1U);
}

TEST(child_writes_behind_a_tensor) {
  if (getenv("OPKIT_TEST_CHILD") != nullptr) WriteAt(4096 + 5);
}

TEST(child_writes_inside_a_tensor) {
  if (getenv("OPKIT_TEST_CHILD") != nullptr) WriteAt(4095);
}

TEST(a_fault_names_kernel_block_and_tensor_and_kills_as_usual) {
  setenv("OPKIT_TEST_CHILD", "1", 1);
  int status = -1;
  const std::string text = RunChild("child_writes_behind", &status);
  unsetenv("OPKIT_TEST_CHILD");
  CHECK_EQ(Occurrences(text, "kernel write_at, block 0: memory fault"), 1U);
  CHECK_CONTAINS(text, "byte 4101 of 'out', which has 4096 bytes");
  // A sanitizer's own handler comes next and exits; without one the signal kills.
  if (*OPKIT_TEST_SANITIZE == '\0') {
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGSEGV);
  } else {
    CHECK(status != 0);
  }
}

TEST(child_writes_through_null) {
  if (getenv("OPKIT_TEST_CHILD") != nullptr) WriteAt(5, true);
}

TEST(a_fault_through_a_null_argument_names_it) {
  setenv("OPKIT_TEST_CHILD", "1", 1);
  int status = -1;
  const std::string text = RunChild("child_writes_through_null", &status);
  unsetenv("OPKIT_TEST_CHILD");
  CHECK_CONTAINS(text,
                 "kernel write_at, block 0: memory fault at 0x5: byte 5 of a null address: argument 1, 'out', is null, as the address of "
                 "an absent optional input is");
  CHECK(status != 0);
}

TEST(a_copy_through_null_arguments_names_them) {
  const Device device;
  const Stream stream;
  const Loaded binary(kKernels);
  struct Args {
    void *x;
    void *y;
    uint32_t count;
  } args{nullptr, nullptr, 128};
  REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("copy_too_much"), 4, stream.handle, nullptr, &args, sizeof args, nullptr, 0),
             ACL_SUCCESS);
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  CHECK_CONTAINS(
      RecentError(),
      "through a null GM address: argument 1, 'x', and argument 2, 'y', are null, as the address of an absent optional input is");
}

TEST(a_write_inside_is_no_fault) {
  setenv("OPKIT_TEST_CHILD", "1", 1);
  int status = -1;
  RunChild("child_writes_inside", &status);
  unsetenv("OPKIT_TEST_CHILD");
  CHECK_EQ(status, 0);
}

namespace {

// Given back by a destructor that runs after the runtime's own end of the process.
struct LateStream {
  aclrtStream handle = nullptr;
  std::atomic<bool> has_begun{false};
  std::atomic<bool> has_ended{false};
  ~LateStream() {
    if (handle == nullptr) return;
    (void)aclrtDestroyStream(handle);
    while (!has_ended.load()) std::this_thread::yield();
  }
};
LateStream late_stream;

}  // namespace

TEST(child_leaks_memory) {
  if (getenv("OPKIT_TEST_CHILD") == nullptr) return;
  const Device device;
  void *memory = nullptr;
  for (int i = 0; i < 2; ++i) REQUIRE_EQ(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
}

TEST(child_leaks_memory_of_a_device_that_it_does_not_reset) {
  if (getenv("OPKIT_TEST_CHILD") == nullptr) return;
  void *memory = nullptr;
  REQUIRE_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  REQUIRE_EQ(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
}

TEST(child_ends_while_a_stream_works) {
  if (getenv("OPKIT_TEST_CHILD") == nullptr) return;
  aclrtContext context = nullptr;
  // Without aclrtSetDevice: any context is enough for the end of the process to be orderly.
  REQUIRE_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  REQUIRE_EQ(aclrtCreateStream(&late_stream.handle), ACL_SUCCESS);
  const aclrtHostFunc work = [](void *self) {
    static_cast<LateStream *>(self)->has_begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    static_cast<LateStream *>(self)->has_ended = true;
  };
  REQUIRE_EQ(aclrtLaunchHostFunc(late_stream.handle, work, &late_stream), ACL_SUCCESS);
  while (!late_stream.has_begun.load()) std::this_thread::yield();
}

TEST(leaks_are_told_once_to_who_is_strict) {
  setenv("OPKIT_TEST_CHILD", "1", 1);
  int status = -1;
  CHECK_EQ(Occurrences(RunChild("child_leaks_memory", &status), "[WARNING]"), 0U);
  setenv("OPKIT_SIM_STRICT", "1", 1);
  const std::string reset = RunChild("child_leaks_memory_of_a", &status);
  CHECK_EQ(Occurrences(reset, "[WARNING] opkit simulator: 1 device allocation, 100 bytes in all, never freed"), 1U);
  const std::string two = RunChild("child_leaks_memory", &status);
  CHECK_CONTAINS(two, "[WARNING] opkit simulator: 2 device allocations, 200 bytes in all, never freed");
  unsetenv("OPKIT_SIM_STRICT");
  unsetenv("OPKIT_TEST_CHILD");
}

TEST(a_stream_given_back_after_the_end_stays_under_its_thread) {
  setenv("OPKIT_TEST_CHILD", "1", 1);
  int status = -1;
  const std::string text = RunChild("child_ends_while", &status);
  unsetenv("OPKIT_TEST_CHILD");
  CHECK_EQ(status, 0);
  if (status != 0) std::cerr << text;
}

TEST_MAIN()
