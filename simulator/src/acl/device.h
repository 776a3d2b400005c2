// Devices, contexts and the streams that belong to them: which handles are alive, and what the calling thread works on.
#ifndef OPKIT_SIM_SRC_ACL_DEVICE_H_
#define OPKIT_SIM_SRC_ACL_DEVICE_H_

#include <cstdint>
#include <memory>

#include "acl/acl_rt.h"
#include "acl/error_text.h"
#include "acl/stream.h"

namespace opkit_sim::rt {

// The chip that is simulated: an Atlas A2 (NPU architecture 2201) with these numbers.
namespace chip {
constexpr char kSocName[] = "Ascend910B3";
constexpr int64_t kNpuArch = 2201;
constexpr int64_t kCubeCores = 20;
constexpr int64_t kVectorCores = 40;
constexpr int64_t kAicpuCores = 6;
constexpr uint32_t kUbBytes = 192 * 1024;
constexpr int64_t kL2Bytes = int64_t{192} << 20;
constexpr uint32_t kMaxBlocks = 65535;
}  // namespace chip

constexpr uint32_t kDeviceCount = 1;

// ACL_SUCCESS if the calling thread may wait for all of the device's work; a host function would wait for itself, and what a capture
// records doesn't run.
aclError RequireWaitable(const char *who);

// ACL_SUCCESS if the calling thread has a live context; else 107002 with a text that says what to call.
aclError RequireContext(const char *who);

// The live stream behind the handle (null: the current context's default stream), kept alive by the result. On failure null, with `*code`
// set.
std::shared_ptr<Stream> ResolveStream(const char *who, aclrtStream handle, aclError *code);

// Puts the task into the stream, or into the list if the calling thread captures that stream.
template <typename Fill>
aclError Submit(const char *who, aclrtStream handle, Fill &&fill) {
  aclError code = ACL_SUCCESS;
  const std::shared_ptr<Stream> stream = ResolveStream(who, handle, &code);
  if (stream == nullptr) return code;
  if (TaskList *list = CaptureOf(stream.get())) {
    list->tasks.push_back(std::make_unique<Task>());
    fill(*list->tasks.back());
  } else {
    stream->Push(fill);
  }
  return ACL_SUCCESS;
}

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_DEVICE_H_
