// Compiles and loads kernels for the runtime's tests; a failure ends the test with the compiler's log.
#ifndef OPKIT_SIM_TESTS_ACL_KERNELS_H_
#define OPKIT_SIM_TESTS_ACL_KERNELS_H_

#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/acl_rt_compile.h"
#include "check.h"

namespace opkit_test {

inline std::string RtcLog(aclrtcProg program) {
  size_t bytes = 0;
  REQUIRE_EQ(aclrtcGetCompileLogSize(program, &bytes), ACL_SUCCESS);
  std::string log(bytes, '\0');
  REQUIRE_EQ(aclrtcGetCompileLog(program, log.data()), ACL_SUCCESS);
  log.resize(bytes - 1);
  return log;
}

struct Compiled {
  aclError code = ACL_SUCCESS;
  std::string log;
  std::vector<char> binary;
  std::vector<std::string> lowered;
};

inline Compiled Compile(const std::string &source, const std::string &name = "test.asc",
                        std::vector<std::string> options = {"--npu-arch=dav-2201"}, const std::vector<std::string> &expressions = {}) {
  Compiled compiled;
  aclrtcProg program = nullptr;
  REQUIRE_EQ(aclrtcCreateProg(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr), ACL_SUCCESS);
  for (const std::string &expression : expressions) REQUIRE_EQ(aclrtcAddNameExpr(program, expression.c_str()), ACL_SUCCESS);
  std::vector<const char *> pointers;
  for (const std::string &option : options) pointers.push_back(option.c_str());
  compiled.code = aclrtcCompileProg(program, static_cast<int>(pointers.size()), pointers.data());
  compiled.log = RtcLog(program);
  if (compiled.code == ACL_SUCCESS) {
    size_t bytes = 0;
    REQUIRE_EQ(aclrtcGetBinDataSize(program, &bytes), ACL_SUCCESS);
    compiled.binary.resize(bytes);
    REQUIRE_EQ(aclrtcGetBinData(program, compiled.binary.data()), ACL_SUCCESS);
    for (const std::string &expression : expressions) {
      const char *lowered = nullptr;
      REQUIRE_EQ(aclrtcGetLoweredName(program, expression.c_str(), &lowered), ACL_SUCCESS);
      compiled.lowered.emplace_back(lowered);
    }
  }
  REQUIRE_EQ(aclrtcDestroyProg(&program), ACL_SUCCESS);
  return compiled;
}

// A loaded binary, unloaded at the end of the test.
class Loaded {
 public:
  explicit Loaded(const std::string &source) {
    const Compiled compiled = Compile(source);
    if (compiled.code != ACL_SUCCESS) std::cerr << compiled.log;
    REQUIRE_EQ(compiled.code, ACL_SUCCESS);
    REQUIRE_EQ(aclrtBinaryLoadFromData(compiled.binary.data(), compiled.binary.size(), nullptr, &handle_), ACL_SUCCESS);
  }
  ~Loaded() { Unload(); }
  Loaded(const Loaded &) = delete;
  Loaded &operator=(const Loaded &) = delete;

  aclrtFuncHandle Function(const char *name) const {
    aclrtFuncHandle function = nullptr;
    REQUIRE_EQ(aclrtBinaryGetFunction(handle_, name, &function), ACL_SUCCESS);
    return function;
  }
  void Unload() {
    if (handle_ != nullptr) CHECK_EQ(aclrtBinaryUnLoad(handle_), ACL_SUCCESS);
    handle_ = nullptr;
  }
  aclrtBinHandle Handle() const { return handle_; }

 private:
  aclrtBinHandle handle_ = nullptr;
};

class Device {
 public:
  Device() { REQUIRE_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  ~Device() { CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS); }
};

class Stream {
 public:
  Stream() { REQUIRE_EQ(aclrtCreateStream(&handle), ACL_SUCCESS); }
  ~Stream() { CHECK_EQ(aclrtDestroyStream(handle), ACL_SUCCESS); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  aclrtStream handle = nullptr;
};

// Device memory with elements of T.
template <typename T>
class Memory {
 public:
  explicit Memory(size_t count) : count_(count) {
    REQUIRE_EQ(aclrtMalloc(&ptr_, count * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  }
  explicit Memory(const std::vector<T> &values) : Memory(values.size()) {
    REQUIRE_EQ(aclrtMemcpy(ptr_, Bytes(), values.data(), Bytes(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  ~Memory() {
    if (ptr_ != nullptr) CHECK_EQ(aclrtFree(ptr_), ACL_SUCCESS);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  T *Get() const { return static_cast<T *>(ptr_); }
  size_t Bytes() const { return count_ * sizeof(T); }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    REQUIRE_EQ(aclrtMemcpy(values.data(), Bytes(), ptr_, Bytes(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return values;
  }

 private:
  size_t count_;
  void *ptr_ = nullptr;
};

inline std::string RecentError() {
  const char *text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

}  // namespace opkit_test

#endif  // OPKIT_SIM_TESTS_ACL_KERNELS_H_
