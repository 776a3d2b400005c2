// Waiting between threads: a short spin while the other side is likely to be quick, then a futex.
#ifndef OPKIT_SIM_SRC_ACL_WAIT_H_
#define OPKIT_SIM_SRC_ACL_WAIT_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace opkit_sim::rt {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

inline uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000U + static_cast<uint64_t>(now.tv_nsec);
}

// Sleeps while `word` is `expected`, for at most `timeout_ns` (0: without limit). May return early.
inline void FutexWait(std::atomic<uint32_t> &word, uint32_t expected, uint64_t timeout_ns = 0) {
  timespec limit{static_cast<time_t>(timeout_ns / 1000000000U), static_cast<long>(timeout_ns % 1000000000U)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout_ns == 0 ? nullptr : &limit, nullptr, 0);
}

inline void FutexWake(std::atomic<uint32_t> &word, int threads = INT_MAX) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

// A count that only grows, and threads that wait until it has reached a value. The side that raises it pays one load unless it must wake
// someone.
class Progress {
 public:
  uint64_t Value() const { return value_.load(std::memory_order_acquire); }

  void Raise(uint64_t value) {
    value_.store(value, std::memory_order_release);
    WakeFrom(value);
  }

  // For more than one thread that raises: a smaller value changes nothing.
  void RaiseToAtLeast(uint64_t value) {
    uint64_t current = value_.load(std::memory_order_relaxed);
    while (current < value && !value_.compare_exchange_weak(current, value, std::memory_order_release, std::memory_order_relaxed)) {
    }
    WakeFrom(value);
  }

  // False if `timeout_ns` (0: none) passed first.
  bool WaitFor(uint64_t target, uint32_t spins, uint64_t timeout_ns = 0) {
    for (uint32_t i = 0; i < spins; ++i) {
      if (Value() >= target) return true;
      Pause();
    }
    const uint64_t deadline = timeout_ns == 0 ? 0 : NowNs() + timeout_ns;
    while (Value() < target) {
      const uint32_t ticket = wakes_.load(std::memory_order_acquire);
      uint64_t current = wake_at_.load(std::memory_order_relaxed);
      while (target < current && !wake_at_.compare_exchange_weak(current, target)) {
      }
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (Value() >= target) return true;
      uint64_t left = 0;
      if (deadline != 0) {
        const uint64_t now = NowNs();
        if (now >= deadline) return false;
        left = deadline - now;
      }
      FutexWait(wakes_, ticket, left);
    }
    return true;
  }

 private:
  void WakeFrom(uint64_t value) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (value >= wake_at_.load(std::memory_order_relaxed)) Wake();
  }

  // Every waiter is woken and asks again for what it still waits for.
  void Wake() {
    wake_at_.store(UINT64_MAX, std::memory_order_relaxed);
    wakes_.fetch_add(1, std::memory_order_release);
    FutexWake(wakes_);
  }

  std::atomic<uint64_t> value_{0};
  std::atomic<uint64_t> wake_at_{UINT64_MAX};
  std::atomic<uint32_t> wakes_{0};
};

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_WAIT_H_
