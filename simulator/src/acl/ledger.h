// The ledger of device memory: every allocation with its exact size, a guard page behind it, and a memory of what was freed.
//
// Device memory is mapped so that an allocation ends, but for the 512-byte alignment of its base, right at an unmapped page: plain pointer
// access past it faults. The few bytes between are filled with a pattern and looked at when the memory is freed (or poisoned in a sanitizer
// build).
#ifndef OPKIT_SIM_SRC_ACL_LEDGER_H_
#define OPKIT_SIM_SRC_ACL_LEDGER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "acl/runtime_internal.h"
#include "opkit_sim/kernel_abi.h"

namespace opkit_sim::rt {

class Ledger {
 public:
  static Ledger &Get();

  // Null `*ptr` and a code if the host can't give that much. `who` names the API in texts.
  aclError Allocate(const char *who, size_t bytes, Owner owner, void **ptr);
  aclError Free(const char *who, void *ptr);

  bool Find(const void *ptr, Allocation *found) const;

  // True if [ptr, ptr + bytes) lies in one live allocation. If not, writes why to `reason`: the overrun in bytes, freed memory, or unknown.
  bool Covers(const void *ptr, size_t bytes, char *reason, size_t reason_bytes) const;

  size_t OutstandingCount(Owner owner) const;
  size_t OutstandingBytes(Owner owner) const;
  size_t FreeBytes() const;
  static size_t TotalBytes();

  // A copy of all live allocations, sorted; only refilled if something changed since `*generation`.
  bool Refresh(std::vector<Region> *regions, uint64_t *generation) const;

 private:
  struct Entry {
    size_t bytes;
    Owner owner;
    uint8_t *map;
    size_t map_bytes;
    size_t tail;  // patterned bytes between the end and the guard page
  };

  // The freed ones stay mapped without access for a while, so that a stale pointer faults instead of reaching newer data.
  struct Freed {
    uintptr_t base;
    size_t bytes;
    uint8_t *map;
    size_t map_bytes;
  };

  const Freed *FindFreed(uintptr_t address) const;

  mutable std::mutex mutex_;
  std::map<uintptr_t, Entry> live_;
  std::deque<Freed> freed_;
  std::atomic<uint64_t> generation_{1};
  size_t count_[2] = {};
  size_t bytes_[2] = {};
};

// The region of a sorted list that contains `address`, or null.
const Region *FindRegion(const std::vector<Region> &regions, uintptr_t address);

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_LEDGER_H_
