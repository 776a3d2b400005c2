// What the device can't do, or the emulation doesn't do, must not compile; the compiler's message says what is possible instead.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "check.h"

namespace {

struct Compiled {
  int status;
  std::string log;
};

Compiled Compile(const std::string &body) {
  const std::string stem = std::string(OPKIT_TEST_BINARY_DIR) + "/refused_" + std::to_string(getpid());
  std::ofstream(stem + ".cpp") << "#include \"kernel_operator.h\"\nusing namespace AscendC;\n__global__ __aicore__ void kernel() {\n"
                               << body << "\n}\n";
  const std::string include = std::string(OPKIT_TEST_SOURCE_DIR) + "/../../include";
  const std::string command =
      "LC_ALL=C \"" OPKIT_TEST_CXX "\" -std=c++17 -fsyntax-only -I\"" + include + "\" \"" + stem + ".cpp\" > \"" + stem + ".log\" 2>&1";
  const int status = std::system(command.c_str());
  std::stringstream log;
  log << std::ifstream(stem + ".log").rdbuf();
  std::remove((stem + ".cpp").c_str());
  std::remove((stem + ".log").c_str());
  return {status, log.str()};
}

constexpr char kTensors[] =
    "LocalTensor<float> f; LocalTensor<half> h; LocalTensor<int8_t> b; LocalTensor<uint8_t> u; LocalTensor<bfloat16_t> bf; "
    "LocalTensor<int64_t> l;"
    "LocalTensor<int32_t> i; LocalTensor<int16_t> s; GlobalTensor<float> g;\n";

void CheckRefused(const std::string &statement, const char *reason) {
  const Compiled compiled = Compile(kTensors + statement);
  if (compiled.status == 0) opkit_test::Fail(__FILE__, __LINE__, "compiled: " + statement);
  CHECK_CONTAINS(compiled.log, reason);
}

}  // namespace

TEST(the_types_that_an_instruction_lacks_are_refused_with_those_it_has) {
  CheckRefused("Add(bf, bf, bf, 16);", "Add takes int16_t, half, int32_t and float; cast other types first");
  CheckRefused("Div(i, i, i, 16);", "Div takes half and float");
  CheckRefused("Exp(i, i, 16);", "Exp takes half and float");
  CheckRefused("And(i, i, i, 16);", "And takes int16_t and uint16_t; reinterpret wider types and double the count");
  CheckRefused("Duplicate(l, int64_t{0}, 16);", "Duplicate takes int16_t, uint16_t");
  CheckRefused("Cast(f, b, RoundMode::CAST_NONE, 16);", "Cast has no such pair");
  CheckRefused("Cast(h, bf, RoundMode::CAST_NONE, 16);", "go through half or float");
  CheckRefused("Compare(u, s, s, CMPMODE::EQ, 128);", "Compare and CompareScalar take half and float");
  CheckRefused("Select(i, u, i, i, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);", "Select takes half and float");
  CheckRefused("SetAtomicAdd<int64_t>();", "the atomic modes take int8_t, int16_t, half, bfloat16_t, int32_t and float");
}

TEST(a_scalar_of_another_type_and_mixed_tensors_are_refused) {
  CheckRefused("Adds(f, f, 1, 16);", "no matching function for call to 'Adds");
  CheckRefused("Add(f, f, h, 16);", "no matching function for call to 'Add");
}

TEST(what_is_not_emulated_is_not_declared) {
  CheckRefused("SyncAll();", "'SyncAll' was not declared");
  CheckRefused("Sort32(f, f, u, 1);", "'Sort32' was not declared");
  CheckRefused("int4b_t nibble; (void)nibble;", "incomplete type");
  CheckRefused("TQue<TPosition::A1, 1> queue; (void)queue;", "only queues of the Unified Buffer");
  CheckRefused("TQue<TPosition::VECIN, 0> queue; queue.AllocTensor<float>();", "a queue of depth 0 works in place");
  CheckRefused("PipeBarrier<PIPE_S>();", "PIPE_S is no argument of PipeBarrier");
}

TEST(a_correct_source_compiles_in_the_same_way) {
  const Compiled compiled =
      Compile(std::string(kTensors) +
              "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY); Add(f, f, f, 16); DataCopy(g, f, 16); (void)s; (void)u; (void)l; (void)b;");
  CHECK_EQ(compiled.status, 0);
  CHECK_EQ(compiled.log, "");
}

TEST_MAIN()
