// The threads that run blocks, and large copies, beside the stream's own thread.
#ifndef OPKIT_SIM_SRC_ACL_BLOCK_POOL_H_
#define OPKIT_SIM_SRC_ACL_BLOCK_POOL_H_

#include <atomic>
#include <cstdint>
#include <mutex>

namespace opkit_sim::rt {

class BlockPool {
 public:
  // Runs [begin, end) of the items; called from several threads at once.
  using Body = void (*)(void *context, uint32_t begin, uint32_t end);

  static BlockPool &Get();

  // Runs all items and returns when the last is done. The calling thread takes part. If another stream holds the pool, it does all the work
  // itself.
  void Run(uint32_t count, Body body, void *context);

 private:
  BlockPool();
  void Helper();
  void Drain();

  uint32_t helpers_;
  std::mutex owner_;
  Body body_ = nullptr;
  void *context_ = nullptr;
  uint32_t count_ = 0;
  alignas(64) std::atomic<uint32_t> next_{0};
  alignas(64) std::atomic<uint32_t> inside_{0};  // helpers that may touch the job
  std::atomic<bool> open_{false};
  alignas(64) std::atomic<uint32_t> jobs_{0};  // futex word
  std::atomic<uint32_t> sleeping_{0};
};

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_BLOCK_POOL_H_
