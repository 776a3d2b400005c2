// What a stream executes: tasks, and lists of them that a capture recorded.
#ifndef OPKIT_SIM_SRC_ACL_TASKS_H_
#define OPKIT_SIM_SRC_ACL_TASKS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "acl/kernel_binary.h"
#include "acl/runtime_internal.h"

namespace opkit_sim::rt {

class Event;
class Stream;

enum class TaskKind : uint8_t { kKernel, kCopy, kFill, kReplay, kEventRecord, kEventReset, kEventWait, kHostFunc, kStop };

// One slot of a stream's queue. Only the members that the kind names are set; Clear() lets go of what the others share.
struct Task {
  TaskKind kind = TaskKind::kStop;
  bool is_src_stored = false;  // kCopy: the bytes to copy are the stored ones; kKernel: so are the arguments
  bool is_dst_device = false;  // kCopy, kFill: checked against the ledger again when it runs
  bool is_src_device = false;
  bool has_placeholders = false;  // kKernel: the arguments point into themselves
  uint32_t blocks = 0;
  int value = 0;
  void *dst = nullptr;
  const void *src = nullptr;
  size_t bytes = 0;
  const Function *function = nullptr;
  std::shared_ptr<Binary> binary;
  std::shared_ptr<const TaskList> list;
  std::shared_ptr<Event> event;
  uint64_t ticket = 0;
  aclrtHostFunc callback = nullptr;
  void *callback_data = nullptr;
  RecordTag tag;
  uint64_t enqueue_ns = 0;  // 0: records are off

  static constexpr size_t kInlineBytes = 160;

  // Keeps a copy of the bytes: in the slot itself if they are few. The address stays the same until Clear().
  void Store(const void *from, size_t count, bool on_heap = false) {
    uint8_t *to = inline_bytes_;
    if (on_heap || count > kInlineBytes) {
      heap_bytes_ = std::make_unique<uint8_t[]>(count);
      to = heap_bytes_.get();
    }
    if (count != 0) std::memcpy(to, from, count);
    is_src_stored = true;
    bytes = count;
  }

  const uint8_t *Stored() const { return heap_bytes_ != nullptr ? heap_bytes_.get() : inline_bytes_; }
  uint8_t *Stored() { return heap_bytes_ != nullptr ? heap_bytes_.get() : inline_bytes_; }

  void Clear() {
    binary.reset();
    list.reset();
    event.reset();
    heap_bytes_.reset();
    is_src_stored = is_dst_device = is_src_device = has_placeholders = false;
    tag = RecordTag{};
  }

 private:
  std::unique_ptr<uint8_t[]> heap_bytes_;
  alignas(16) uint8_t inline_bytes_[kInlineBytes];
};

class TaskList {
 public:
  std::vector<std::unique_ptr<Task>> tasks;
};

// The state of the thread that executes a stream's tasks.
struct Executor {
  explicit Executor(Stream *owner) : stream(owner) {}

  Stream *stream;
  std::vector<Region> regions;  // all live allocations; names are set for the time of one launch
  uint64_t generation = 0;
  std::vector<Region> with_arguments;  // the same and a launch's own argument block
};

void RunTask(const Task &task, Executor &executor);

// Whether the calling thread records any stream's tasks.
bool IsCapturing();

// The list that the calling thread records `stream`'s tasks to, or null if it doesn't.
TaskList *CaptureOf(const Stream *stream);

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_TASKS_H_
