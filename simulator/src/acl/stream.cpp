// The stream's thread, and the stream calls of the API.
#include "acl/stream.h"

#include <cstdio>

#include "acl/device.h"
#include "acl/environment.h"
#include "acl/error_text.h"
#include "acl/event.h"

namespace opkit_sim::rt {
namespace {

// A busy program enqueues the next task within this time; waking a sleeping thread costs several times as much. With one core a spin only
// delays the thread it waits for.
uint32_t WorkerSpins() {
  static const uint32_t spins = Env().cores > 1 ? 3000 : 0;
  return spins;
}

// Less than the worker's: the core is better used by the blocks that are waited for.
uint32_t WaiterSpins() {
  static const uint32_t spins = Env().cores > 1 ? 300 : 0;
  return spins;
}

thread_local bool is_worker = false;

}  // namespace

bool Stream::IsAnyWorker() { return is_worker; }

Stream::Stream(int32_t id, int32_t device) : id_(id), device_(device), ring_(new Task[kCapacity]), worker_(&Stream::Work, this) {}

Stream::~Stream() {
  if (is_abandoned_.load()) {
    worker_.detach();
    return;
  }
  Push([](Task &task) { task.kind = TaskKind::kStop; });
  worker_.join();
}

void Stream::WaitForSlot(uint64_t at) {
  if (at - done_.Value() < kCapacity) return;
  // Until half of the ring is free: one sleep for many tasks.
  done_.WaitFor(at - kCapacity / 2, WaiterSpins());
}

void Stream::WakeWorker() {
  is_asleep_.store(0, std::memory_order_relaxed);
  FutexWake(is_asleep_, 1);
}

void Stream::Work() {
  is_worker = true;
  Executor executor(this);
  uint64_t at = 0;
  while (true) {
    for (uint32_t i = 0, spins = WorkerSpins(); i < spins && pushed_.load(std::memory_order_acquire) == at; ++i) Pause();
    while (pushed_.load(std::memory_order_acquire) == at) {
      is_asleep_.store(1, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (pushed_.load(std::memory_order_acquire) != at || is_abandoned_.load(std::memory_order_relaxed)) {
        is_asleep_.store(0, std::memory_order_relaxed);
        break;
      }
      FutexWait(is_asleep_, 1);
    }
    if (is_abandoned_.load(std::memory_order_relaxed)) break;
    Task &task = ring_[at % kCapacity];
    const bool is_last = task.kind == TaskKind::kStop;
    if (!is_last) RunTask(task, executor);
    task.Clear();
    done_.Raise(++at);
    if (is_last) break;
  }
  has_ended_.store(true, std::memory_order_release);
}

bool Stream::Drain(uint64_t timeout_ns) {
  // A static destructor of the program may come after the thread's end.
  if (is_abandoned_.load()) return true;
  return done_.WaitFor(pushed_.load(std::memory_order_acquire), WaiterSpins(), timeout_ns);
}

void Stream::Fail(aclError code, const std::string &text) {
  const std::lock_guard<std::mutex> lock(error_mutex_);
  if (error_.load(std::memory_order_relaxed) != ACL_SUCCESS) return;
  error_text_ = text;
  error_.store(code, std::memory_order_release);
}

aclError Stream::TakeError(const char *who) {
  if (error_.load(std::memory_order_acquire) == ACL_SUCCESS) return ACL_SUCCESS;
  std::string text;
  aclError code;
  {
    const std::lock_guard<std::mutex> lock(error_mutex_);
    code = error_.exchange(ACL_SUCCESS);
    text.swap(error_text_);
  }
  if (code == ACL_SUCCESS) return code;
  return RefuseWith(code, (std::string(who) + ": " + text).c_str());
}

bool Stream::Abandon(uint64_t timeout_ns) {
  is_abandoned_.store(true);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  WakeWorker();
  if (IsWorker()) return false;
  const uint64_t deadline = NowNs() + timeout_ns;
  while (!has_ended_.load(std::memory_order_acquire) && NowNs() < deadline) {
    timespec nap{0, 100000};
    nanosleep(&nap, nullptr);
  }
  return has_ended_.load(std::memory_order_acquire);
}

}  // namespace opkit_sim::rt

using namespace opkit_sim::rt;

namespace {

constexpr uint64_t kNsPerMs = 1000000;

aclError Synchronize(const char *who, aclrtStream handle, int32_t timeout_ms) {
  if (timeout_ms < -1) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: timeout %d ms; it must be -1 (no limit) or more", who, timeout_ms);
  aclError code = ACL_SUCCESS;
  const auto stream = ResolveStream(who, handle, &code);
  if (stream == nullptr) return code;
  if (CaptureOf(stream.get()) != nullptr) {
    return Refuse(ACL_ERROR_RT_STREAM_CAPTURED,
                  "%s: the stream's tasks are being recorded for a static graph; nothing has run yet, so there is nothing to wait for",
                  who);
  }
  if (stream->IsWorker())
    return Refuse(ACL_ERROR_RT_STREAM_NOT_COMPLETE, "%s: called from the stream's own host function; it would wait for itself", who);
  const uint64_t limit = timeout_ms < 0 ? 0 : static_cast<uint64_t>(timeout_ms) * kNsPerMs;
  if (timeout_ms == 0 ? !stream->IsIdle() : !stream->Drain(limit)) {
    return Refuse(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "%s: the stream's tasks weren't done within %d ms", who, timeout_ms);
  }
  return stream->TakeError(who);
}

}  // namespace

extern "C" {

aclError aclrtSynchronizeStream(aclrtStream stream) { return Synchronize("aclrtSynchronizeStream", stream, -1); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return Synchronize("aclrtSynchronizeStreamWithTimeout", stream, timeout);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status) {
  if (status == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: status must not be null");
  aclError code = ACL_SUCCESS;
  const auto found = ResolveStream("aclrtStreamQuery", stream, &code);
  if (found == nullptr) return code;
  *status = found->IsIdle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId) {
  if (streamId == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId: streamId must not be null");
  aclError code = ACL_SUCCESS;
  const auto found = ResolveStream("aclrtStreamGetId", stream, &code);
  if (found == nullptr) return code;
  *streamId = found->Id();
  return ACL_SUCCESS;
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args) {
  if (fn == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtLaunchHostFunc: fn must not be null");
  return Submit("aclrtLaunchHostFunc", stream, [&](Task &task) {
    task.kind = TaskKind::kHostFunc;
    task.callback = fn;
    task.callback_data = args;
  });
}

}  // extern "C"
