// Which custom-op libraries GEInitialize loads, in which order, and what a broken one does. Each case is a process of its own.
#include <filesystem>
#include <fstream>
#include <string>

#include "check.h"
#include "session/start.h"

namespace {
namespace fs = std::filesystem;

const fs::path kScratch = fs::path(OPKIT_TEST_BINARY_DIR) / "loader";

#if defined(__aarch64__)
const char *const kNested = "op_graph/lib/linux/aarch64";
#else
const char *const kNested = "op_graph/lib/linux/x86_64";
#endif

// An OPP root under the scratch folder, empty at first.
class Root {
 public:
  explicit Root(const std::string &name) : path_(kScratch / name) {
    fs::remove_all(path_);
    fs::create_directories(path_ / kNested);
  }
  Root &Flat(const std::string &module) {
    fs::copy_file(Module(module), path_ / "libcust_opapi.so");
    return *this;
  }
  Root &Nested(const std::string &module, const std::string &file) {
    fs::copy_file(Module(module), path_ / kNested / file);
    return *this;
  }
  fs::path nested() const { return path_ / kNested; }
  std::string str() const { return path_.string(); }

 private:
  static fs::path Module(const std::string &name) { return fs::path(LOADER_MODULES) / ("libloader_" + name + ".so"); }

  fs::path path_;
};

std::string Probe(const std::string &opp_path, const std::string &arguments) {
  const session_test::Finished probe = session_test::Start("ASCEND_CUSTOM_OPP_PATH='" + opp_path + "' '" LOADER_PROBE "' " + arguments);
  CHECK_EQ(probe.status, 0);
  return probe.output;
}
}  // namespace

TEST(flat_library_is_loaded_before_the_nested_ones) {
  Root root("flat_first");
  root.Flat("one").Nested("two", "aaa.so");
  CHECK_CONTAINS(Probe(root.str(), "0 - Probed"), "Probed 1");
}

TEST(nested_libraries_are_loaded_in_byte_order_whatever_their_names) {
  Root root("sorted");
  root.Nested("two", "libcust_opapi.so").Nested("one", "Zebra.so");
  CHECK_CONTAINS(Probe(root.str(), "0 - Probed"), "Probed 1");
}

TEST(first_root_of_the_path_wins_and_every_root_is_loaded) {
  Root first("first_root");
  Root second("second_root");
  first.Nested("two", "a.so");
  second.Nested("one", "a.so").Nested("other", "b.so");
  const std::string output = Probe(first.str() + ":" + second.str(), "0 - Probed Other");
  CHECK_CONTAINS(output, "initialize ok");
  CHECK_CONTAINS(output, "Probed 2");
  CHECK_CONTAINS(output, "Other 3");
}

TEST(empty_elements_of_the_path_are_skipped) {
  Root root("empty_elements");
  root.Nested("one", "a.so");
  const std::string output = Probe("::" + root.str() + ":", "0 - Probed");
  CHECK_CONTAINS(output, "initialize ok");
  CHECK_CONTAINS(output, "Probed 1");
  CHECK(output.find("[WARNING]") == std::string::npos);
}

TEST(missing_root_is_only_a_warning) {
  Root root("beside_missing");
  root.Nested("one", "a.so");
  const std::string output = Probe("/no/such/folder:" + root.str(), "0 - Probed");
  CHECK_CONTAINS(output, "initialize ok");
  CHECK_CONTAINS(output, "No so file found in custom op lib path /no/such/folder");
  CHECK_CONTAINS(output, "Probed 1");
}

TEST(unset_path_loads_nothing_and_says_nothing) {
  const std::string output = Probe("", "0 - Probed");
  CHECK_EQ(output, "initialize ok\nProbed 0\n");
}

TEST(folders_and_other_files_are_not_libraries) {
  Root root("others");
  root.Nested("one", "a.so");
  fs::create_directories(root.nested() / "folder.so");
  std::ofstream(root.nested() / "kernel.asc") << "text";
  fs::create_symlink(root.nested() / "a.so", root.nested() / "link.so");
  const std::string output = Probe(root.str(), "0 - Probed");
  CHECK_CONTAINS(output, "initialize ok");
  CHECK_CONTAINS(output, "Probed 1");
}

TEST(one_library_that_is_none_fails_the_initialisation) {
  Root root("no_elf");
  root.Nested("one", "a.so");
  std::ofstream(root.nested() / "b.so") << "not a library";
  const std::string output = Probe(root.str(), "0 - Probed");
  CHECK_CONTAINS(output, "initialize failed");
  CHECK_CONTAINS(output, "[ERROR] GE E19999: Failed to dlopen " + (root.nested() / "b.so").string() + "! errmsg:");
}

TEST(undefined_symbol_is_found_at_load_and_named) {
  Root root("undefined");
  root.Nested("broken", "a.so");
  const std::string output = Probe(root.str(), "0 - Probed");
  CHECK_CONTAINS(output, "initialize failed");
  CHECK_CONTAINS(output, "undefined symbol: nobody_defines_this");
}

TEST(libraries_are_loaded_once_per_process) {
  Root first("once");
  Root later("later");
  first.Nested("one", "a.so");
  later.Nested("other", "a.so");
  const std::string output = Probe(first.str(), "0 '" + later.str() + "' Probed Other");
  CHECK_CONTAINS(output, "again ok");
  CHECK_CONTAINS(output, "Probed 1");
  CHECK_CONTAINS(output, "Other 0");
}

TEST(initialisation_that_failed_can_be_repeated_with_a_good_path) {
  Root broken("repeat_broken");
  Root good("repeat_good");
  broken.Nested("broken", "a.so");
  good.Nested("one", "a.so");
  const std::string output = Probe(broken.str(), "0 '" + good.str() + "' Probed");
  CHECK_CONTAINS(output, "initialize failed");
  CHECK_CONTAINS(output, "again ok");
  CHECK_CONTAINS(output, "Probed 1");
}

TEST(device_that_does_not_exist_is_one_clear_failure) {
  const std::string output = Probe("", "99 -");
  CHECK_CONTAINS(output, "initialize failed");
  CHECK_CONTAINS(output, "E10001: Value 99 for parameter ge.exec.deviceId is invalid.");
  CHECK_CONTAINS(Probe("", "first -"), "E10001: Value first for parameter ge.exec.deviceId is invalid.");
}

TEST_MAIN()
