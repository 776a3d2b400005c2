#include "register/custom_op_loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "session/report.h"

namespace opkit_sim::custom_op {
namespace {
namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr const char *kCpu = "aarch64";
#elif defined(__x86_64__)
constexpr const char *kCpu = "x86_64";
#else
#error "no folder name is known for this processor"
#endif

std::vector<fs::path> Roots() {
  std::vector<fs::path> roots;
  const char *value = std::getenv("ASCEND_CUSTOM_OPP_PATH");
  const std::string list = value == nullptr ? "" : value;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) {
      roots.emplace_back(list.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return roots;
}

// Any file name that ends in .so, in byte order: libcust_opapi.so has no precedence over its neighbours.
std::vector<fs::path> LibrariesIn(const fs::path &folder) {
  std::vector<fs::path> libraries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".so" && !entry->is_directory(error)) {
      libraries.push_back(entry->path());
    }
  }
  std::sort(libraries.begin(), libraries.end());
  return libraries;
}

std::vector<fs::path> LibrariesOf(const fs::path &root) {
  std::vector<fs::path> libraries;
  std::error_code error;
  const fs::path flat = root / "libcust_opapi.so";
  if (fs::exists(flat, error)) {
    libraries.push_back(flat);
  }
  const fs::path folder = root / "op_graph" / "lib" / "linux" / kCpu;
  const std::vector<fs::path> nested = LibrariesIn(folder);
  libraries.insert(libraries.end(), nested.begin(), nested.end());
  if (nested.empty()) {
    report::Warn("No so file found in custom op lib path %s", folder.c_str());
  }
  return libraries;
}
}  // namespace

ge::graphStatus LoadLibraries() {
  static std::mutex mutex;
  static bool is_loaded = false;
  const std::lock_guard<std::mutex> lock(mutex);
  if (is_loaded) {
    return ge::GRAPH_SUCCESS;
  }
  for (const fs::path &root : Roots()) {
    for (const fs::path &library : LibrariesOf(root)) {
      // Not RTLD_GLOBAL: two deliverables may define the same helper symbols.
      if (dlopen(library.c_str(), RTLD_NOW) == nullptr) {
        const char *message = dlerror();
        report::Error("E19999", "Failed to dlopen %s! errmsg:%s", library.c_str(), message == nullptr ? "" : message);
        return ge::GRAPH_FAILED;
      }
    }
  }
  is_loaded = true;
  return ge::GRAPH_SUCCESS;
}
}  // namespace opkit_sim::custom_op
