// A stream: a ring of tasks and one thread that executes them in order.
#ifndef OPKIT_SIM_SRC_ACL_STREAM_H_
#define OPKIT_SIM_SRC_ACL_STREAM_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "acl/tasks.h"
#include "acl/wait.h"

namespace opkit_sim::rt {

class Stream {
 public:
  Stream(int32_t id, int32_t device);
  // Runs what is queued, then ends the thread.
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  int32_t Id() const { return id_; }
  int32_t Device() const { return device_; }

  // Fills the next free slot and hands it to the thread; waits while the ring is full. Thread-safe.
  template <typename Fill>
  void Push(Fill &&fill) {
    const std::lock_guard<std::mutex> lock(producer_);
    const uint64_t at = pushed_.load(std::memory_order_relaxed);
    WaitForSlot(at);
    fill(ring_[at % kCapacity]);
    pushed_.store(at + 1, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (is_asleep_.load(std::memory_order_relaxed) != 0) WakeWorker();
  }

  // Waits until everything pushed so far has run. False on a timeout (0: none).
  bool Drain(uint64_t timeout_ns = 0);
  bool IsIdle() const { return done_.Value() >= pushed_.load(std::memory_order_acquire); }

  // Records the first asynchronous failure since the last TakeError.
  void Fail(aclError code, const std::string &text);
  // Gives the failure to the caller, as its code and recent text, and forgets it.
  aclError TakeError(const char *who);

  bool IsWorker() const { return std::this_thread::get_id() == worker_.get_id(); }
  // Whether the calling thread is some stream's.
  static bool IsAnyWorker();

  // For the end of the process: the thread stops after the task that it runs. False if it hasn't within `timeout_ns`; then the stream must
  // outlive the process.
  bool Abandon(uint64_t timeout_ns);

 private:
  static constexpr uint64_t kCapacity = 1024;

  void Work();
  void WaitForSlot(uint64_t at);
  void WakeWorker();

  const int32_t id_;
  const int32_t device_;
  std::unique_ptr<Task[]> ring_;
  std::mutex producer_;
  alignas(64) std::atomic<uint64_t> pushed_{0};
  alignas(64) std::atomic<uint32_t> is_asleep_{0};
  alignas(64) Progress done_;
  std::atomic<bool> is_abandoned_{false};
  std::atomic<bool> has_ended_{false};
  std::mutex error_mutex_;
  std::atomic<aclError> error_{ACL_SUCCESS};
  std::string error_text_;
  std::thread worker_;
};

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_STREAM_H_
