// A kernel for the session's tests: z = x + y over n floats, on plain pointers, so that only the runtime and the session are tested.
#ifndef OPKIT_SIM_TESTS_SESSION_ADD_KERNEL_H_
#define OPKIT_SIM_TESTS_SESSION_ADD_KERNEL_H_

#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/acl_rt_compile.h"

namespace session_test {
struct AddArgs {
  const void *x;
  const void *y;
  void *z;
  uint64_t n;
};

inline const char *AddSource() {
  return R"(
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint64_t n) {
  __gm__ float *a = (__gm__ float *)x;
  __gm__ float *b = (__gm__ float *)y;
  __gm__ float *c = (__gm__ float *)z;
  for (uint64_t i = AscendC::GetBlockIdx(); i < n; i += AscendC::GetBlockNum()) {
    c[i] = a[i] + b[i];
  }
}
)";
}

inline std::vector<uint8_t> CompileAdd() {
  std::vector<uint8_t> binary;
  aclrtcProg program = nullptr;
  const char *options[] = {"--npu-arch=dav-2201"};
  size_t bytes = 0;
  if (aclrtcCreateProg(&program, AddSource(), "add.asc", 0, nullptr, nullptr) != ACL_SUCCESS) {
    return binary;
  }
  if (aclrtcCompileProg(program, 1, options) == ACL_SUCCESS && aclrtcGetBinDataSize(program, &bytes) == ACL_SUCCESS) {
    binary.resize(bytes);
    (void)aclrtcGetBinData(program, reinterpret_cast<char *>(binary.data()));
  } else if (aclrtcGetCompileLogSize(program, &bytes) == ACL_SUCCESS) {
    std::vector<char> log(bytes + 1);
    (void)aclrtcGetCompileLog(program, log.data());
    std::fputs(log.data(), stderr);
  }
  (void)aclrtcDestroyProg(&program);
  return binary;
}

// Loaded once and kept: handles are good for the process.
inline aclrtFuncHandle AddFunction() {
  static const aclrtFuncHandle function = [] {
    const std::vector<uint8_t> binary = CompileAdd();
    aclrtBinHandle handle = nullptr;
    aclrtFuncHandle found = nullptr;
    if (!binary.empty() && aclrtBinaryLoadFromData(binary.data(), binary.size(), nullptr, &handle) == ACL_SUCCESS) {
      (void)aclrtBinaryGetFunction(handle, "add", &found);
    }
    return found;
  }();
  return function;
}
}  // namespace session_test

#endif  // OPKIT_SIM_TESTS_SESSION_ADD_KERNEL_H_
