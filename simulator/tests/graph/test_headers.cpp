// The public headers as a user's compiler sees them: each one alone, both string ABIs,
// C++17 and C++20, warnings as errors; and what must not compile.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "check.h"

namespace {

namespace fs = std::filesystem;

const fs::path kToolkit = OPKIT_TEST_TOOLKIT;
const std::string kProtos = (kToolkit / "opp/built-in/op_proto/inc").string();

struct Run {
  int status;
  std::string output;
};

Run Execute(const std::string &command) {
  Run run{-1, ""};
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> chunk{};
  while (std::fgets(chunk.data(), static_cast<int>(chunk.size()), pipe) != nullptr) {
    run.output += chunk.data();
  }
  run.status = pclose(pipe);
  return run;
}

Run Compile(const std::string &name, const std::string &source, const std::string &options) {
  const fs::path file = fs::path(OPKIT_TEST_BINARY_DIR) / (name + ".cpp");
  std::ofstream(file) << source;
  return Execute(std::string(OPKIT_TEST_CXX) + " -Wall -Wextra -Wconversion -Wshadow -Werror -I'" + (kToolkit / "include").string() +
                 "' -I'" + (kToolkit / "include/graph").string() + "' -I'" + kProtos + "' " + options + " -fsyntax-only '" + file.string() +
                 "'");
}

std::vector<std::string> PublicHeaders() {
  std::vector<std::string> headers = {"ops_proto_legacy.h"};
  for (const char *folder : {"graph", "external/ge_common", "utils", "platform", "register", "exe_graph/runtime", "ge"}) {
    if (!fs::exists(kToolkit / "include" / folder)) {
      continue;
    }
    for (const fs::directory_entry &entry : fs::directory_iterator(kToolkit / "include" / folder)) {
      if (entry.path().extension() == ".h") {
        headers.push_back(std::string(folder) + "/" + entry.path().filename().string());
      }
    }
  }
  return headers;
}

const std::string kProto = "#include \"ops_proto_legacy.h\"\n";

void MustNotCompile(const std::string &name, const std::string &source, const std::string &reason) {
  const Run run = Compile(name, source, "-std=c++17");
  CHECK(run.status != 0);
  CHECK_CONTAINS(run.output, reason);
}

}  // namespace

TEST(each_header_compiles_alone) {
  const std::vector<std::string> headers = PublicHeaders();
  CHECK(headers.size() > 20U);
  for (const std::string &header : headers) {
    const Run run = Compile("alone", "#include \"" + header + "\"\n", "-std=c++17");
    if (run.status != 0) {
      opkit_test::Fail(__FILE__, __LINE__, header + " doesn't compile alone:\n" + run.output);
    }
  }
}

TEST(all_headers_compile_for_both_abis_and_standards) {
  std::string all;
  for (const std::string &header : PublicHeaders()) {
    all += "#include \"" + header + "\"\n";
  }
  all += std::string("#include \"") + OPKIT_TEST_SOURCE_DIR + "/every_clause.h\"\n";
  for (const char *standard : {"-std=c++17", "-std=c++20"}) {
    for (const char *abi : {"-D_GLIBCXX_USE_CXX11_ABI=0", "-D_GLIBCXX_USE_CXX11_ABI=1"}) {
      const Run run = Compile("all", all, std::string(standard) + " -pedantic " + abi);
      if (run.status != 0) {
        opkit_test::Fail(__FILE__, __LINE__, std::string(standard) + " " + abi + ":\n" + run.output);
      }
    }
  }
}

TEST(setters_take_operators_that_have_a_name) {
  MustNotCompile("temporary", kProto + "void f(ge::op::Relu relu) { relu.set_input_x(ge::op::Data(\"d\")); }\n", "rvalue");
}

TEST(the_end_must_name_the_operator) {
  MustNotCompile("end",
                 "#include \"graph/operator_reg.h\"\nnamespace ge { namespace op { class Other; }\n"
                 "REG_OP(One).INPUT(x, TensorType::ALL()).OP_END_FACTORY_REG(Other) }\n",
                 "OP_END_FACTORY_REG names another operator");
}

TEST(what_the_simulator_doesnt_have_is_a_compile_error) {
  MustNotCompile("save", kProto + "void f(ge::Graph graph) { (void)graph.SaveToFile(\"x.air\"); }\n", "SaveToFile");
  MustNotCompile("named_attrs",
                 "#include \"graph/operator_reg.h\"\nnamespace ge { REG_OP(One).REQUIRED_ATTR(a, NamedAttrs).OP_END_FACTORY_REG(One) }\n",
                 "incomplete type");
}

TEST(no_registration_is_left_out_on_demand) {
  const std::string source = kProto + "static_assert(!std::is_same<ge::op::Data, ge::op::Relu>::value, \"\");\n";
  const Run run = Compile("v1", source, "-std=c++17 -DDISABLE_COMPILE_V1");
  CHECK_EQ(run.status, 0);
  const Run counted = Execute(std::string(OPKIT_TEST_CXX) + " -std=c++17 -DDISABLE_COMPILE_V1 -I'" + (kToolkit / "include").string() +
                              "' -I'" + kProtos + "' -S -o - -x c++ '" + (fs::path(OPKIT_TEST_BINARY_DIR) / "v1.cpp").string() + "'");
  CHECK_EQ(counted.status, 0);
  CHECK(counted.output.find("OperatorCreatorRegister") == std::string::npos);
}

TEST(deprecated_calls_say_what_to_use) {
  const Run run = Compile("deprecated", kProto + "std::string f(ge::op::Relu relu) { return relu.GetName(); }\n", "-std=c++17");
  CHECK(run.status != 0);
  CHECK_CONTAINS(run.output, "deprecated");
  const Run quiet = Compile("deprecated", kProto + "std::string f(ge::op::Relu relu) { return relu.GetName(); }\n",
                            "-std=c++17 -DNO_METADEF_ABI_COMPATIABLE");
  CHECK_EQ(quiet.status, 0);
}

TEST(no_exported_symbol_names_a_string_of_one_abi) {
  for (const char *library : {"metadef", "graph_base", "graph", "platform"}) {
    const Run run =
        Execute(std::string(OPKIT_TEST_NM) + " -D --defined-only '" + (kToolkit / "lib64").string() + "/lib" + library + ".so'");
    CHECK_EQ(run.status, 0);
    CHECK(run.output.size() > 100U);
    CHECK(run.output.find("__cxx11") == std::string::npos);
    CHECK(run.output.find("B5cxx11") == std::string::npos);
  }
}

TEST(a_program_links_against_the_one_or_the_other_library_alone) {
  const fs::path program = fs::path(OPKIT_TEST_BINARY_DIR) / "linked";
  const fs::path source = fs::path(OPKIT_TEST_BINARY_DIR) / "linked.cpp";
  std::ofstream(source) << kProto << R"(
#include "external/ge_common/api_error_codes.h"
int main() {
  const ge::TensorDesc desc(ge::Shape({4, 4}), ge::FORMAT_ND, ge::DT_FLOAT);
  ge::op::Data data("data");
  data.update_output_desc_y(desc);
  ge::op::Relu relu("relu");
  relu.set_input_x(data);
  ge::Graph graph("g");
  graph.SetInputs({data}).SetOutputs({relu});
  return graph.GetAllNodes().size() == 2U && ge::GetSizeInBytes(3, ge::DT_INT4) == 2 &&
         ge::StatusFactory::Instance()->GetErrDesc(ge::FAILED) == "failed" && !ge::OperatorFactory::CreateOperator("n", "Data").IsEmpty() ? 0 : 1;
}
)";
  const std::string sanitize = std::string(OPKIT_TEST_SANITIZE).empty() ? "" : std::string(" -fsanitize=") + OPKIT_TEST_SANITIZE;
  const std::string object = (fs::path(OPKIT_TEST_BINARY_DIR) / "linked.o").string();
  for (const char *abi : {"0", "1"}) {
    const Run compiled =
        Execute(std::string(OPKIT_TEST_CXX) + " -std=c++17 -D_GLIBCXX_USE_CXX11_ABI=" + abi + sanitize + " -I'" +
                (kToolkit / "include").string() + "' -I'" + kProtos + "' -c '" + source.string() + "' -o '" + object + "'");
    CHECK_EQ(compiled.output, std::string(""));
    for (const char *libraries : {"-lgraph", "-lgraph_base", "-lgraph_base -lgraph"}) {
      const Run linked = Execute(std::string(OPKIT_TEST_CXX) + sanitize + " '" + object + "' -L'" + (kToolkit / "lib64").string() + "' " +
                                 libraries + " -Wl,-rpath,'" + (kToolkit / "lib64").string() + "' -o '" + program.string() + "'");
      CHECK_EQ(linked.output, std::string(""));
      const Run ran = Execute("'" + program.string() + "'");
      CHECK_EQ(ran.output, std::string(""));
      CHECK_EQ(ran.status, 0);
    }
  }
}

TEST_MAIN()
