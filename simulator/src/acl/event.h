// Events: marks in streams with the time at which the stream reached them.
#ifndef OPKIT_SIM_SRC_ACL_EVENT_H_
#define OPKIT_SIM_SRC_ACL_EVENT_H_

#include <atomic>
#include <cstdint>

#include "acl/wait.h"

namespace opkit_sim::rt {

// Recordings are numbered; waiting means waiting for the one that was the last when the wait was asked for.
class Event {
 public:
  uint64_t BeginRecord() { return submitted_.fetch_add(1, std::memory_order_acq_rel) + 1; }
  uint64_t Submitted() const { return submitted_.load(std::memory_order_acquire); }
  bool IsReached() const { return done_.Value() >= Submitted(); }
  bool WasRecorded() const { return Submitted() > reset_below_.load(std::memory_order_acquire); }
  uint64_t TimeNs() const { return time_ns_.load(std::memory_order_acquire); }

  void Reach(uint64_t ticket) {
    if (ticket <= done_.Value()) return;
    time_ns_.store(NowNs(), std::memory_order_release);
    done_.RaiseToAtLeast(ticket);
  }
  void Reset(uint64_t ticket) { reset_below_.store(ticket, std::memory_order_release); }

  bool WaitFor(uint64_t ticket, uint64_t timeout_ns = 0) { return done_.WaitFor(ticket, kSpins, timeout_ns); }

 private:
  static constexpr uint32_t kSpins = 200;

  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> reset_below_{0};
  std::atomic<uint64_t> time_ns_{0};
  Progress done_;
};

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_EVENT_H_
