// The memory calls of the API, and the small conversions that need no device.
#include <malloc.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "acl/copy.h"
#include "acl/device.h"
#include "acl/error_text.h"
#include "acl/ledger.h"
#include "acl/runtime_internal.h"
#include "acl/task_records.h"

namespace opkit_sim::rt {
namespace {

struct HostMemory {
  std::mutex mutex;
  std::unordered_map<void *, size_t> live;
};

HostMemory &Pinned() {
  static HostMemory &memory = *new HostMemory;
  return memory;
}

// A copy as it was asked for, checked and with its directions known.
struct Copy {
  void *dst;
  const void *src;
  size_t bytes;
  bool is_dst_device;
  bool is_src_device;
};

bool IsDeviceMemory(const void *ptr) {
  Allocation found;
  return FindAllocation(ptr, &found);
}

// One side of a copy: must it be device memory, may it be, and does the range fit.
aclError CheckSide(const char *who, const char *side, const char *kind, const void *ptr, size_t bytes, bool must_be_device) {
  char reason[256];
  if (must_be_device) {
    if (Ledger::Get().Covers(ptr, bytes, reason, sizeof reason)) return ACL_SUCCESS;
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s (%s): %s is %s", who, kind, side, reason);
  }
  if (!IsDeviceMemory(ptr)) return ACL_SUCCESS;
  return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s (%s): %s %p is device memory", who, kind, side, ptr);
}

aclError CheckCopy(const char *who, void *dst, size_t dst_max, const void *src, size_t bytes, aclrtMemcpyKind kind, Copy *copy) {
  if (dst == nullptr || src == nullptr)
    return Refuse(ACL_ERROR_INVALID_PARAM, "%s: %s must not be null", who, dst == nullptr ? "dst" : "src");
  if (bytes > dst_max) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: count %zu is larger than destMax %zu", who, bytes, dst_max);
  bool is_dst_device = false;
  bool is_src_device = false;
  const char *name = "";
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      name = "host to host";
      break;
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
      name = "host to device";
      is_dst_device = true;
      break;
    case ACL_MEMCPY_DEVICE_TO_HOST:
      name = "device to host";
      is_src_device = true;
      break;
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
      name = "device to device";
      is_dst_device = is_src_device = true;
      break;
    case ACL_MEMCPY_DEFAULT:
      name = "default";
      is_dst_device = IsDeviceMemory(dst);
      is_src_device = IsDeviceMemory(src);
      break;
    default:
      return Refuse(ACL_ERROR_INVALID_PARAM, "%s: kind %d is unknown", who, static_cast<int>(kind));
  }
  if (const aclError code = CheckSide(who, "dst", name, dst, bytes, is_dst_device)) return code;
  if (const aclError code = CheckSide(who, "src", name, src, bytes, is_src_device)) return code;
  *copy = Copy{dst, src, bytes, is_dst_device, is_src_device};
  return ACL_SUCCESS;
}

void FillCopyTask(Task &task, const Copy &copy, const RecordTag &tag) {
  task.kind = TaskKind::kCopy;
  task.dst = copy.dst;
  task.src = copy.src;
  task.bytes = copy.bytes;
  task.is_dst_device = copy.is_dst_device;
  task.is_src_device = copy.is_src_device;
  task.tag = tag;
  task.enqueue_ns = EnqueueTime();
}

aclError CheckFill(const char *who, void *ptr, size_t max_count, size_t count) {
  if (ptr == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "%s: devPtr must not be null", who);
  if (count > max_count) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: count %zu is larger than maxCount %zu", who, count, max_count);
  char reason[256];
  if (Ledger::Get().Covers(ptr, count, reason, sizeof reason)) return ACL_SUCCESS;
  return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: devPtr is %s", who, reason);
}

aclError AllocateFor(const char *who, void **ptr, size_t bytes) {
  if (ptr == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "%s: devPtr must not be null", who);
  *ptr = nullptr;
  if (bytes == 0) return Refuse(ACL_ERROR_INVALID_PARAM, "%s: size must not be 0", who);
  if (const aclError code = RequireContext(who)) return code;
  return Ledger::Get().Allocate(who, bytes, Owner::kUser, ptr);
}

aclError FreeFor(const char *who, void *ptr) {
  if (ptr == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "%s: devPtr must not be null", who);
  Allocation found;
  if (FindAllocation(ptr, &found) && found.base == ptr && found.owner == Owner::kGraph) {
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: %p belongs to the graph engine, which frees it itself", who, ptr);
  }
  return Ledger::Get().Free(who, ptr);
}

}  // namespace

aclError DeviceMalloc(size_t bytes, Owner owner, void **ptr) {
  *ptr = nullptr;
  if (bytes == 0) return Refuse(ACL_ERROR_INVALID_PARAM, "device memory of 0 bytes");
  if (const aclError code = RequireContext("device memory")) return code;
  return Ledger::Get().Allocate("device memory", bytes, owner, ptr);
}

aclError DeviceFree(void *ptr) { return Ledger::Get().Free("device memory", ptr); }

aclError EnqueueCopy(aclrtStream stream, void *dst, const void *src, size_t bytes, aclrtMemcpyKind kind, const RecordTag &tag) {
  if (bytes == 0) return ACL_SUCCESS;
  Copy copy{};
  const char *who = tag.name == nullptr ? "copy" : tag.name;
  if (const aclError code = CheckCopy(who, dst, bytes, src, bytes, kind, &copy)) return code;
  return Submit(who, stream, [&](Task &task) { FillCopyTask(task, copy, tag); });
}

aclError EnqueueArgsUpdate(aclrtStream stream, void *dst, const void *host, size_t bytes, const RecordTag &tag) {
  if (bytes == 0) return ACL_SUCCESS;
  const char *who = tag.name == nullptr ? "arguments" : tag.name;
  // The worker looks `dst` up as it runs; asking the ledger here as well would double the cost of a refreshed launch.
  return Submit(who, stream, [&](Task &task) {
    task.kind = TaskKind::kCopy;
    task.dst = dst;
    task.Store(host, bytes);
    task.is_dst_device = true;
    task.tag = tag;
    if (task.tag.kind == nullptr) task.tag.kind = "ARGS_H2D";
    task.enqueue_ns = EnqueueTime();
  });
}

}  // namespace opkit_sim::rt

using namespace opkit_sim::rt;

extern "C" {

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy) { return AllocateFor("aclrtMalloc", devPtr, size); }
aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy) { return AllocateFor("aclrtMallocAlign32", devPtr, size); }
aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy) { return AllocateFor("aclrtMallocCached", devPtr, size); }

aclError aclrtFree(void *devPtr) { return FreeFor("aclrtFree", devPtr); }

aclError aclrtFreeWithDevSync(void *devPtr) {
  if (const aclError code = aclrtSynchronizeDevice()) return code;
  return FreeFor("aclrtFreeWithDevSync", devPtr);
}

aclError aclrtMallocHost(void **hostPtr, size_t size) {
  if (hostPtr == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: hostPtr must not be null");
  *hostPtr = nullptr;
  if (size == 0) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost: size must not be 0");
  if (const aclError code = RequireContext("aclrtMallocHost")) return code;
  void *made = nullptr;
  if (posix_memalign(&made, 64, size) != 0)
    return Refuse(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMallocHost: the host can't give %zu bytes", size);
  HostMemory &pinned = Pinned();
  const std::lock_guard<std::mutex> lock(pinned.mutex);
  pinned.live[made] = size;
  *hostPtr = made;
  return ACL_SUCCESS;
}

aclError aclrtFreeHost(void *hostPtr) {
  if (hostPtr == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtFreeHost: hostPtr must not be null");
  HostMemory &pinned = Pinned();
  const std::lock_guard<std::mutex> lock(pinned.mutex);
  if (pinned.live.erase(hostPtr) == 0) {
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtFreeHost: %p was not allocated by aclrtMallocHost, or has been freed already", hostPtr);
  }
  std::free(hostPtr);
  return ACL_SUCCESS;
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total) {
  if (free == nullptr || total == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: free and total must not be null");
  if (const aclError code = RequireContext("aclrtGetMemInfo")) return code;
  const bool is_hbm = attr == ACL_HBM_MEM || attr == ACL_HBM_MEM_HUGE || attr == ACL_HBM_MEM_NORMAL;
  *free = is_hbm ? Ledger::Get().FreeBytes() : 0;
  *total = is_hbm ? Ledger::TotalBytes() : 0;
  return ACL_SUCCESS;
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes) {
  if (ptr == nullptr || attributes == nullptr)
    return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtPointerGetAttributes: arguments must not be null");
  *attributes = aclrtPtrAttributes{};
  if (IsDeviceMemory(ptr)) {
    attributes->location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    return ACL_SUCCESS;
  }
  HostMemory &pinned = Pinned();
  const std::lock_guard<std::mutex> lock(pinned.mutex);
  const bool is_pinned = pinned.live.count(const_cast<void *>(ptr)) != 0;
  attributes->location.type = is_pinned ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  return ACL_SUCCESS;
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind) {
  if (count == 0) return ACL_SUCCESS;
  Copy copy{};
  if (const aclError code = CheckCopy("aclrtMemcpy", dst, destMax, src, count, kind, &copy)) return code;
  // Not in any stream's order, as on a device: a missing synchronization shows.
  const uint64_t start = EnqueueTime();
  CopyBytes(dst, src, count);
  if (start != 0) Record(RecordOf("MEMCPY", RecordTag{}, -1, start, start, count, 0));
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
  if (count == 0) return ACL_SUCCESS;
  Copy copy{};
  if (const aclError code = CheckCopy("aclrtMemcpyAsync", dst, destMax, src, count, kind, &copy)) return code;
  return Submit("aclrtMemcpyAsync", stream, [&](Task &task) { FillCopyTask(task, copy, RecordTag{}); });
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
  if (count == 0) return ACL_SUCCESS;
  if (const aclError code = CheckFill("aclrtMemset", devPtr, maxCount, count)) return code;
  FillBytes(devPtr, value, count);
  return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  if (count == 0) return ACL_SUCCESS;
  if (const aclError code = CheckFill("aclrtMemsetAsync", devPtr, maxCount, count)) return code;
  return Submit("aclrtMemsetAsync", stream, [&](Task &task) {
    task.kind = TaskKind::kFill;
    task.dst = devPtr;
    task.value = value;
    task.bytes = count;
    task.is_dst_device = true;
    task.enqueue_ns = EnqueueTime();
  });
}

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

float aclFloat16ToFloat(aclFloat16 value) {
  const uint32_t sign = static_cast<uint32_t>(value & 0x8000U) << 16;
  const uint32_t exponent = (value >> 10) & 0x1FU;
  const uint32_t fraction = value & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign == 0 ? magnitude : -magnitude;
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent - 15 + 127;
  const uint32_t bits = sign | (wide << 23) | (fraction << 13);
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

aclFloat16 aclFloatToFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000U);
  if (std::isnan(value)) return static_cast<aclFloat16>(sign | 0x7E00U);
  const float magnitude = std::fabs(value);
  // 65520 is halfway between the largest float16 and what would be the next.
  if (magnitude >= 65520.0F) return static_cast<aclFloat16>(sign | 0x7C00U);
  const bool is_subnormal = magnitude < 0x1p-14F;
  const int exponent = is_subnormal ? -14 : std::ilogb(magnitude);
  // Units of the last place, rounded to nearest even by the default rounding mode; a carry runs into the exponent as it should.
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  const uint32_t base = is_subnormal ? 0 : static_cast<uint32_t>(exponent + 15 - 1) << 10;
  return static_cast<aclFloat16>(sign | (base + units));
}

}  // extern "C"
