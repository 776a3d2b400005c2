// Hands out chunks of a job: large ones first, single items at the end.
#include "acl/block_pool.h"

#include <algorithm>
#include <thread>

#include "acl/environment.h"
#include "acl/wait.h"

namespace opkit_sim::rt {
namespace {

// About as long as it takes to wake a sleeping thread.
constexpr uint32_t kHelperSpins = 400;

}  // namespace

BlockPool &BlockPool::Get() {
  static BlockPool &pool = *new BlockPool;
  return pool;
}

BlockPool::BlockPool() : helpers_(Env().threads - 1) {
  for (uint32_t i = 0; i < helpers_; ++i) std::thread(&BlockPool::Helper, this).detach();
}

void BlockPool::Drain() {
  const uint32_t count = count_;
  const uint32_t share = (helpers_ + 1) * 4;
  uint32_t begin = next_.load(std::memory_order_relaxed);
  while (begin < count) {
    const uint32_t end = begin + std::max(1U, (count - begin) / share);
    if (next_.compare_exchange_weak(begin, end, std::memory_order_relaxed)) {
      body_(context_, begin, end);
      begin = next_.load(std::memory_order_relaxed);
    }
  }
}

void BlockPool::Run(uint32_t count, Body body, void *context) {
  std::unique_lock<std::mutex> owner(owner_, std::defer_lock);
  if (helpers_ == 0 || count < 2 || !owner.try_lock()) {
    body(context, 0, count);
    return;
  }
  body_ = body;
  context_ = context;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  open_.store(true, std::memory_order_seq_cst);
  jobs_.fetch_add(1, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) != 0) FutexWake(jobs_);
  Drain();
  open_.store(false, std::memory_order_seq_cst);
  // A helper is here for the rest of its chunk at most.
  for (uint32_t spins = 0; inside_.load(std::memory_order_seq_cst) != 0; ++spins) {
    // It may have lost its core to another process.
    if (spins < kHelperSpins) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void BlockPool::Helper() {
  uint32_t seen = 0;
  while (true) {
    for (uint32_t i = 0; i < kHelperSpins && jobs_.load(std::memory_order_acquire) == seen; ++i) Pause();
    if (jobs_.load(std::memory_order_seq_cst) == seen) {
      sleeping_.fetch_add(1, std::memory_order_seq_cst);
      FutexWait(jobs_, seen);
      sleeping_.fetch_sub(1, std::memory_order_seq_cst);
      continue;
    }
    seen = jobs_.load(std::memory_order_acquire);
    inside_.fetch_add(1, std::memory_order_seq_cst);
    if (open_.load(std::memory_order_seq_cst)) Drain();
    inside_.fetch_sub(1, std::memory_order_seq_cst);
  }
}

}  // namespace opkit_sim::rt
