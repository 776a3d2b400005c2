// Launching kernels: what is checked when the call is made, and recording for static graphs.
#include <cstring>
#include <string>
#include <vector>

#include "acl/device.h"
#include "acl/error_text.h"
#include "acl/kernel_binary.h"
#include "acl/ledger.h"
#include "acl/runtime_internal.h"
#include "acl/stream.h"
#include "acl/task_records.h"
#include "acl/tasks.h"

namespace opkit_sim::rt {
namespace {

struct Capture {
  std::shared_ptr<Stream> stream;
  std::shared_ptr<TaskList> list;
};

thread_local Capture capture;

uint32_t RoundUp(uint32_t value, uint32_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::string Signature(const KernelEntry &entry) {
  std::string text;
  for (uint32_t i = 0; i < entry.param_count; ++i) {
    const KernelParam &param = entry.params[i];
    if (!text.empty()) text += ", ";
    text += std::string(param.name) + " at " + std::to_string(param.offset) + " (" + std::to_string(param.bytes) + " bytes)";
  }
  return text.empty() ? "no parameters" : text;
}

// A host struct may end right behind its last member, or be padded to its own alignment.
bool IsArgsSize(const Function &function, size_t bytes) {
  const uint32_t exact = function.entry->args_bytes;
  return bytes == exact || bytes == RoundUp(exact, 4) || bytes == RoundUp(exact, function.args_align);
}

aclError CheckConfig(const char *who, const aclrtLaunchKernelCfg *cfg) {
  if (cfg == nullptr || cfg->numAttrs == 0) return ACL_SUCCESS;
  if (cfg->attrs == nullptr)
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: cfg announces %zu attributes, but the list is null", who, cfg->numAttrs);
  for (size_t i = 0; i < cfg->numAttrs; ++i) {
    const aclrtLaunchKernelAttr &attr = cfg->attrs[i];
    if (attr.id < ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE || attr.id > ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING) {
      return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: launch attribute %d is unknown", who, static_cast<int>(attr.id));
    }
    if (attr.id == ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET && attr.value.blockDimOffset != 0) {
      return Refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s: a block offset isn't simulated", who);
    }
  }
  return ACL_SUCCESS;
}

// What all launches have in common. The binary is null on failure, with `*code` set.
std::shared_ptr<Binary> CheckLaunch(const char *who, const void *function, uint32_t blocks, const aclrtLaunchKernelCfg *cfg,
                                    aclError *code) {
  auto binary = BinaryOf(who, function, code);
  if (binary == nullptr) return nullptr;
  const KernelEntry &entry = *static_cast<const Function *>(function)->entry;
  const char *kernel = entry.name;
  if (std::strcmp(entry.core_type, "aiv") != 0) {
    *code =
        Refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s: kernel '%s' is of a type that needs cube cores (%s); only vector cores are simulated",
               who, kernel, entry.core_type);
    return nullptr;
  }
  if (blocks == 0 || blocks > chip::kMaxBlocks) {
    *code =
        Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: kernel '%s': numBlocks is %u; it must be 1 to %u", who, kernel, blocks, chip::kMaxBlocks);
    return nullptr;
  }
  *code = CheckConfig(who, cfg);
  return *code == ACL_SUCCESS ? std::move(binary) : nullptr;
}

aclError RefuseArgsSize(const char *who, const KernelEntry &entry, size_t bytes) {
  return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: kernel '%s' takes %u bytes of arguments: %s; argsSize is %zu", who, entry.name,
                entry.args_bytes, Signature(entry).c_str(), bytes);
}

aclError LaunchByDeviceArgs(const char *who, aclrtFuncHandle handle, uint32_t blocks, const void *args, size_t bytes,
                            aclrtLaunchKernelCfg *cfg, aclrtStream stream) {
  aclError code = ACL_SUCCESS;
  auto binary = CheckLaunch(who, handle, blocks, cfg, &code);
  if (binary == nullptr) return code;
  const auto *function = static_cast<const Function *>(handle);
  if (!IsArgsSize(*function, bytes)) return RefuseArgsSize(who, *function->entry, bytes);
  if (bytes != 0) {
    char reason[256];
    if (args == nullptr)
      return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: kernel '%s': argsData must not be null", who, function->entry->name);
    if (!Ledger::Get().Covers(args, bytes, reason, sizeof reason)) {
      return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: kernel '%s': argsData must be device memory of %zu bytes; it is %s", who,
                    function->entry->name, bytes, reason);
    }
  }
  return Submit(who, stream, [&](Task &task) {
    task.kind = TaskKind::kKernel;
    task.function = function;
    task.binary = std::move(binary);
    task.blocks = blocks;
    task.src = args;
    task.bytes = bytes;
    task.enqueue_ns = EnqueueTime();
  });
}

aclError CheckPlaceholders(const char *who, const KernelEntry &entry, size_t bytes, const aclrtPlaceHolderInfo *list, size_t count) {
  if (list == nullptr) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: %zu placeholders announced, but the list is null", who, count);
  for (size_t i = 0; i < count; ++i) {
    if (list[i].addrOffset > bytes || bytes - list[i].addrOffset < sizeof(void *) || list[i].dataOffset >= bytes) {
      return Refuse(ACL_ERROR_RT_PARAM_INVALID,
                    "%s: kernel '%s': placeholder %zu (address at %u, data at %u) lies outside the %zu bytes of hostArgs", who, entry.name,
                    i, list[i].addrOffset, list[i].dataOffset, bytes);
    }
  }
  return ACL_SUCCESS;
}

aclError LaunchByHostArgs(const char *who, aclrtFuncHandle handle, uint32_t blocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                          const void *args, size_t bytes, const aclrtPlaceHolderInfo *placeholders, size_t placeholder_count) {
  aclError code = ACL_SUCCESS;
  auto binary = CheckLaunch(who, handle, blocks, cfg, &code);
  if (binary == nullptr) return code;
  const auto *function = static_cast<const Function *>(handle);
  // Behind the arguments there may be the data of placeholders, and nothing else.
  const bool is_size_right = placeholder_count == 0 ? IsArgsSize(*function, bytes) : bytes >= function->entry->args_bytes;
  if (!is_size_right) return RefuseArgsSize(who, *function->entry, bytes);
  if (args == nullptr && bytes != 0)
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: kernel '%s': hostArgs must not be null", who, function->entry->name);
  Allocation allocation;
  if (bytes != 0 && FindAllocation(args, &allocation)) {
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: kernel '%s': hostArgs %p is device memory; aclrtLaunchKernelV2 takes device memory", who,
                  function->entry->name, args);
  }
  if (placeholder_count != 0) {
    if (const aclError bad = CheckPlaceholders(who, *function->entry, bytes, placeholders, placeholder_count)) return bad;
  }
  return Submit(who, stream, [&](Task &task) {
    task.kind = TaskKind::kKernel;
    task.function = function;
    task.binary = std::move(binary);
    task.blocks = blocks;
    task.Store(args, bytes, placeholder_count != 0);
    task.has_placeholders = placeholder_count != 0;
    for (size_t i = 0; i < placeholder_count; ++i) {
      const void *data = task.Stored() + placeholders[i].dataOffset;
      std::memcpy(task.Stored() + placeholders[i].addrOffset, &data, sizeof data);
    }
    task.enqueue_ns = EnqueueTime();
  });
}

}  // namespace

bool IsCapturing() { return capture.stream != nullptr; }

TaskList *CaptureOf(const Stream *stream) { return capture.stream.get() == stream ? capture.list.get() : nullptr; }

aclError BeginCapture(aclrtStream stream) {
  if (capture.stream != nullptr) return Refuse(ACL_ERROR_RT_STREAM_CAPTURED, "BeginCapture: this thread captures a stream already");
  aclError code = ACL_SUCCESS;
  auto resolved = ResolveStream("BeginCapture", stream, &code);
  if (resolved == nullptr) return code;
  capture = Capture{std::move(resolved), std::make_shared<TaskList>()};
  return ACL_SUCCESS;
}

aclError EndCapture(aclrtStream stream, std::shared_ptr<const TaskList> *tasks) {
  aclError code = ACL_SUCCESS;
  const auto resolved = ResolveStream("EndCapture", stream, &code);
  if (capture.stream == nullptr) return Refuse(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "EndCapture: this thread captures no stream");
  // A capture ends in any case: the next one must be able to begin.
  const Capture ended = std::move(capture);
  capture = Capture{};
  if (resolved != ended.stream) {
    return Refuse(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "EndCapture: the stream is not the one that was captured, or it is gone");
  }
  *tasks = ended.list;
  return ACL_SUCCESS;
}

size_t TaskCount(const TaskList &tasks) { return tasks.tasks.size(); }

size_t KernelCount(const TaskList &tasks) {
  size_t count = 0;
  for (const auto &task : tasks.tasks) count += task->kind == TaskKind::kKernel ? 1 : 0;
  return count;
}

aclError EnqueueReplay(aclrtStream stream, const std::shared_ptr<const TaskList> &tasks, const RecordTag &tag) {
  return Submit("replay", stream, [&](Task &task) {
    task.kind = TaskKind::kReplay;
    task.list = tasks;
    task.tag = tag;
    task.tag.kind = nullptr;
    task.enqueue_ns = EnqueueTime();
  });
}

}  // namespace opkit_sim::rt

using namespace opkit_sim::rt;

extern "C" {

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize, aclrtStream stream) {
  return LaunchByDeviceArgs("aclrtLaunchKernel", funcHandle, numBlocks, argsData, argsSize, nullptr, stream);
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
                             aclrtLaunchKernelCfg *cfg, aclrtStream stream) {
  return LaunchByDeviceArgs("aclrtLaunchKernelV2", funcHandle, numBlocks, argsData, argsSize, cfg, stream);
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                       void *hostArgs, size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum) {
  return LaunchByHostArgs("aclrtLaunchKernelWithHostArgs", funcHandle, numBlocks, stream, cfg, hostArgs, argsSize, placeHolderArray,
                          placeHolderNum);
}

aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args) {
  constexpr const char *kWho = "aclrtLaunchKernelWithArgsArray";
  aclError code = ACL_SUCCESS;
  const auto binary = BinaryOf(kWho, func, &code);
  if (binary == nullptr) return code;
  const opkit_sim::KernelEntry &entry = *static_cast<const Function *>(func)->entry;
  if (args == nullptr && entry.param_count != 0) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: args must not be null", kWho);
  std::vector<uint8_t> bytes(entry.args_bytes);
  for (uint32_t i = 0; i < entry.param_count; ++i) {
    if (args[i] == nullptr) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: kernel '%s': args[%u] must not be null", kWho, entry.name, i);
    std::memcpy(bytes.data() + entry.params[i].offset, args[i], entry.params[i].bytes);
  }
  return LaunchByHostArgs(kWho, func, numBlocks, stream, cfg, bytes.data(), bytes.size(), nullptr, 0);
}

}  // extern "C"
