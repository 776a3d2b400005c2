// Compiles a kernel of mixed parameter types, launches it with hand-laid bytes, and with too few of them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_compile.h"

namespace {
// By hand, after the device's rule: every member at the alignment of its type, at least 4.
struct Args {
  uint64_t out;
  uint32_t first;
  uint32_t second;
  float third;
  uint32_t gap;
  int64_t fourth;
  uint32_t fifth;
};
constexpr size_t kArgsBytes = offsetof(Args, fifth) + sizeof(uint32_t);

std::vector<char> Compile() {
  std::ifstream file(KERNEL_SOURCE);
  const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  aclrtcProg program = nullptr;
  const char *options[] = {"--npu-arch=dav-2201"};
  size_t size = 0;
  std::vector<char> binary;
  if (aclrtcCreateProg(&program, source.c_str(), "mixed.asc", 0, nullptr, nullptr) == ACL_SUCCESS &&
      aclrtcCompileProg(program, 1, options) == ACL_SUCCESS && aclrtcGetBinDataSize(program, &size) == ACL_SUCCESS) {
    binary.resize(size);
    (void)aclrtcGetBinData(program, binary.data());
  }
  (void)aclrtcDestroyProg(&program);
  return binary;
}

int Fail(const char *what) {
  const char *text = aclGetRecentErrMsg();  // given once
  std::printf("%s failed: %s\n", what, text == nullptr ? "" : text);
  return 1;
}
}  // namespace

int main() {
  aclrtStream stream = nullptr;
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS || aclrtCreateStream(&stream) != ACL_SUCCESS) {
    return Fail("initialisation");
  }
  const std::vector<char> binary = Compile();
  aclrtBinHandle handle = nullptr;
  aclrtFuncHandle function = nullptr;
  if (binary.empty() || aclrtBinaryLoadFromData(binary.data(), binary.size(), nullptr, &handle) != ACL_SUCCESS ||
      aclrtBinaryGetFunction(handle, "mixed", &function) != ACL_SUCCESS) {
    return Fail("kernel");
  }
  float result[8] = {};
  void *out = nullptr;
  if (aclrtMalloc(&out, sizeof(result), ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
    return Fail("memory");
  }
  Args args = {reinterpret_cast<uint64_t>(out), 7, 4000000000U, 0.125F, 0, -5, 1};
  if (aclrtLaunchKernelWithHostArgs(function, 2, stream, nullptr, &args, kArgsBytes, nullptr, 0) != ACL_SUCCESS) {
    return Fail("launch");
  }
  std::memset(&args, 0, sizeof(args));  // the launch has its own copy
  if (aclrtSynchronizeStream(stream) != ACL_SUCCESS ||
      aclrtMemcpy(result, sizeof(result), out, sizeof(result), ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS) {
    return Fail("run");
  }
  const float expected[5] = {7, 4000000000.0F, 0.125F, -5, 1};
  for (int i = 0; i < 5; ++i) {
    if (result[i] != expected[i]) {
      std::printf("parameter %d arrived as %g\n", i, static_cast<double>(result[i]));
      return 4;
    }
  }
  if (aclrtLaunchKernelWithHostArgs(function, 2, stream, nullptr, &args, kArgsBytes - 4, nullptr, 0) == ACL_SUCCESS) {
    std::puts("too few bytes of arguments were accepted");
    return 4;
  }
  (void)aclrtFree(out);
  (void)aclrtBinaryUnLoad(handle);
  (void)aclrtDestroyStream(stream);
  (void)aclrtResetDevice(0);
  (void)aclFinalize();
  std::puts("all parameters arrived, too few were refused");
  return 0;
}
