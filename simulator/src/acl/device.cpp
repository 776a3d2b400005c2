// The one simulated device, its contexts and its streams.
#include "acl/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "acl/environment.h"
#include "acl/ledger.h"

namespace opkit_sim::rt {
namespace {

struct Context {
  int32_t device;
  std::shared_ptr<Stream> default_stream;  // made on first use
};

struct Runtime {
  std::mutex mutex;
  uint64_t init_count = 0;
  uint32_t device_uses = 0;  // SetDevice less ResetDevice
  std::unordered_map<void *, std::unique_ptr<Context>> contexts;
  Context *primary = nullptr;
  std::unordered_map<void *, std::shared_ptr<Stream>> streams;
  int32_t next_stream_id = 0;
  std::atomic<uint64_t> generation{1};  // changes whenever a handle dies
};

Runtime &State() {
  static Runtime &runtime = *new Runtime;
  return runtime;
}

struct ThreadState {
  Context *context = nullptr;
  uint64_t checked_at = 0;
  // The last stream that this thread resolved.
  aclrtStream stream_handle = nullptr;
  std::weak_ptr<Stream> stream;
  uint64_t stream_checked_at = 0;
};

thread_local ThreadState thread_state;

// The calling thread's context if it still exists. The runtime's lock must not be held.
Context *CurrentContext() {
  ThreadState &mine = thread_state;
  if (mine.context == nullptr) return nullptr;
  Runtime &state = State();
  const uint64_t generation = state.generation.load(std::memory_order_acquire);
  if (mine.checked_at != generation) {
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (state.contexts.count(mine.context) == 0) mine.context = nullptr;
    mine.checked_at = generation;
  }
  return mine.context;
}

aclError RefuseDevice(const char *who, int64_t device) {
  return Refuse(ACL_ERROR_RT_INVALID_DEVICEID, "%s: device %lld; this machine has %u (simulated), numbered from 0", who,
                static_cast<long long>(device), kDeviceCount);
}

bool IsDevice(int64_t device) { return device >= 0 && device < static_cast<int64_t>(kDeviceCount); }

// Lets a context's default stream run out outside the lock: its tasks may call the runtime.
void EndContext(std::unique_ptr<Context> context) {
  if (context != nullptr && context->default_stream != nullptr) context->default_stream->Drain();
}

// What the program still holds, if it asked for strictness: the output of a good run stays clean otherwise.
void ReportLeaks() {
  const size_t count = OutstandingAllocations(Owner::kUser);
  if (!Env().strict || count == 0) return;
  std::fprintf(stderr, "[WARNING] opkit simulator: %zu device allocation%s, %zu bytes in all, never freed\n", count, count == 1 ? "" : "s",
               OutstandingBytes(Owner::kUser));
}

struct StopAtExit {
  // At the end of the process the streams' threads must not run kernels whose libraries are being torn down.
  ~StopAtExit() {
    Runtime &state = State();
    std::vector<std::shared_ptr<Stream>> streams;
    bool is_reset = false;
    {
      const std::lock_guard<std::mutex> lock(state.mutex);
      is_reset = state.primary == nullptr;
      for (const auto &stream : state.streams) streams.push_back(stream.second);
      for (const auto &context : state.contexts) {
        if (context.second->default_stream != nullptr) streams.push_back(context.second->default_stream);
      }
    }
    constexpr uint64_t kPatienceNs = 2000000000;
    // Never freed: their threads are still in a task, and the program may give their handles back later.
    static auto &unfinished = *new std::vector<std::shared_ptr<Stream>>;
    for (const auto &stream : streams) {
      if (!stream->Abandon(kPatienceNs)) unfinished.push_back(stream);
    }
    FlushTaskRecords();
    if (!is_reset) ReportLeaks();
  }
};

// For every call that gives a thread a context, without which there is no stream.
void WatchExit() { static StopAtExit stop_at_exit; }

// The live stream of a handle; null, without a text, if there is none. The runtime's lock must not be held.
std::shared_ptr<Stream> LiveStream(aclrtStream handle) {
  Runtime &state = State();
  Context *context = handle == nullptr ? CurrentContext() : nullptr;
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (handle == nullptr) {
    if (context == nullptr) return nullptr;
    if (context->default_stream == nullptr) context->default_stream = std::make_shared<Stream>(state.next_stream_id++, context->device);
    return context->default_stream;
  }
  const auto found = state.streams.find(handle);
  if (found != state.streams.end()) return found->second;
  for (const auto &other : state.contexts) {
    if (other.second->default_stream.get() == handle) return other.second->default_stream;
  }
  return nullptr;
}

}  // namespace

aclError RequireWaitable(const char *who) {
  if (Stream::IsAnyWorker()) {
    return Refuse(ACL_ERROR_RT_STREAM_NOT_COMPLETE, "%s: called from a stream's host function; the stream would wait for itself", who);
  }
  if (IsCapturing()) {
    return Refuse(ACL_ERROR_RT_STREAM_CAPTURED, "%s: this thread's tasks are being recorded for a static graph; they don't run yet", who);
  }
  return ACL_SUCCESS;
}

aclError RequireContext(const char *who) {
  if (CurrentContext() != nullptr) return ACL_SUCCESS;
  return Refuse(ACL_ERROR_RT_CONTEXT_NULL, "%s: this thread has no context; call aclrtSetDevice (or aclrtSetCurrentContext) in it first",
                who);
}

std::shared_ptr<Stream> ResolveStream(const char *who, aclrtStream handle, aclError *code) {
  ThreadState &mine = thread_state;
  const uint64_t generation = State().generation.load(std::memory_order_acquire);
  if (handle != nullptr && handle == mine.stream_handle && mine.stream_checked_at == generation) {
    if (auto stream = mine.stream.lock()) return stream;
  }
  auto found = LiveStream(handle);
  if (found != nullptr) {
    if (handle != nullptr) {
      mine.stream_handle = handle;
      mine.stream = found;
      mine.stream_checked_at = generation;
    }
    return found;
  }
  *code = handle == nullptr
              ? RequireContext(who)
              : Refuse(ACL_ERROR_RT_INVALID_HANDLE,
                       "%s: %p is not a live stream; it was destroyed, or its device was reset, or it never was one", who, handle);
  return nullptr;
}

int32_t CurrentDevice() {
  const Context *context = CurrentContext();
  return context == nullptr ? -1 : context->device;
}

aclrtStream DefaultStream() { return LiveStream(nullptr).get(); }

void Drain(aclrtStream stream) {
  const auto live = LiveStream(stream);
  if (live != nullptr && !live->IsWorker()) live->Drain();
}

}  // namespace opkit_sim::rt

using namespace opkit_sim::rt;

extern "C" {

aclError aclInit(const char *configPath) {
  if (configPath != nullptr && *configPath != '\0') {
    std::FILE *file = std::fopen(configPath, "rb");
    if (file == nullptr) return Refuse(ACL_ERROR_INVALID_FILE, "aclInit: %s can't be read: %s", configPath, std::strerror(errno));
    std::fclose(file);
  }
  Runtime &state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (state.init_count++ != 0) return Refuse(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: called already in this process");
  return ACL_SUCCESS;
}

aclError aclFinalize() {
  Runtime &state = State();
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (state.init_count == 0) return Refuse(ACL_ERROR_UNINITIALIZE, "aclFinalize: aclInit wasn't called, or aclFinalize was already");
    state.init_count = 0;
  }
  FlushTaskRecords();
  return ACL_SUCCESS;
}

aclError aclFinalizeReference(uint64_t *refCount) {
  Runtime &state = State();
  uint64_t left = 0;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (state.init_count == 0) return Refuse(ACL_ERROR_UNINITIALIZE, "aclFinalizeReference: aclInit wasn't called");
    left = --state.init_count;
  }
  if (left == 0) FlushTaskRecords();
  if (refCount != nullptr) *refCount = left;
  return ACL_SUCCESS;
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr) {
  if (pkgName == nullptr || versionStr == nullptr)
    return Refuse(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionStr: arguments must not be null");
  std::strcpy(versionStr, "9.2.0-sim");
  return ACL_SUCCESS;
}

const char *aclrtGetSocName() { return chip::kSocName; }

aclError aclrtSetDevice(int32_t deviceId) {
  if (!IsDevice(deviceId)) return RefuseDevice("aclrtSetDevice", deviceId);
  WatchExit();
  Runtime &state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (state.primary == nullptr) {
    auto context = std::make_unique<Context>(Context{deviceId, nullptr});
    state.primary = context.get();
    state.contexts[state.primary] = std::move(context);
  }
  ++state.device_uses;
  thread_state.context = state.primary;
  thread_state.checked_at = state.generation.load();
  return ACL_SUCCESS;
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  if (!IsDevice(deviceId)) return RefuseDevice("aclrtResetDeviceForce", deviceId);
  if (const aclError code = RequireWaitable("aclrtResetDeviceForce")) return code;
  Runtime &state = State();
  std::unique_ptr<Context> ended;
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.device_uses = 0;
    if (state.primary == nullptr) return ACL_SUCCESS;
    ended = std::move(state.contexts[state.primary]);
    state.contexts.erase(state.primary);
    state.primary = nullptr;
    for (auto &stream : state.streams) streams.push_back(std::move(stream.second));
    state.streams.clear();
    state.generation.fetch_add(1);
  }
  for (const auto &stream : streams) stream->Drain();
  EndContext(std::move(ended));
  ReportLeaks();
  return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId) {
  if (!IsDevice(deviceId)) return RefuseDevice("aclrtResetDevice", deviceId);
  if (const aclError code = RequireWaitable("aclrtResetDevice")) return code;
  Runtime &state = State();
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (state.device_uses == 0) return Refuse(ACL_ERROR_RT_CONTEXT_NULL, "aclrtResetDevice: aclrtSetDevice wasn't called");
    if (--state.device_uses != 0) return ACL_SUCCESS;
  }
  return aclrtResetDeviceForce(deviceId);
}

aclError aclrtGetDevice(int32_t *deviceId) {
  if (deviceId == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: deviceId must not be null");
  const Context *context = CurrentContext();
  if (context == nullptr) return RequireContext("aclrtGetDevice");
  *deviceId = context->device;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count) {
  if (count == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: count must not be null");
  *count = kDeviceCount;
  return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode *runMode) {
  if (runMode == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode: runMode must not be null");
  *runMode = ACL_HOST;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value) {
  if (value == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo: value must not be null");
  if (!IsDevice(deviceId)) return RefuseDevice("aclrtGetDeviceInfo", deviceId);
  switch (attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
      *value = chip::kAicpuCores;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
      *value = chip::kCubeCores;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      *value = chip::kVectorCores;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
      *value = chip::kUbBytes;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      *value = static_cast<int64_t>(Ledger::TotalBytes());
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      *value = chip::kL2Bytes;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_IS_VIRTUAL:
      *value = 0;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_NPU_ARCH:
      *value = chip::kNpuArch;
      return ACL_SUCCESS;
  }
  return Refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtGetDeviceInfo: attribute %d is unknown to the simulator", static_cast<int>(attr));
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value) {
  switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
      return aclrtGetDeviceInfo(deviceId, ACL_DEV_ATTR_AICORE_CORE_NUM, value);
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      return aclrtGetDeviceInfo(deviceId, ACL_DEV_ATTR_VECTOR_CORE_NUM, value);
    case ACL_DEVICE_INFO_L2_SIZE:
      return aclrtGetDeviceInfo(deviceId, ACL_DEV_ATTR_L2_CACHE_SIZE, value);
    case ACL_DEVICE_INFO_UNDEFINED:
      break;
  }
  return Refuse(ACL_ERROR_INVALID_PARAM, "aclGetDeviceCapability: capability %d is unknown", static_cast<int>(deviceInfo));
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  constexpr const char *kWho = "aclrtSynchronizeDevice";
  if (timeout < -1) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: timeout %d ms; it must be -1 (no limit) or more", kWho, timeout);
  if (const aclError code = RequireContext(kWho)) return code;
  if (const aclError code = RequireWaitable(kWho)) return code;
  Runtime &state = State();
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    for (const auto &context : state.contexts) {
      if (context.second->default_stream != nullptr) streams.push_back(context.second->default_stream);
    }
    for (const auto &stream : state.streams) streams.push_back(stream.second);
  }
  // By age, so that the first failure reported doesn't depend on addresses.
  std::sort(streams.begin(), streams.end(), [](const auto &a, const auto &b) { return a->Id() < b->Id(); });
  aclError first = ACL_SUCCESS;
  for (const auto &stream : streams) {
    const uint64_t limit = timeout < 0 ? 0 : std::max<uint64_t>(1, static_cast<uint64_t>(timeout) * 1000000);
    if (!stream->Drain(limit)) {
      return Refuse(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "%s: stream %d wasn't done within %d ms", kWho, stream->Id(), timeout);
    }
    const aclError code = stream->TakeError(kWho);
    if (first == ACL_SUCCESS) first = code;
  }
  return first;
}

aclError aclrtSynchronizeDevice(void) { return aclrtSynchronizeDeviceWithTimeout(-1); }

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
  if (context == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: context must not be null");
  if (!IsDevice(deviceId)) return RefuseDevice("aclrtCreateContext", deviceId);
  WatchExit();
  auto made = std::make_unique<Context>(Context{deviceId, nullptr});
  Runtime &state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  thread_state.context = made.get();
  thread_state.checked_at = state.generation.load();
  *context = made.get();
  state.contexts[made.get()] = std::move(made);
  return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
  if (context == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtDestroyContext: context must not be null");
  Runtime &state = State();
  std::unique_ptr<Context> ended;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    const auto found = state.contexts.find(context);
    if (found == state.contexts.end()) return Refuse(ACL_ERROR_RT_INVALID_HANDLE, "aclrtDestroyContext: %p is not a live context", context);
    if (found->second.get() == state.primary) {
      return Refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyContext: %p is the device's own context; aclrtResetDevice ends it", context);
    }
    ended = std::move(found->second);
    state.contexts.erase(found);
    state.generation.fetch_add(1);
  }
  EndContext(std::move(ended));
  return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  if (context == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext: context must not be null");
  Runtime &state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (state.contexts.count(context) == 0)
    return Refuse(ACL_ERROR_RT_INVALID_HANDLE, "aclrtSetCurrentContext: %p is not a live context", context);
  thread_state.context = static_cast<Context *>(context);
  thread_state.checked_at = state.generation.load();
  return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context) {
  if (context == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: context must not be null");
  if (const aclError code = RequireContext("aclrtGetCurrentContext")) return code;
  *context = CurrentContext();
  return ACL_SUCCESS;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream) {
  if (stream == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtCtxGetCurrentDefaultStream: stream must not be null");
  aclError code = ACL_SUCCESS;
  const auto found = ResolveStream("aclrtCtxGetCurrentDefaultStream", nullptr, &code);
  if (found == nullptr) return code;
  *stream = found.get();
  return ACL_SUCCESS;
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t) {
  if (stream == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtCreateStream: stream must not be null");
  if (priority > 7) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtCreateStreamWithConfig: priority %u; it must be 0 to 7", priority);
  if (const aclError code = RequireContext("aclrtCreateStream")) return code;
  const int32_t device = CurrentContext()->device;
  Runtime &state = State();
  const std::lock_guard<std::mutex> lock(state.mutex);
  auto made = std::make_shared<Stream>(state.next_stream_id++, device);
  *stream = made.get();
  state.streams[made.get()] = std::move(made);
  return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream) { return aclrtCreateStreamWithConfig(stream, 0, 0); }

aclError aclrtDestroyStream(aclrtStream stream) {
  if (stream == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtDestroyStream: stream must not be null");
  Runtime &state = State();
  std::shared_ptr<Stream> ended;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    const auto found = state.streams.find(stream);
    if (found == state.streams.end()) {
      return Refuse(ACL_ERROR_RT_INVALID_HANDLE, "aclrtDestroyStream: %p is not a live stream (destroyed already, or its device was reset)",
                    stream);
    }
    if (found->second->IsWorker()) {
      return Refuse(ACL_ERROR_RT_STREAM_NOT_COMPLETE, "aclrtDestroyStream: called from the stream's own host function");
    }
    ended = std::move(found->second);
    state.streams.erase(found);
    state.generation.fetch_add(1);
  }
  ended->Drain();
  return ACL_SUCCESS;
}

aclError aclrtDestroyStreamForce(aclrtStream stream) { return aclrtDestroyStream(stream); }

}  // extern "C"
