// Maps, guards and counts device memory.
#include "acl/ledger.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "acl/error_text.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace opkit_sim::rt {
namespace {

constexpr size_t kBaseAlign = 512;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kHugeFrom = size_t{4} << 20;
constexpr size_t kFreedKept = 256;
constexpr uint8_t kTailPattern = 0xA5;

size_t RoundUp(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

size_t PageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Maps `bytes` (a multiple of the page) at a multiple of `align`; null if the host refuses.
uint8_t *MapAligned(size_t bytes, size_t align) {
  const size_t page = PageBytes();
  const size_t slack = align > page ? align : 0;
  void *raw = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto *begin = static_cast<uint8_t *>(raw);
  if (slack == 0) return begin;
  auto *aligned = reinterpret_cast<uint8_t *>(RoundUp(reinterpret_cast<uintptr_t>(begin), align));
  const auto before = static_cast<size_t>(aligned - begin);
  if (before != 0) munmap(begin, before);
  if (slack != before) munmap(aligned + bytes, slack - before);
  return aligned;
}

}  // namespace

Ledger &Ledger::Get() {
  static Ledger &ledger = *new Ledger;
  return ledger;
}

size_t Ledger::TotalBytes() {
  static const size_t total = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * PageBytes();
  return total;
}

size_t Ledger::FreeBytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t used = bytes_[0] + bytes_[1];
  return used > TotalBytes() ? 0 : TotalBytes() - used;
}

aclError Ledger::Allocate(const char *who, size_t bytes, Owner owner, void **ptr) {
  *ptr = nullptr;
  const size_t page = PageBytes();
  const size_t available = FreeBytes();
  if (bytes > available) {
    return Refuse(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: %zu bytes asked for, %zu bytes of device memory are left", who, bytes, available);
  }
  const size_t body = RoundUp(RoundUp(bytes, kBaseAlign), page);
  const size_t map_bytes = body + page;
  uint8_t *map = MapAligned(map_bytes, bytes >= kHugeFrom ? kHugePage : page);
  if (map == nullptr || mprotect(map + body, page, PROT_NONE) != 0) {
    const int reason = errno;
    if (map != nullptr) munmap(map, map_bytes);
    return Refuse(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: the host can't map %zu bytes: %s", who, bytes, std::strerror(reason));
  }
  if (bytes >= kHugeFrom) madvise(map, body, MADV_HUGEPAGE);
  uint8_t *base = map + body - RoundUp(bytes, kBaseAlign);
  const auto tail = static_cast<size_t>(map + body - (base + bytes));
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(base + bytes, tail);
#else
  std::memset(base + bytes, kTailPattern, tail);
#endif
  const std::lock_guard<std::mutex> lock(mutex_);
  live_.emplace(reinterpret_cast<uintptr_t>(base), Entry{bytes, owner, map, map_bytes, tail});
  const auto slot = static_cast<size_t>(owner);
  ++count_[slot];
  bytes_[slot] += bytes;
  generation_.fetch_add(1, std::memory_order_release);
  *ptr = base;
  return ACL_SUCCESS;
}

const Ledger::Freed *Ledger::FindFreed(uintptr_t address) const {
  // Newest first: an address may have been used more than once.
  for (auto it = freed_.rbegin(); it != freed_.rend(); ++it) {
    if (address >= it->base && address < it->base + std::max<size_t>(it->bytes, 1)) return &*it;
  }
  return nullptr;
}

aclError Ledger::Free(const char *who, void *ptr) {
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) {
    if (const Freed *freed = FindFreed(address); freed != nullptr && freed->base == address) {
      return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: %p (%zu bytes) has been freed already", who, ptr, freed->bytes);
    }
    auto after = live_.upper_bound(address);
    if (after != live_.begin() && address < std::prev(after)->first + std::prev(after)->second.bytes) {
      const auto &inside = *std::prev(after);
      return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: %p lies %zu bytes inside the allocation %p; only its beginning can be freed", who, ptr,
                    static_cast<size_t>(address - inside.first), reinterpret_cast<void *>(inside.first));
    }
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not device memory of this process", who, ptr);
  }
  const Entry entry = found->second;
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<uint8_t *>(address) + entry.bytes, entry.tail);
#else
  const auto *tail = reinterpret_cast<const uint8_t *>(address) + entry.bytes;
  for (size_t i = 0; i < entry.tail; ++i) {
    if (tail[i] != kTailPattern) {
      char text[192];
      std::snprintf(text, sizeof text, "%s: %p (%zu bytes) was written past its end, first at byte %zu", who, ptr, entry.bytes,
                    entry.bytes + i);
      std::fprintf(stderr, "opkit simulator: %s\n", text);
      SetRecentError(text);
      break;
    }
  }
#endif
  live_.erase(found);
  const auto slot = static_cast<size_t>(entry.owner);
  --count_[slot];
  bytes_[slot] -= entry.bytes;
  generation_.fetch_add(1, std::memory_order_release);
  // Gives the pages back but keeps the addresses, without access.
  if (mmap(entry.map, entry.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    munmap(entry.map, entry.map_bytes);
  } else {
    freed_.push_back(Freed{address, entry.bytes, entry.map, entry.map_bytes});
  }
  if (freed_.size() > kFreedKept) {
    munmap(freed_.front().map, freed_.front().map_bytes);
    freed_.pop_front();
  }
  return ACL_SUCCESS;
}

bool Ledger::Find(const void *ptr, Allocation *found) const {
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  const std::lock_guard<std::mutex> lock(mutex_);
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return false;
  const auto &entry = *std::prev(after);
  if (address >= entry.first + entry.second.bytes) return false;
  *found = Allocation{reinterpret_cast<void *>(entry.first), entry.second.bytes, entry.second.owner};
  return true;
}

bool Ledger::Covers(const void *ptr, size_t bytes, char *reason, size_t reason_bytes) const {
  Allocation found;
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  if (Find(ptr, &found)) {
    const size_t offset = address - reinterpret_cast<uintptr_t>(found.base);
    if (bytes <= found.bytes - offset) return true;
    std::snprintf(reason, reason_bytes, "bytes [%zu, %zu) of an allocation of %zu bytes: %zu bytes too many", offset, offset + bytes,
                  found.bytes, bytes - (found.bytes - offset));
    return false;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const Freed *freed = FindFreed(address)) {
    std::snprintf(reason, reason_bytes, "device memory that has been freed (%zu bytes at %p)", freed->bytes,
                  reinterpret_cast<void *>(freed->base));
  } else {
    std::snprintf(reason, reason_bytes, "%p, which is not device memory", ptr);
  }
  return false;
}

size_t Ledger::OutstandingCount(Owner owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return count_[static_cast<size_t>(owner)];
}

size_t Ledger::OutstandingBytes(Owner owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_[static_cast<size_t>(owner)];
}

bool Ledger::Refresh(std::vector<Region> *regions, uint64_t *generation) const {
  if (generation_.load(std::memory_order_acquire) == *generation) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  *generation = generation_.load(std::memory_order_relaxed);
  regions->clear();
  regions->reserve(live_.size());
  for (const auto &entry : live_) regions->push_back(Region{entry.first, entry.second.bytes, ""});
  return true;
}

const Region *FindRegion(const std::vector<Region> &regions, uintptr_t address) {
  auto after =
      std::upper_bound(regions.begin(), regions.end(), address, [](uintptr_t value, const Region &region) { return value < region.begin; });
  if (after == regions.begin()) return nullptr;
  const Region &candidate = *std::prev(after);
  return address < candidate.begin + candidate.bytes ? &candidate : nullptr;
}

bool FindAllocation(const void *ptr, Allocation *found) { return Ledger::Get().Find(ptr, found); }
size_t OutstandingAllocations(Owner owner) { return Ledger::Get().OutstandingCount(owner); }
size_t OutstandingBytes(Owner owner) { return Ledger::Get().OutstandingBytes(owner); }

}  // namespace opkit_sim::rt
