// Executes tasks on a stream's thread: kernels block by block, copies, events.
#include "acl/tasks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "acl/block_pool.h"
#include "acl/copy.h"
#include "acl/crash_report.h"
#include "acl/device.h"
#include "acl/environment.h"
#include "acl/event.h"
#include "acl/ledger.h"
#include "acl/stream.h"
#include "acl/task_records.h"

namespace opkit_sim::rt {
namespace {

// A launch that is over within this time isn't worth waking another thread.
constexpr uint64_t kInlineNs = 10000;

std::atomic<uint64_t> launch_count{0};

// The unified buffer of one thread, between two pages without access: of 4 KiB, or of 64 on some ARM kernels. The buffer is a multiple of
// either.
class UnifiedBuffer {
 public:
  UnifiedBuffer() {
    void *map = mmap(nullptr, MapBytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return;
    map_ = static_cast<uint8_t *>(map);
    mprotect(map_, page_, PROT_NONE);
    mprotect(map_ + page_ + chip::kUbBytes, page_, PROT_NONE);
  }
  ~UnifiedBuffer() {
    if (map_ != nullptr) munmap(map_, MapBytes());
  }
  UnifiedBuffer(const UnifiedBuffer &) = delete;
  UnifiedBuffer &operator=(const UnifiedBuffer &) = delete;

  uint8_t *Begin() const { return map_ == nullptr ? nullptr : map_ + page_; }

 private:
  size_t MapBytes() const { return page_ + chip::kUbBytes + page_; }

  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  uint8_t *map_ = nullptr;
};
static_assert(chip::kUbBytes % 65536 == 0);

// One launch while it runs; the sink of its blocks' findings.
struct Launch {
  const Task *task;
  const RecordTag *tag;
  const uint8_t *args;
  LaunchEnv env;
  std::atomic<bool> has_failed{false};
  std::mutex mutex;
  std::string first_error;
};

std::string Title(const Launch &launch) {
  std::string title = "kernel " + std::string(launch.env.kernel_name);
  if (launch.tag->name != nullptr && *launch.tag->name != '\0') title += " (node " + std::string(launch.tag->name) + ")";
  return title;
}

// Whether a warning is seen for the first time: a kernel repeats it in each block of each launch.
bool IsNewWarning(const char *kernel, const Finding &finding) {
  static std::mutex &mutex = *new std::mutex;
  static std::set<std::string> &seen = *new std::set<std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  return seen.insert(std::string(kernel) + '\0' + finding.rule + '\0' + finding.file + '\0' + std::to_string(finding.line)).second;
}

void OnFinding(void *sink, uint32_t block_idx, const Finding &finding) {
  Launch &launch = *static_cast<Launch *>(sink);
  const bool is_error = finding.severity == Severity::kError;
  if (!is_error && !IsNewWarning(launch.env.kernel_name, finding)) return;
  std::string text = Title(launch) + ", block " + std::to_string(block_idx) + ", " + finding.file + ":" + std::to_string(finding.line) +
                     ": " + (is_error ? "error [" : "warning [") + finding.rule + "] " + finding.message;
  if (std::strstr(finding.message, "null GM address") != nullptr) {
    char nulls[256];
    DescribeNullArguments(nulls, sizeof nulls, *launch.task->function->entry, launch.args);
    text += std::string(": ") + nulls;
  }
  if (is_error) {
    const std::lock_guard<std::mutex> lock(launch.mutex);
    // The other blocks mostly break the same rule at the same place.
    if (launch.has_failed.exchange(true)) return;
    launch.first_error = text;
  }
  std::fprintf(stderr, "opkit simulator: %s\n", text.c_str());
}

void RunBlocks(void *context, uint32_t begin, uint32_t end) {
  Launch &launch = *static_cast<Launch *>(context);
  static thread_local UnifiedBuffer buffer;
  BlockEnv block{&launch.env, begin, buffer.Begin()};
  const KernelEntry &entry = *launch.task->function->entry;
  SetRunningBlock({&block, &entry, launch.args});
  const auto run_block = launch.task->function->table->run_block;
  for (; block.block_idx < end && !launch.has_failed.load(std::memory_order_relaxed); ++block.block_idx) {
    if (!run_block(entry, launch.args, block) && !launch.has_failed.exchange(true)) {
      const std::lock_guard<std::mutex> lock(launch.mutex);
      launch.first_error = Title(launch) + ", block " + std::to_string(block.block_idx) + ": abandoned without a finding";
    }
  }
  FinishBlocks();
  SetRunningBlock({});
}

void RunBlocksFrom(void *context, uint32_t begin, uint32_t end) {
  auto &shifted = *static_cast<std::pair<Launch *, uint32_t> *>(context);
  RunBlocks(shifted.first, begin + shifted.second, end + shifted.second);
}

void RunAllBlocks(Launch &launch) {
  const uint32_t count = launch.env.block_num;
  if (count == 1 || Env().threads == 1) {
    RunBlocks(&launch, 0, count);
    return;
  }
  const uint64_t start = NowNs();
  uint32_t done = 0;
  uint32_t step = 1;
  while (done < count) {
    const uint32_t next = std::min(count, done + step);
    RunBlocks(&launch, done, next);
    done = next;
    const uint64_t spent = NowNs() - start;
    // With what is known now: would the rest take longer than the threads are worth?
    if (spent > kInlineNs || spent / done * (count - done) > kInlineNs) break;
    step *= 2;
  }
  if (done < count && !launch.has_failed.load()) {
    std::pair<Launch *, uint32_t> rest{&launch, done};
    BlockPool::Get().Run(count - done, &RunBlocksFrom, &rest);
  }
}

Region *FindMutable(std::vector<Region> &regions, uintptr_t address) { return const_cast<Region *>(FindRegion(regions, address)); }

uintptr_t PointerAt(const uint8_t *args, const KernelParam &param) {
  uintptr_t pointer = 0;
  if (param.is_pointer) std::memcpy(&pointer, args + param.offset, sizeof pointer);
  return pointer;
}

// The first parameter that points into an allocation gives it its name.
void NameRegions(std::vector<Region> &regions, const KernelEntry &entry, const uint8_t *args, bool is_set) {
  for (uint32_t i = entry.param_count; i-- > 0;) {
    const uintptr_t pointer = PointerAt(args, entry.params[i]);
    if (pointer == 0) continue;
    if (Region *region = FindMutable(regions, pointer)) region->name = is_set ? entry.params[i].name : "";
  }
}

void RunKernel(const Task &task, const RecordTag &tag, uint64_t enqueue_ns, Executor &executor) {
  const KernelEntry &entry = *task.function->entry;
  const uint64_t start_ns = enqueue_ns == 0 ? 0 : NowNs();
  if (task.binary->IsUnloaded()) {
    const std::string text = "kernel " + std::string(entry.name) + ": its binary was unloaded before the kernel had run; synchronize first";
    std::fprintf(stderr, "opkit simulator: %s\n", text.c_str());
    executor.stream->Fail(ACL_ERROR_RT_KERNEL_UNREGISTERING, text);
    return;
  }
  Ledger::Get().Refresh(&executor.regions, &executor.generation);
  const uint8_t *args = task.is_src_stored ? task.Stored() : static_cast<const uint8_t *>(task.src);
  if (!task.is_src_stored && task.bytes != 0) {
    const auto address = reinterpret_cast<uintptr_t>(args);
    const Region *holder = FindRegion(executor.regions, address);
    if (holder == nullptr || task.bytes > holder->begin + holder->bytes - address) {
      const std::string text =
          "kernel " + std::string(entry.name) + ": the device memory of its arguments was freed before the kernel had run";
      std::fprintf(stderr, "opkit simulator: %s\n", text.c_str());
      executor.stream->Fail(ACL_ERROR_RT_DEVICE_MEM_ERROR, text);
      return;
    }
  }
  std::vector<Region> *regions = &executor.regions;
  if (task.has_placeholders) {
    // The data behind the placeholders lies in the argument block itself.
    executor.with_arguments = executor.regions;
    regions = &executor.with_arguments;
    const Region own{reinterpret_cast<uintptr_t>(args), task.bytes, "arguments"};
    regions->insert(
        std::upper_bound(regions->begin(), regions->end(), own, [](const Region &a, const Region &b) { return a.begin < b.begin; }), own);
  }
  NameRegions(*regions, entry, args, true);
  Launch launch{};
  launch.task = &task;
  launch.tag = &tag;
  launch.args = args;
  launch.env = LaunchEnv{entry.name, task.blocks, chip::kUbBytes, regions->data(), regions->size(), Env().strict, &launch, &OnFinding};
  WatchForFaults();
  launch_count.fetch_add(1, std::memory_order_relaxed);
  RunAllBlocks(launch);
  NameRegions(executor.regions, entry, args, false);
  if (launch.has_failed.load()) {
    const bool is_vector = std::strcmp(entry.core_type, "aiv") == 0;
    executor.stream->Fail(is_vector ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_ERROR_RT_AICORE_EXCEPTION, launch.first_error);
  }
  if (enqueue_ns != 0) {
    RecordTag shown = tag;
    shown.kind = nullptr;
    TaskRecord record = RecordOf("KERNEL", shown, executor.stream->Id(), enqueue_ns, start_ns, 0, task.blocks);
    record.kernel = entry.name;
    if (record.name.empty()) record.name = entry.name;
    Record(std::move(record));
  }
}

// Whether the range is still device memory; else the stream fails.
bool IsStillDevice(const void *ptr, size_t bytes, const char *what, Executor &executor) {
  Ledger::Get().Refresh(&executor.regions, &executor.generation);
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  const Region *region = FindRegion(executor.regions, address);
  if (region != nullptr && bytes <= region->begin + region->bytes - address) return true;
  char reason[256];
  Ledger::Get().Covers(ptr, bytes, reason, sizeof reason);
  const std::string text = std::string(what) + " is " + reason + " by the time the stream reached it";
  std::fprintf(stderr, "opkit simulator: %s\n", text.c_str());
  executor.stream->Fail(ACL_ERROR_RT_DEVICE_MEM_ERROR, text);
  return false;
}

void RunCopy(const Task &task, const RecordTag &tag, uint64_t enqueue_ns, Executor &executor) {
  const uint64_t start_ns = enqueue_ns == 0 ? 0 : NowNs();
  if (task.is_dst_device && !IsStillDevice(task.dst, task.bytes, "the destination of a copy", executor)) return;
  if (task.is_src_device && !IsStillDevice(task.src, task.bytes, "the source of a copy", executor)) return;
  CopyBytes(task.dst, task.is_src_stored ? task.Stored() : task.src, task.bytes);
  if (enqueue_ns != 0) Record(RecordOf("MEMCPY_ASYNC", tag, executor.stream->Id(), enqueue_ns, start_ns, task.bytes, 0));
}

void RunFill(const Task &task, const RecordTag &tag, uint64_t enqueue_ns, Executor &executor) {
  const uint64_t start_ns = enqueue_ns == 0 ? 0 : NowNs();
  if (!IsStillDevice(task.dst, task.bytes, "the destination of a memset", executor)) return;
  FillBytes(task.dst, task.value, task.bytes);
  if (enqueue_ns != 0) Record(RecordOf("MEMSET", tag, executor.stream->Id(), enqueue_ns, start_ns, task.bytes, 0));
}

void RunWork(const Task &task, const RecordTag &tag, uint64_t enqueue_ns, Executor &executor) {
  switch (task.kind) {
    case TaskKind::kKernel:
      RunKernel(task, tag, enqueue_ns, executor);
      return;
    case TaskKind::kCopy:
      RunCopy(task, tag, enqueue_ns, executor);
      return;
    case TaskKind::kFill:
      RunFill(task, tag, enqueue_ns, executor);
      return;
    default:
      RunTask(task, executor);
      return;
  }
}

}  // namespace

void RunTask(const Task &task, Executor &executor) {
  switch (task.kind) {
    case TaskKind::kReplay:
      for (const auto &recorded : task.list->tasks) RunWork(*recorded, task.tag, task.enqueue_ns, executor);
      return;
    case TaskKind::kEventRecord:
      task.event->Reach(task.ticket);
      return;
    case TaskKind::kEventReset:
      task.event->Reset(task.ticket);
      return;
    case TaskKind::kEventWait:
      if (!task.event->WaitFor(task.ticket, static_cast<uint64_t>(task.value) * 1000000)) {
        executor.stream->Fail(ACL_ERROR_RT_WAIT_TIMEOUT, "an event that the stream waits for wasn't reached in time");
      }
      return;
    case TaskKind::kHostFunc:
      task.callback(task.callback_data);
      return;
    case TaskKind::kStop:
      return;
    default:
      RunWork(task, task.tag, task.enqueue_ns, executor);
      return;
  }
}

uint64_t KernelLaunchCount() { return launch_count.load(std::memory_order_relaxed); }

}  // namespace opkit_sim::rt
