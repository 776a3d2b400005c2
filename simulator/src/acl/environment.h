// The simulator's environment variables, read once, here and nowhere else.
#ifndef OPKIT_SIM_SRC_ACL_ENVIRONMENT_H_
#define OPKIT_SIM_SRC_ACL_ENVIRONMENT_H_

#include <cstdint>

namespace opkit_sim::rt {

// Strings live as long as the process; null means unset or empty.
struct Environment {
  uint32_t threads;          // OPKIT_SIM_THREADS, else the cores this process may use; at least 1
  uint32_t cores;            // cores this process may use
  bool strict;               // OPKIT_SIM_STRICT=1
  const char *task_records;  // OPKIT_SIM_TASK_RECORDS
  const char *cache_dir;     // OPKIT_SIM_CACHE_DIR, else $XDG_CACHE_HOME/opkit/rtc, else $HOME/.cache/opkit/rtc if there is such a home
  const char *compiler;      // OPKIT_SIM_CXX
  const char *search_path;   // PATH
  const char *temp_dir;      // TMPDIR, else /tmp
};

const Environment &Env();

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_ENVIRONMENT_H_
