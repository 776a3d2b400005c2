// Needs nothing but -lascendcl: runtime and RTC in one program.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_compile.h"

int main() {
  const std::string source = "extern \"C\" __global__ __aicore__ void put(__gm__ uint8_t *out, uint32_t v) { *(uint32_t *)out = v; }";
  const char *options[] = {"--npu-arch=dav-2201"};
  aclrtcProg program = nullptr;
  size_t bytes = 0;
  if (aclrtcCreateProg(&program, source.c_str(), "put.asc", 0, nullptr, nullptr) != 0 || aclrtcCompileProg(program, 1, options) != 0 ||
      aclrtcGetBinDataSize(program, &bytes) != 0) {
    return 1;
  }
  std::vector<char> binary(bytes);
  aclrtBinHandle handle = nullptr;
  aclrtFuncHandle function = nullptr;
  aclrtStream stream = nullptr;
  void *out = nullptr;
  if (aclrtcGetBinData(program, binary.data()) != 0 || aclrtcDestroyProg(&program) != 0 || aclrtSetDevice(0) != 0 ||
      aclrtBinaryLoadFromData(binary.data(), binary.size(), nullptr, &handle) != 0 ||
      aclrtBinaryGetFunction(handle, "put", &function) != 0 || aclrtCreateStream(&stream) != 0 ||
      aclrtMalloc(&out, 4, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
    return 2;
  }
  struct Args {
    void *out;
    uint32_t value;
  } args{out, 42};
  uint32_t result = 0;
  if (aclrtLaunchKernelWithHostArgs(function, 1, stream, nullptr, &args, sizeof args, nullptr, 0) != 0 ||
      aclrtSynchronizeStream(stream) != 0 || aclrtMemcpy(&result, 4, out, 4, ACL_MEMCPY_DEVICE_TO_HOST) != 0) {
    return 3;
  }
  std::printf("result %u\n", result);
  return aclrtFree(out) == 0 && aclrtDestroyStream(stream) == 0 && aclrtBinaryUnLoad(handle) == 0 && aclrtResetDevice(0) == 0 &&
                 result == 42
             ? 0
             : 4;
}
