// Reads the environment on first use; later changes by the program have no effect, as with a real toolkit.
#include "acl/environment.h"

#include <sched.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace opkit_sim::rt {
namespace {

constexpr uint32_t kMaxThreads = 256;

const char *Value(const char *name) {
  const char *value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Never freed: the environment lives as long as the process.
const char *Kept(const char *text) { return text == nullptr ? nullptr : strdup(text); }

const char *Kept(const std::string &text) { return Kept(text.c_str()); }

bool IsFolder(const char *path) {
  struct stat found{};
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

uint32_t UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : static_cast<uint32_t>(count);
}

uint32_t ThreadCount(uint32_t cores) {
  const char *text = Value("OPKIT_SIM_THREADS");
  if (text == nullptr) return cores;
  char *end = nullptr;
  const long wanted = std::strtol(text, &end, 10);
  if (*end != '\0' || wanted < 1) return cores;
  return wanted > static_cast<long>(kMaxThreads) ? kMaxThreads : static_cast<uint32_t>(wanted);
}

const char *CacheDir() {
  if (const char *chosen = Value("OPKIT_SIM_CACHE_DIR")) return Kept(chosen);
  // A relative XDG_CACHE_HOME is to be ignored, says the XDG specification.
  if (const char *cache = Value("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') return Kept(std::string(cache) + "/opkit/rtc");
  // Of a user without a home folder HOME may name one that isn't there, and root could make it.
  if (const char *home = Value("HOME"); home != nullptr && *home == '/' && IsFolder(home)) {
    return Kept(std::string(home) + "/.cache/opkit/rtc");
  }
  return nullptr;
}

Environment Read() {
  Environment environment{};
  environment.cores = UsableCores();
  environment.threads = ThreadCount(environment.cores);
  const char *strict = Value("OPKIT_SIM_STRICT");
  environment.strict = strict != nullptr && std::string(strict) != "0";
  environment.task_records = Kept(Value("OPKIT_SIM_TASK_RECORDS"));
  environment.cache_dir = CacheDir();
  environment.compiler = Kept(Value("OPKIT_SIM_CXX"));
  environment.search_path = Kept(Value("PATH"));
  const char *temp = Value("TMPDIR");
  environment.temp_dir = Kept(temp == nullptr ? "/tmp" : temp);
  return environment;
}

}  // namespace

const Environment &Env() {
  static const Environment &environment = *new Environment(Read());
  return environment;
}

}  // namespace opkit_sim::rt
