"""What stands for a runtime and its kernel compiler where generated code is linked without them: they count, and fail as they are told."""

from __future__ import annotations

# `FAIL` names the call that fails with `CODE`; with `NO_ARCH` no device has an architecture, else device N is a dav-(2201 + N).
FAKE_RUNTIME = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <atomic>
#include <string>
#include <thread>
#include <vector>
#include "acl/acl_rt.h"
#include "acl/acl_rt_compile.h"
#include "utils/rtc_kernel_loader.h"

namespace {
thread_local int32_t current_device = 0;
std::atomic<int> live_programs{0};
std::atomic<int> compiled{0};
std::string last_text;
std::string last_option;
int FailureOf(const char *call) {
  const char *const failing = std::getenv("FAIL");
  return failing != nullptr && std::strcmp(failing, call) == 0 ? std::atoi(std::getenv("CODE")) : 0;
}
}  // namespace

extern "C" {
aclError aclrtGetDevice(int32_t *device) { *device = current_device; return FailureOf("aclrtGetDevice"); }
aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attr, int64_t *value) {
  *value = attr == ACL_DEV_ATTR_NPU_ARCH && std::getenv("NO_ARCH") == nullptr ? 2201 + device : 0;
  return FailureOf("aclrtGetDeviceInfo");
}
const char *aclGetRecentErrMsg() { return std::getenv("SAID") == nullptr ? "what the runtime said" : std::getenv("SAID"); }
aclError aclrtcCreateProg(aclrtcProg *prog, const char *src, const char *, int, const char **, const char **) {
  last_text = src;
  ++live_programs;
  *prog = &last_text;
  return FailureOf("aclrtcCreateProg");
}
aclError aclrtcCompileProg(aclrtcProg, int count, const char **options) {
  last_option = count == 1 ? options[0] : "";
  ++compiled;
  return FailureOf("aclrtcCompileProg");
}
aclError aclrtcAddNameExpr(aclrtcProg, const char *) { return FailureOf("aclrtcAddNameExpr"); }
aclError aclrtcGetLoweredName(aclrtcProg, const char *, const char **name) { *name = "lowered"; return FailureOf("aclrtcGetLoweredName"); }
aclError aclrtcDestroyProg(aclrtcProg *prog) { --live_programs; *prog = nullptr; return 0; }
aclError aclrtcGetCompileLogSize(aclrtcProg, size_t *size) { *size = 26; return 0; }
aclError aclrtcGetCompileLog(aclrtcProg, char *log) { std::memcpy(log, "copy.asc:7: error: oh dear", 26); return 0; }
aclError aclrtcGetBinDataSize(aclrtcProg, size_t *size) { *size = 4; return FailureOf("aclrtcGetBinDataSize"); }
aclError aclrtcGetBinData(aclrtcProg, char *data) { std::memcpy(data, "code", 4); return FailureOf("aclrtcGetBinData"); }
aclError aclrtBinaryLoadFromData(const void *data, size_t length, const aclrtBinaryLoadOptions *options, aclrtBinHandle *handle) {
  const bool is_vector = options->options->value.magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
  const bool is_good = is_vector && length == 4 && std::memcmp(data, "code", 4) == 0;
  *handle = new int(0);
  return is_good ? FailureOf("aclrtBinaryLoadFromData") : 1;
}
aclError aclrtBinaryGetFunction(const aclrtBinHandle, const char *, aclrtFuncHandle *function) {
  *function = new int(0);
  return FailureOf("aclrtBinaryGetFunction");
}
aclError aclrtBinaryUnLoad(aclrtBinHandle) { std::printf("unloaded\\n"); return 0; }
}
"""
