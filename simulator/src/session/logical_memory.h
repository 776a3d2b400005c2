// Addresses without memory: what stands for the user's tensors while a graph is loaded.
#ifndef OPKIT_SIM_SRC_SESSION_LOGICAL_MEMORY_H_
#define OPKIT_SIM_SRC_SESSION_LOGICAL_MEMORY_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace opkit_sim::session {
/// A range that faults on any access, so that an op which follows a load-time address is caught where it does.
class LogicalMemory {
 public:
  LogicalMemory() = default;
  LogicalMemory(const LogicalMemory &) = delete;
  LogicalMemory &operator=(const LogicalMemory &) = delete;
  ~LogicalMemory() {
    if (base_ != nullptr) {
      (void)munmap(base_, bytes_);
    }
  }

  /// Once. false if the address space is short.
  bool Reserve(size_t bytes) {
    void *mapped = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      return false;
    }
    base_ = mapped;
    bytes_ = bytes;
    return true;
  }
  void *At(size_t offset) const { return static_cast<uint8_t *>(base_) + offset; }

 private:
  void *base_ = nullptr;
  size_t bytes_ = 0;
};
}  // namespace opkit_sim::session

#endif  // OPKIT_SIM_SRC_SESSION_LOGICAL_MEMORY_H_
