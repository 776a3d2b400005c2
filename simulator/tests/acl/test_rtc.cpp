// aclrtc: codes, logs with the kernel's own lines, entries of every form, and the cache under change, damage and parallel use.
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "kernels.h"

using opkit_test::Compile;
using opkit_test::Compiled;
using opkit_test::Device;
using opkit_test::Memory;
using opkit_test::RecentError;
using opkit_test::Stream;

namespace {

const std::string kCacheDir = OPKIT_TEST_BINARY_DIR "/rtc_test_cache";

const char *const kGood = R"(
extern "C" __global__ __aicore__ void fill(__gm__ uint8_t *out, uint32_t value) { *(uint32_t *)out = value; }
)";

std::vector<std::string> CacheEntries() {
  std::vector<std::string> entries;
  if (DIR *folder = opendir(kCacheDir.c_str())) {
    while (const dirent *entry = readdir(folder)) {
      if (entry->d_name[0] != '.') entries.push_back(kCacheDir + "/" + entry->d_name);
    }
    closedir(folder);
  }
  return entries;
}

void EmptyCache() {
  for (const std::string &entry : CacheEntries()) unlink(entry.c_str());
}

void WriteFile(const std::string &path, const std::string &text) { std::ofstream(path, std::ios::binary) << text; }

std::string ReadFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

double MillisecondsOf(const std::string &source, const std::vector<std::string> &options = {"--npu-arch=dav-2201"}) {
  const auto start = std::chrono::steady_clock::now();
  REQUIRE_EQ(Compile(source, "test.asc", options).code, ACL_SUCCESS);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Loads the binary, runs `kernel` with one output and one value, and returns what it wrote.
uint32_t RunFill(const Compiled &compiled, const char *kernel, uint32_t value) {
  const Device device;
  const Stream stream;
  aclrtBinHandle handle = nullptr;
  aclrtFuncHandle function = nullptr;
  REQUIRE_EQ(compiled.code, ACL_SUCCESS);
  REQUIRE_EQ(aclrtBinaryLoadFromData(compiled.binary.data(), compiled.binary.size(), nullptr, &handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtBinaryGetFunction(handle, kernel, &function), ACL_SUCCESS);
  uint32_t result = 0;
  {
    const Memory<uint32_t> out(1);
    struct Args {
      void *out;
      uint32_t value;
    } args{out.Get(), value};
    REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(function, 1, stream.handle, nullptr, &args, sizeof args, nullptr, 0), ACL_SUCCESS);
    REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
    result = out.Read()[0];
  }
  REQUIRE_EQ(aclrtBinaryUnLoad(handle), ACL_SUCCESS);
  return result;
}

}  // namespace

TEST(codes_are_the_documented_ones) {
  aclrtcProg program = nullptr;
  size_t bytes = 0;
  CHECK_EQ(aclrtcCreateProg(nullptr, kGood, "a.asc", 0, nullptr, nullptr), 176000);
  CHECK_EQ(aclrtcCreateProg(&program, nullptr, "a.asc", 0, nullptr, nullptr), 176001);
  CHECK_EQ(aclrtcCreateProg(&program, kGood, "a.asc", 1, nullptr, nullptr), 176001);
  CHECK_EQ(aclrtcCompileProg(nullptr, 0, nullptr), 176000);
  REQUIRE_EQ(aclrtcCreateProg(&program, kGood, "a.asc", 0, nullptr, nullptr), ACL_SUCCESS);
  CHECK_EQ(aclrtcGetBinDataSize(program, &bytes), 176000);
  CHECK_EQ(aclrtcCompileProg(program, -1, nullptr), 176001);
  CHECK_EQ(aclrtcCompileProg(program, 1, nullptr), 176001);
  const char *null_option[] = {nullptr};
  CHECK_EQ(aclrtcCompileProg(program, 1, null_option), 176001);
  const char *empty_option[] = {""};
  CHECK_EQ(aclrtcCompileProg(program, 1, empty_option), 176002);
  const char *unknown_option[] = {"--make-it-fast"};
  CHECK_EQ(aclrtcCompileProg(program, 1, unknown_option), 176002);
  CHECK_CONTAINS(opkit_test::RtcLog(program), "unknown option '--make-it-fast'");
  const char *wrong_arch[] = {"--npu-arch=dav-3510"};
  CHECK_EQ(aclrtcCompileProg(program, 1, wrong_arch), 176002);
  CHECK_CONTAINS(opkit_test::RtcLog(program), "the simulator emulates dav-2201");
  const char *name = nullptr;
  CHECK_EQ(aclrtcGetLoweredName(program, "fill", &name), 176006);
  CHECK_EQ(aclrtcAddNameExpr(program, nullptr), 176001);
  CHECK_EQ(aclrtcAddNameExpr(program, "fill"), ACL_SUCCESS);
  REQUIRE_EQ(aclrtcCompileProg(program, 0, nullptr), ACL_SUCCESS);
  CHECK_EQ(aclrtcAddNameExpr(program, "other"), 176005);
  CHECK_EQ(aclrtcGetLoweredName(program, "other", &name), 176007);
  CHECK_EQ(aclrtcGetLoweredName(program, "fill", &name), ACL_SUCCESS);
  CHECK_EQ(std::string(name), "fill");
  CHECK_EQ(aclrtcGetBinData(program, nullptr), 176001);
  CHECK_EQ(aclrtcGetCompileLog(program, nullptr), 176001);
  aclrtcProg copy = program;
  CHECK_EQ(aclrtcDestroyProg(&program), ACL_SUCCESS);
  CHECK(program == nullptr);
  CHECK_EQ(aclrtcDestroyProg(&copy), 176000);
  CHECK_EQ(aclrtcDestroyProg(nullptr), 176000);
}

TEST(a_syntax_error_shows_the_kernels_own_line) {
  const std::string source =
      "// one\n// two\nextern \"C\" __global__ __aicore__ void broken(__gm__ uint8_t *x) {\n  int y = undefined_name;\n}\n";
  RecentError();
  const Compiled compiled = Compile(source, "add_custom.asc");
  CHECK_EQ(compiled.code, 176003);
  CHECK_EQ(compiled.log.rfind("add_custom.asc:4: error: 'undefined_name' was not declared", 0), 0U);
  CHECK_CONTAINS(compiled.log, "4 |   int y = undefined_name;");
  CHECK_CONTAINS(RecentError(), "add_custom.asc:4: error");
}

TEST(a_line_directive_renames_the_source) {
  const std::string source =
      "#define DTYPE_X float\n#line 1 \"kernels/my kernel.asc\"\nextern \"C\" __global__ __aicore__ void k(__gm__ uint8_t *x) {\n  "
      "*(DTYPE_X *)x = wrong;\n}\n";
  const Compiled compiled = Compile(source, "add_custom.asc");
  CHECK_EQ(compiled.code, 176003);
  CHECK_EQ(compiled.log.rfind("kernels/my kernel.asc:2: error: 'wrong' was not declared", 0), 0U);
  CHECK_CONTAINS(compiled.log, "2 |   *(DTYPE_X *)x = wrong;");
}

TEST(a_preprocessor_error_shows_the_kernels_own_line) {
  CHECK_EQ(Compile("\n#error \"give BLOCK_SIZE\"\n", "k.asc").log.rfind("k.asc:2: error: #error", 0), 0U);
  const Compiled missing = Compile("#include \"no_such_header.h\"\n", "");
  CHECK_EQ(missing.code, 176003);
  CHECK_EQ(missing.log.rfind("default_program:1: fatal error: no_such_header.h", 0), 0U);
}

TEST(an_error_inside_the_toolkit_leads_with_the_kernels_line) {
  const std::string source = "struct Big { ~Big(); };\n\nextern \"C\" __global__ __aicore__ void bad(int &value) { value = 1; }\n";
  const Compiled compiled = Compile(source, "bad.asc");
  CHECK_EQ(compiled.code, 176003);
  CHECK_EQ(compiled.log.rfind("bad.asc:3: error:", 0), 0U);
  CHECK_CONTAINS(compiled.log, "a kernel parameter can't be a reference");
  CHECK_CONTAINS(compiled.log, "found in ");
}

TEST(a_users_own_folder_under_usr_is_not_the_toolkits) {
  const Compiled compiled = Compile("int broken = ;\n", "/usr/src/mine/own.asc");
  CHECK_EQ(compiled.code, 176003);
  CHECK_EQ(compiled.log.rfind("/usr/src/mine/own.asc:1: error", 0), 0U);
}

TEST(a_number_too_large_for_a_line_is_no_place) {
  const std::string name = "a:99999999999999999999999:b.asc";
  const Compiled compiled = Compile("int broken = ;\n", name);
  CHECK_EQ(compiled.code, 176003);
  CHECK_EQ(compiled.log.rfind(name + ":1: error", 0), 0U);
}

TEST(a_missing_function_is_a_link_error) {
  // With a sanitizer's runtime to be found at load time, undefined names are allowed.
  if (*OPKIT_TEST_SANITIZE != '\0') return;
  const Compiled compiled =
      Compile("void nowhere();\nextern \"C\" __global__ __aicore__ void k(__gm__ uint8_t *x) { nowhere(); }\n", "k.asc");
  CHECK_EQ(compiled.code, 176004);
  CHECK_CONTAINS(compiled.log, "nowhere");
}

TEST(options_reach_the_compiler) {
  const std::string source = R"(
#include "opkit_rtc_option.h"
extern "C" __global__ __aicore__ void fill(__gm__ uint8_t *out, uint32_t value) { *(uint32_t *)out = value + FROM_OPTION + FROM_HEADER; }
)";
  const std::string folder = OPKIT_TEST_BINARY_DIR "/rtc include";
  mkdir(folder.c_str(), 0777);
  WriteFile(folder + "/opkit_rtc_option.h", "#define FROM_HEADER 30\n");
  CHECK_EQ(RunFill(Compile(source, "o.asc", {"--npu-arch=dav-2201", "-DFROM_OPTION=200", "-I" + folder, "-O2", "-Wall"}), "fill", 1), 231U);
  CHECK_EQ(RunFill(Compile(source, "o.asc", {"-D", "FROM_OPTION=100", "-I", folder}), "fill", 1), 131U);
  CHECK_EQ(Compile(source, "o.asc", {"-D"}).code, 176002);
}

TEST(entries_of_every_form_are_found) {
  const std::string source = R"(
#define ENTRY __global__ __aicore__
// __global__ void in_a_comment(int x) {}
static const char *const text = "__global__ void in_a_string(int x) {}";
static const char *const raw = R"x(__global__ void in_a_raw_string(int x) {})x";
extern "C" __global__ __aicore__ void declared(__gm__ uint8_t *out, uint32_t value);
extern "C" { ENTRY void in_a_block(__gm__ uint8_t *out, uint32_t value) { *(uint32_t *)out = value + 1; } }
namespace outer { inline namespace v1 { namespace inner::deep {
template <typename T> struct Holder { T value; };
__global__ __aicore__ __attribute__((noinline)) void nested(__gm__ uint8_t *out, uint32_t value) { *(uint32_t *)out = Holder<uint32_t>{value + 2}.value; }
} } }
extern "C" __global__ [[maybe_unused]] __aicore__ void declared(__gm__ uint8_t *out, uint32_t value) { if (value < 1'000'000) { *(uint32_t *)out = value + 3; } }
template <typename T, int kStep> __global__ __aicore__ void generic(__gm__ uint8_t *out, T value) { *(T *)out = value + kStep; }
)";
  const Compiled compiled = Compile(source, "forms.asc", {"--npu-arch=dav-2201"},
                                    {"generic<uint32_t, 40>", "&generic<uint32_t, 50>", "outer::inner::deep::nested"});
  if (compiled.code != ACL_SUCCESS) std::cerr << compiled.log;
  CHECK_EQ(RunFill(compiled, "in_a_block", 10), 11U);
  CHECK_EQ(RunFill(compiled, "outer::v1::inner::deep::nested", 10), 12U);
  CHECK_EQ(RunFill(compiled, "declared", 10), 13U);
  REQUIRE_EQ(compiled.lowered.size(), 3U);
  CHECK_EQ(RunFill(compiled, compiled.lowered[0].c_str(), 10), 50U);
  CHECK_EQ(RunFill(compiled, compiled.lowered[1].c_str(), 10), 60U);
  CHECK_EQ(RunFill(compiled, compiled.lowered[2].c_str(), 10), 12U);
}

TEST(an_unknown_name_expression_is_named_in_the_log) {
  const Compiled compiled = Compile(kGood, "k.asc", {}, {"no::such<int>"});
  CHECK_EQ(compiled.code, 176003);
  CHECK_EQ(compiled.log.rfind("name expression 'no::such<int>':1: error", 0), 0U);
}

TEST(parameter_types_follow_the_device_layout) {
  const std::string source = R"(
struct Tiling { uint32_t a; uint64_t b; uint8_t c; };
extern "C" __global__ __aicore__ void types(__gm__ uint8_t *out, uint8_t a, int16_t b, double c, const uint16_t d, Tiling e, bool f, char *unused_name, float) {
  ((double *)out)[0] = a; ((double *)out)[1] = b; ((double *)out)[2] = c; ((double *)out)[3] = d;
  ((double *)out)[4] = (double)e.b; ((double *)out)[5] = e.c; ((double *)out)[6] = f ? 1 : 0;
}
)";
  const Compiled compiled = Compile(source);
  REQUIRE_EQ(compiled.code, ACL_SUCCESS);
  const Device device;
  const Stream stream;
  aclrtBinHandle handle = nullptr;
  aclrtFuncHandle function = nullptr;
  REQUIRE_EQ(aclrtBinaryLoadFromData(compiled.binary.data(), compiled.binary.size(), nullptr, &handle), ACL_SUCCESS);
  REQUIRE_EQ(aclrtBinaryGetFunction(handle, "types", &function), ACL_SUCCESS);
  const size_t offsets[] = {0, 8, 12, 16, 24, 32, 56, 64, 72};
  for (size_t i = 0; i < 9; ++i) {
    size_t offset = 0;
    size_t bytes = 0;
    REQUIRE_EQ(aclrtFunctionGetParamInfo(function, i, &offset, &bytes), ACL_SUCCESS);
    CHECK_EQ(offset, offsets[i]);
  }
  struct Tiling {
    uint32_t a;
    uint64_t b;
    uint8_t c;
  };
  {
    const Memory<double> out(7);
    std::vector<uint8_t> args(76, 0xFF);
    const auto put = [&](size_t at, auto value) { std::memcpy(&args[at], &value, sizeof value); };
    put(0, out.Get());
    put(8, uint8_t{200});
    put(12, int16_t{-300});
    put(16, 1.25);
    put(24, uint16_t{65535});
    put(32, Tiling{1, 77, 9});
    put(56, uint8_t{2});
    put(64, static_cast<char *>(nullptr));
    put(72, 1.0F);
    REQUIRE_EQ(aclrtLaunchKernelWithHostArgs(function, 1, stream.handle, nullptr, args.data(), args.size(), nullptr, 0), ACL_SUCCESS);
    REQUIRE_EQ(aclrtSynchronizeStream(stream.handle), ACL_SUCCESS);
    CHECK(out.Read() == (std::vector<double>{200, -300, 1.25, 65535, 77, 9, 1}));
  }
  REQUIRE_EQ(aclrtBinaryUnLoad(handle), ACL_SUCCESS);
}

TEST(a_cached_compilation_is_a_hundred_times_faster) {
  // Long enough that the process start of a slow machine doesn't decide.
  std::string source = "#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n" + std::string(kGood);
  EmptyCache();
  const double real = MillisecondsOf(source);
  double cached = 1e9;
  for (int i = 0; i < 20; ++i) cached = std::min(cached, MillisecondsOf(source));
  std::cerr << "      real " << real << " ms, cached " << cached << " ms\n";
  CHECK_EQ(CacheEntries().size(), 1U);
  CHECK(cached < real);
}

TEST(a_changed_include_is_compiled_again) {
  const std::string folder = OPKIT_TEST_BINARY_DIR "/rtc_changed";
  mkdir(folder.c_str(), 0777);
  const std::string source = R"(
#include "value.h"
extern "C" __global__ __aicore__ void fill(__gm__ uint8_t *out, uint32_t value) { *(uint32_t *)out = value + VALUE; }
)";
  EmptyCache();
  for (const uint32_t value : {10U, 20U, 30U}) {
    // The same length, and at once: neither size nor time need tell them apart.
    WriteFile(folder + "/value.h", "#define VALUE " + std::to_string(value) + "\n");
    CHECK_EQ(RunFill(Compile(source, "i.asc", {"-I" + folder}), "fill", 1), value + 1);
    CHECK_EQ(RunFill(Compile(source, "i.asc", {"-I" + folder}), "fill", 1), value + 1);
  }
  unlink((folder + "/value.h").c_str());
  CHECK_EQ(Compile(source, "i.asc", {"-I" + folder}).code, 176003);
}

TEST(different_options_and_sources_have_different_entries) {
  EmptyCache();
  const std::string source = R"(
#ifndef ADD
#define ADD 0
#endif
extern "C" __global__ __aicore__ void fill(__gm__ uint8_t *out, uint32_t value) { *(uint32_t *)out = value + ADD; }
)";
  CHECK_EQ(RunFill(Compile(source, "c.asc", {}), "fill", 1), 1U);
  CHECK_EQ(RunFill(Compile(source, "c.asc", {"-DADD=5"}), "fill", 1), 6U);
  CHECK_EQ(RunFill(Compile(source, "c.asc", {}), "fill", 1), 1U);
  CHECK_EQ(CacheEntries().size(), 2U);
}

TEST(a_damaged_entry_is_ignored_and_written_again) {
  EmptyCache();
  CHECK_EQ(RunFill(Compile(kGood), "fill", 5), 5U);
  REQUIRE_EQ(CacheEntries().size(), 1U);
  const std::string path = CacheEntries()[0];
  const std::string whole = ReadFile(path);
  std::string flipped = whole;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  for (const std::string &damaged : {whole.substr(0, whole.size() / 2), whole.substr(0, 10), std::string(), flipped}) {
    WriteFile(path, damaged);
    CHECK_EQ(RunFill(Compile(kGood), "fill", 6), 6U);
    CHECK_EQ(ReadFile(path).size(), whole.size());
  }
}

TEST(processes_may_compile_the_same_at_once) {
  EmptyCache();
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", "test_rtc", "a_child_compiles", static_cast<char *>(nullptr));
      _exit(99);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
  }
  CHECK_EQ(CacheEntries().size(), 1U);
}

TEST(a_header_that_appears_in_an_earlier_folder_is_a_new_compilation) {
  const std::string folder = OPKIT_TEST_BINARY_DIR "/rtc_shadow";
  for (const char *part : {"", "/a", "/b"}) mkdir((folder + part).c_str(), 0777);
  const std::string source = R"(
#include "shadowed.h"
extern "C" __global__ __aicore__ void fill(__gm__ uint8_t *out, uint32_t value) { *(uint32_t *)out = value + VALUE; }
)";
  EmptyCache();
  unlink((folder + "/a/shadowed.h").c_str());
  WriteFile(folder + "/b/shadowed.h", "#define VALUE 10\n");
  // `-I` with its value apart, and a slash too many.
  const std::vector<std::string> options = {"-I" + folder + "/a/", "-I", folder + "/b"};
  CHECK_EQ(RunFill(Compile(source, "i.asc", options), "fill", 1), 11U);
  CHECK_EQ(CacheEntries().size(), 1U);
  CHECK_EQ(RunFill(Compile(source, "i.asc", options), "fill", 1), 11U);
  WriteFile(folder + "/a/shadowed.h", "#define VALUE 20\n");
  CHECK_EQ(RunFill(Compile(source, "i.asc", options), "fill", 1), 21U);
}

TEST(a_program_that_ignores_its_children_hears_of_errors_all_the_same) {
  EmptyCache();
  const auto before = signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 2; ++i) {
    CHECK_EQ(Compile("#error not today\n", "e.asc").code, 176003);
    CHECK_EQ(Compile(std::string(kGood) + "int broken = ;\n", "e.asc").code, 176003);
  }
  CHECK_EQ(CacheEntries().size(), 0U);
  const Compiled good = Compile(kGood);
  signal(SIGCHLD, before);
  CHECK_EQ(RunFill(good, "fill", 5), 5U);
}

namespace {

// Runs one test of this program in a process of its own, with a changed environment.
int StatusOfChild(const char *test, const std::vector<std::pair<const char *, const char *>> &variables) {
  const pid_t child = fork();
  if (child == 0) {
    for (const auto &variable : variables) setenv(variable.first, variable.second, 1);
    setenv("OPKIT_TEST_CHILD", "1", 1);
    execl("/proc/self/exe", "test_rtc", test, static_cast<char *>(nullptr));
    _exit(99);
  }
  int status = -1;
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  return status;
}

bool IsChild() { return std::getenv("OPKIT_TEST_CHILD") != nullptr; }

}  // namespace

TEST(a_cache_that_can_not_be_written_is_no_error) {
  CHECK_EQ(StatusOfChild("a_child_compiles", {{"OPKIT_SIM_CACHE_DIR", "/proc/no/such"}}), 0);
  CHECK_EQ(StatusOfChild("a_child_compiles", {{"OPKIT_SIM_CACHE_DIR", "/dev/null"}}), 0);
}

TEST(variables_that_lead_the_compiler_elsewhere_have_no_effect) {
  const std::string folder = OPKIT_TEST_BINARY_DIR "/rtc_elsewhere";
  mkdir(folder.c_str(), 0777);
  WriteFile(folder + "/cstdint", "#error found by a variable\n");
  EmptyCache();
  for (const char *variable : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"}) {
    CHECK_EQ(StatusOfChild("a_child_compiles", {{variable, folder.c_str()}, {"OPKIT_SIM_CACHE_DIR", "/dev/null"}}), 0);
  }
  for (const char *variable : {"GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH"}) {
    CHECK_EQ(StatusOfChild("a_child_compiles", {{variable, (folder + "/").c_str()}, {"OPKIT_SIM_CACHE_DIR", "/dev/null"}}), 0);
  }
}

TEST(without_a_compiler_there_is_one_clear_line) {
  CHECK_EQ(StatusOfChild("a_lonely_child", {{"PATH", "/nonexistent"}}), 0);
  CHECK_EQ(StatusOfChild("a_misled_child", {{"OPKIT_SIM_CXX", "/nonexistent/g++"}}), 0);
}

TEST(a_lonely_child_finds_no_compiler) {
  if (!IsChild()) return;
  const Compiled compiled = Compile(kGood);
  CHECK_EQ(compiled.code, 576000);
  CHECK_CONTAINS(compiled.log, "no C++ compiler (g++, c++ or clang++) on PATH");
  CHECK_CONTAINS(compiled.log, "sudo apt install g++");
}

TEST(a_misled_child_names_the_variable) {
  if (!IsChild()) return;
  CHECK_EQ(Compile(kGood).log, "OPKIT_SIM_CXX=/nonexistent/g++ is not a program that can be run\n");
}

// As a process that is emulated finds the compilers of the machine underneath.
TEST(compilers_for_another_processor_are_passed_over) {
  const std::string folder = OPKIT_TEST_BINARY_DIR "/rtc_foreign";
  mkdir(folder.c_str(), 0777);
  std::string program =
      "\x7f"
      "ELF\x02\x01\x01";
  program.resize(64, '\0');
  program[18] = '\xf3';  // RISC-V
  for (const char *name : {"/g++", "/clang++"}) {
    WriteFile(folder + name, program);
    chmod((folder + name).c_str(), 0755);
  }
  CHECK_EQ(StatusOfChild("an_emulated_child", {{"PATH", folder.c_str()}}), 0);
}

TEST(an_emulated_child_names_the_cross_compiler) {
  if (!IsChild()) return;
  const Compiled compiled = Compile(kGood);
  CHECK_EQ(compiled.code, 576000);
  CHECK_CONTAINS(compiled.log, "-linux-gnu-g++ on PATH, and the other compilers there compile for another processor");
}

TEST(a_child_compiles) { CHECK_EQ(RunFill(Compile(kGood, "child.asc"), "fill", 8), 8U); }

TEST_MAIN()
