// Launches: argument layout, both ways of passing arguments, what is refused at the call and what fails later.
#include <dirent.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "acl/runtime_internal.h"
#include "check.h"
#include "kernels.h"

using opkit_test::Device;
using opkit_test::Loaded;
using opkit_test::Memory;
using opkit_test::RecentError;
using opkit_test::Stream;

namespace {

const char *const kScalars = R"(
struct Seen { uint64_t address; uint32_t a; uint32_t b; float c; int64_t d; uint8_t e; };
extern "C" __global__ __aicore__ void scalars(__gm__ uint8_t *out, uint32_t a, uint32_t b, float c, int64_t d, bool e) {
  Seen seen{(uint64_t)out, a, b, c, d, e ? (uint8_t)1 : (uint8_t)0};
  *(Seen *)out = seen;
}
extern "C" __global__ __aicore__ void increment(__gm__ uint8_t *values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) ((uint32_t *)values)[i] += 1;
}
extern "C" __global__ __aicore__ void through(__gm__ uint8_t *out, __gm__ uint8_t *table, uint16_t index) {
  *(uint32_t *)out = ((const uint32_t *)table)[index];
}
)";

struct Seen {
  uint64_t address;
  uint32_t a;
  uint32_t b;
  float c;
  int64_t d;
  uint8_t e;
};

// The device's layout, laid by hand: 8-byte members at 8, everything else at 4.
std::vector<uint8_t> HandLaid(void *out, uint32_t a, uint32_t b, float c, int64_t d, uint8_t e) {
  std::vector<uint8_t> bytes(40, 0);
  std::memcpy(&bytes[0], &out, 8);
  std::memcpy(&bytes[8], &a, 4);
  std::memcpy(&bytes[12], &b, 4);
  std::memcpy(&bytes[16], &c, 4);
  std::memcpy(&bytes[24], &d, 8);
  bytes[32] = e;
  return bytes;
}

}  // namespace

TEST(hand_laid_argument_bytes_reach_the_kernel) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  const Memory<Seen> out(1);
  const Memory<uint8_t> args(HandLaid(out.Get(), 7, 4000000000U, -2.5F, -(int64_t{1} << 40), 1));
  // The host struct ends behind the bool, or is padded to its own alignment.
  for (const size_t bytes : {size_t{33}, size_t{36}, size_t{40}}) {
    REQUIRE_EQ(aclrtMemset(out.Get(), sizeof(Seen), 0xEE, sizeof(Seen)), ACL_SUCCESS);
    REQUIRE_EQ(aclrtLaunchKernelV2(binary.Function("scalars"), 1, args.Get(), bytes, nullptr, stream.handle), ACL_SUCCESS);
    REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
    const Seen seen = out.Read()[0];
    CHECK_EQ(seen.address, reinterpret_cast<uint64_t>(out.Get()));
    CHECK_EQ(seen.a, 7U);
    CHECK_EQ(seen.b, 4000000000U);
    CHECK_EQ(seen.c, -2.5F);
    CHECK_EQ(seen.d, -(int64_t{1} << 40));
    CHECK_EQ(seen.e, 1);
  }
}

TEST(wrong_argument_size_is_refused_with_the_signature) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  const Memory<Seen> out(1);
  const Memory<uint8_t> args(HandLaid(out.Get(), 1, 2, 3.0F, 4, 0));
  for (const size_t bytes : {size_t{0}, size_t{8}, size_t{28}, size_t{32}, size_t{34}}) {
    RecentError();
    CHECK_EQ(aclrtLaunchKernelV2(binary.Function("scalars"), 1, args.Get(), bytes, nullptr, stream.handle), ACL_ERROR_RT_PARAM_INVALID);
    const std::string text = RecentError();
    CHECK_CONTAINS(text, "kernel 'scalars' takes 33 bytes of arguments");
    CHECK_CONTAINS(text, "d at 24 (8 bytes)");
  }
  std::vector<uint8_t> host = HandLaid(out.Get(), 1, 2, 3.0F, 4, 0);
  CHECK_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("scalars"), 1, stream.handle, nullptr, host.data(), 48, nullptr, 0),
           ACL_ERROR_RT_PARAM_INVALID);
}

TEST(parameter_information_is_the_compiled_signature) {
  const Device device;
  const Loaded binary(kScalars);
  const aclrtFuncHandle function = binary.Function("scalars");
  size_t count = 0;
  REQUIRE_EQ(aclrtFunctionGetParamCount(function, &count), ACL_SUCCESS);
  REQUIRE_EQ(count, 6U);
  const size_t offsets[] = {0, 8, 12, 16, 24, 32};
  const size_t sizes[] = {8, 4, 4, 4, 8, 1};
  for (size_t i = 0; i < count; ++i) {
    size_t offset = 99;
    size_t bytes = 99;
    REQUIRE_EQ(aclrtFunctionGetParamInfo(function, i, &offset, &bytes), ACL_SUCCESS);
    CHECK_EQ(offset, offsets[i]);
    CHECK_EQ(bytes, sizes[i]);
  }
  size_t ignored = 0;
  CHECK_EQ(aclrtFunctionGetParamInfo(function, 6, &ignored, &ignored), ACL_ERROR_RT_PARAM_INVALID);
  char name[16];
  REQUIRE_EQ(aclrtGetFunctionName(function, sizeof name, name), ACL_SUCCESS);
  CHECK_EQ(std::string(name), "scalars");
  aclrtBinHandle owner = nullptr;
  REQUIRE_EQ(aclrtFunctionGetBinary(function, &owner), ACL_SUCCESS);
  CHECK(owner == binary.Handle());
  int64_t type = -1;
  REQUIRE_EQ(aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_TYPE, &type), ACL_SUCCESS);
  CHECK_EQ(type, ACL_KERNEL_TYPE_VECTOR);
}

TEST(host_args_are_copied_before_the_call_returns) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  const Memory<uint32_t> values(std::vector<uint32_t>(4, 0));
  struct Args {
    void *values;
    uint32_t count;
  };
  for (int i = 0; i < 50; ++i) {
    auto *args = new Args{values.Get(), 4};
    REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("increment"), 1, stream.handle, nullptr, args, sizeof *args, nullptr, 0),
               ACL_SUCCESS);
    std::memset(static_cast<void *>(args), 0xFF, sizeof *args);
    delete args;
  }
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  for (const uint32_t value : values.Read()) CHECK_EQ(value, 50U);
}

TEST(device_args_are_read_when_the_kernel_runs) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  const Memory<uint32_t> first(std::vector<uint32_t>(4, 0));
  const Memory<uint32_t> second(std::vector<uint32_t>(4, 0));
  struct Args {
    void *values;
    uint32_t count;
  };
  const Memory<Args> args(std::vector<Args>{{first.Get(), 4}});
  const Args changed{second.Get(), 4};
  // The stream overwrites the arguments in its own order, before the launch runs.
  REQUIRE_EQ(aclrtMemcpyAsync(args.Get(), sizeof(Args), &changed, sizeof(Args), ACL_MEMCPY_HOST_TO_DEVICE, stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtLaunchKernelV2(binary.Function("increment"), 1, args.Get(), sizeof(Args), nullptr, stream.handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(first.Read()[0], 0U);
  CHECK_EQ(second.Read()[0], 1U);
}

TEST(placeholder_data_travels_with_host_args) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  const Memory<uint32_t> out(1);
  struct Args {
    void *out;
    void *table;
    uint16_t index;
    uint16_t unused[3];
    uint32_t data[4];
  };
  auto *args = new Args{out.Get(), nullptr, 2, {}, {10, 20, 30, 40}};
  aclrtPlaceHolderInfo place{offsetof(Args, table), offsetof(Args, data)};
  REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("through"), 1, stream.handle, nullptr, args, sizeof *args, &place, 1),
             ACL_SUCCESS);
  delete args;
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(out.Read()[0], 30U);

  Args kept{out.Get(), nullptr, 2, {}, {}};
  place.dataOffset = sizeof(Args);
  CHECK_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("through"), 1, stream.handle, nullptr, &kept, sizeof kept, &place, 1),
           ACL_ERROR_RT_PARAM_INVALID);
}

TEST(arguments_array_takes_one_pointer_for_each_parameter) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  const Memory<Seen> out(1);
  void *address = out.Get();
  uint32_t a = 1;
  uint32_t b = 2;
  float c = 3;
  int64_t d = 4;
  bool e = true;
  void *args[] = {&address, &a, &b, &c, &d, &e};
  REQUIRE_EQ(aclrtLaunchKernelWithArgsArray(binary.Function("scalars"), 1, stream.handle, nullptr, args), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(out.Read()[0].d, 4);
  CHECK_EQ(out.Read()[0].e, 1);
}

TEST(block_count_must_be_1_to_65535) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  const Memory<uint8_t> args(std::vector<uint8_t>(16, 0));
  for (const uint32_t blocks : {0U, 65536U}) {
    RecentError();
    CHECK_EQ(aclrtLaunchKernelV2(binary.Function("increment"), blocks, args.Get(), 12, nullptr, stream.handle), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_CONTAINS(RecentError(), "numBlocks is " + std::to_string(blocks));
  }
}

TEST(args_that_are_not_device_memory_are_refused) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  uint8_t host[16] = {};
  RecentError();
  CHECK_EQ(aclrtLaunchKernelV2(binary.Function("increment"), 1, host, 12, nullptr, stream.handle), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "argsData must be device memory of 12 bytes");
  const Memory<uint8_t> small(8);
  CHECK_EQ(aclrtLaunchKernelV2(binary.Function("increment"), 1, small.Get(), 12, nullptr, stream.handle), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "4 bytes too many");
  CHECK_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("increment"), 1, stream.handle, nullptr, small.Get(), 12, nullptr, 0),
           ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "aclrtLaunchKernelV2 takes device memory");
}

TEST(unknown_kernel_names_what_the_binary_has) {
  const Device device;
  const Loaded binary(kScalars);
  aclrtFuncHandle function = nullptr;
  RecentError();
  CHECK_EQ(aclrtBinaryGetFunction(binary.Handle(), "scalar", &function), ACL_ERROR_RT_KERNEL_LOOKUP);
  CHECK_CONTAINS(RecentError(), "no kernel 'scalar'; it has: scalars, increment, through");
}

TEST(use_after_unload_is_detected) {
  const Device device;
  const Stream stream;
  Loaded binary(kScalars);
  const aclrtFuncHandle function = binary.Function("increment");
  const aclrtBinHandle handle = binary.Handle();
  const Memory<uint8_t> args(std::vector<uint8_t>(16, 0));
  binary.Unload();
  RecentError();
  CHECK_EQ(aclrtLaunchKernelV2(function, 1, args.Get(), 12, nullptr, stream.handle), ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_CONTAINS(RecentError(), "has been unloaded");
  CHECK_EQ(aclrtBinaryUnLoad(handle), ACL_ERROR_RT_INVALID_HANDLE);
  CHECK_EQ(aclrtBinaryGetFunction(handle, "increment", nullptr), ACL_ERROR_INVALID_PARAM);
  aclrtFuncHandle again = nullptr;
  CHECK_EQ(aclrtBinaryGetFunction(handle, "increment", &again), ACL_ERROR_RT_INVALID_HANDLE);
}

namespace {
struct Gate {
  std::atomic<bool> is_open{false};
  static void Wait(void *self) {
    while (!static_cast<Gate *>(self)->is_open.load()) {
    }
  }
};
}  // namespace

TEST(unload_before_the_kernel_ran_fails_the_stream) {
  const Device device;
  const Stream stream;
  Loaded binary(kScalars);
  const Memory<uint32_t> values(std::vector<uint32_t>(4, 0));
  Gate gate;
  REQUIRE_EQ(aclrtLaunchHostFunc(stream.handle, &Gate::Wait, &gate), ACL_SUCCESS);
  struct Args {
    void *values;
    uint32_t count;
  } args{values.Get(), 4};
  REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("increment"), 1, stream.handle, nullptr, &args, sizeof args, nullptr, 0),
             ACL_SUCCESS);
  binary.Unload();
  gate.is_open = true;
  RecentError();
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_KERNEL_UNREGISTERING);
  CHECK_CONTAINS(RecentError(), "kernel increment: its binary was unloaded before the kernel had run");
  // The failure was given out; the stream goes on.
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
}

TEST(args_freed_before_the_kernel_ran_fail_the_stream) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  Gate gate;
  REQUIRE_EQ(aclrtLaunchHostFunc(stream.handle, &Gate::Wait, &gate), ACL_SUCCESS);
  {
    const Memory<uint8_t> args(std::vector<uint8_t>(16, 0));
    REQUIRE_EQ(aclrtLaunchKernelV2(binary.Function("increment"), 1, args.Get(), 12, nullptr, stream.handle), ACL_SUCCESS);
  }
  gate.is_open = true;
  CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_ERROR_RT_DEVICE_MEM_ERROR);
}

TEST(binaries_that_can_not_be_loaded_are_refused) {
  const Device device;
  const opkit_test::Compiled compiled = opkit_test::Compile(kScalars);
  REQUIRE_EQ(compiled.code, ACL_SUCCESS);
  aclrtBinHandle handle = nullptr;
  CHECK_EQ(aclrtBinaryLoadFromData(nullptr, 10, nullptr, &handle), ACL_ERROR_INVALID_PARAM);
  CHECK_EQ(aclrtBinaryLoadFromData(compiled.binary.data(), 0, nullptr, &handle), ACL_ERROR_INVALID_PARAM);
  RecentError();
  CHECK_EQ(aclrtBinaryLoadFromData("not an ELF file, but long enough to be looked at: sixty-four bytes.", 64, nullptr, &handle),
           ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "is not an ELF file");
  for (const size_t bytes : {size_t{100}, compiled.binary.size() / 4, compiled.binary.size() / 2}) {
    CHECK_EQ(aclrtBinaryLoadFromData(compiled.binary.data(), bytes, nullptr, &handle), ACL_ERROR_RT_PARAM_INVALID);
    CHECK(handle == nullptr);
  }
  std::vector<char> foreign = compiled.binary;
  foreign[18] = 0x29;  // e_machine
  foreign[19] = 0x10;
  RecentError();
  CHECK_EQ(aclrtBinaryLoadFromData(foreign.data(), foreign.size(), nullptr, &handle), ACL_ERROR_RT_PARAM_INVALID);
  CHECK_CONTAINS(RecentError(), "only what its own aclrtc compiled");
  aclrtBinaryLoadOption option{};
  option.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
  option.value.magic = 0x12345678;
  aclrtBinaryLoadOptions options{&option, 1};
  CHECK_EQ(aclrtBinaryLoadFromData(compiled.binary.data(), compiled.binary.size(), &options, &handle), ACL_ERROR_RT_PARAM_INVALID);
  option.value.magic = ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
  REQUIRE_EQ(aclrtBinaryLoadFromData(compiled.binary.data(), compiled.binary.size(), &options, &handle), ACL_SUCCESS);
  CHECK_EQ(aclrtBinaryUnLoad(handle), ACL_SUCCESS);
  CHECK_EQ(aclrtBinaryLoadFromFile("/does/not/exist.o", nullptr, &handle), ACL_ERROR_RT_FILE_OPEN);
}

namespace {
size_t OpenFiles() {
  DIR *folder = opendir("/proc/self/fd");
  REQUIRE(folder != nullptr);
  size_t count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

// A kernel that writes the number, compiled for real headers: such a library is large and may stay mapped past its unloading.
opkit_test::Compiled CompileNumber(int number) {
  opkit_test::Compiled compiled = opkit_test::Compile(
      "#include \"kernel_operator.h\"\nextern \"C\" __global__ __aicore__ void number(GM_ADDR out) { *(__gm__ uint32_t *)out = " +
      std::to_string(number) + "; }\n");
  REQUIRE_EQ(compiled.code, ACL_SUCCESS);
  return compiled;
}

uint32_t NumberOf(const opkit_test::Compiled &compiled) {
  const Stream stream;
  const Memory<uint32_t> out(std::vector<uint32_t>(1, 0));
  aclrtBinHandle handle = nullptr;
  aclrtFuncHandle function = nullptr;
  REQUIRE_EQ(aclrtBinaryLoadFromData(compiled.binary.data(), compiled.binary.size(), nullptr, &handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtBinaryGetFunction(handle, "number", &function), ACL_SUCCESS);
  void *args = out.Get();
  REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(function, 1, stream.handle, nullptr, &args, sizeof args, nullptr, 0), ACL_SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(aclrtBinaryUnLoad(handle), ACL_SUCCESS);
  return out.Read()[0];
}
}  // namespace

TEST(loading_and_unloading_leaves_no_file_open) {
  const Device device;
  const opkit_test::Compiled compiled = CompileNumber(1);
  CHECK_EQ(NumberOf(compiled), 1U);
  std::vector<char> no_table = compiled.binary;
  // Loads, but exports its table under another name.
  const std::string symbol = "opkit_sim_kernel_table";
  for (auto at = no_table.begin(); (at = std::search(at, no_table.end(), symbol.begin(), symbol.end())) != no_table.end();) *at = 'x';
  const size_t before = OpenFiles();
  for (int i = 0; i < 50; ++i) {
    aclrtBinHandle handle = nullptr;
    REQUIRE_EQ(aclrtBinaryLoadFromData(compiled.binary.data(), compiled.binary.size(), nullptr, &handle), ACL_SUCCESS);
    REQUIRE_EQ(aclrtBinaryUnLoad(handle), ACL_SUCCESS);
    RecentError();
    REQUIRE_EQ(aclrtBinaryLoadFromData(no_table.data(), no_table.size(), nullptr, &handle), ACL_ERROR_RT_PARAM_INVALID);
  }
  CHECK_EQ(OpenFiles(), before);
}

TEST(binaries_loaded_one_after_the_other_are_not_mixed_up) {
  const Device device;
  const opkit_test::Compiled first = CompileNumber(1);
  const opkit_test::Compiled second = CompileNumber(2);
  for (int i = 0; i < 3; ++i) {
    CHECK_EQ(NumberOf(first), 1U);
    CHECK_EQ(NumberOf(second), 2U);
  }
}

TEST(kernels_that_need_cube_cores_are_refused) {
  const Device device;
  const Stream stream;
  const auto source = [](const std::string &type) {
    return "#include \"kernel_operator.h\"\nextern \"C\" __global__ __aicore__ void typed() { KERNEL_TASK_TYPE_DEFAULT(" + type + "); }\n";
  };
  for (const char *type : {"KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_0", "KERNEL_TYPE_MIX_AIC_1_1", "KERNEL_TYPE_MIX_AIC_1_2"}) {
    const Loaded binary(source(type));
    RecentError();
    CHECK_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("typed"), 1, stream.handle, nullptr, nullptr, 0, nullptr, 0),
             ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_CONTAINS(RecentError(), "kernel 'typed' is of a type that needs cube cores");
  }
  for (const char *type : {"KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_MIX_AIV_1_0"}) {
    const Loaded binary(source(type));
    CHECK_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("typed"), 1, stream.handle, nullptr, nullptr, 0, nullptr, 0), ACL_SUCCESS);
    CHECK_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  }
}

TEST(calls_count_launches) {
  const Device device;
  const Stream stream;
  const Loaded binary(kScalars);
  const Memory<uint32_t> values(std::vector<uint32_t>(4, 0));
  struct Args {
    void *values;
    uint32_t count;
  } args{values.Get(), 4};
  const uint64_t before = opkit_sim::rt::KernelLaunchCount();
  for (int i = 0; i < 3000; ++i) {
    REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(binary.Function("increment"), 1, stream.handle, nullptr, &args, sizeof args, nullptr, 0),
               ACL_SUCCESS);
  }
  REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
  CHECK_EQ(opkit_sim::rt::KernelLaunchCount() - before, 3000U);
  CHECK_EQ(values.Read()[3], 3000U);
}

TEST_MAIN()
