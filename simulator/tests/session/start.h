// Runs a command of another process and collects what it prints.
#ifndef OPKIT_SIM_TESTS_SESSION_START_H_
#define OPKIT_SIM_TESTS_SESSION_START_H_

#include <array>
#include <cstdio>
#include <string>

#include "check.h"

namespace session_test {
struct Finished {
  int status = 0;  // as waitpid gives it
  std::string output;
};

inline Finished Start(const std::string &command) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Finished finished;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    finished.output += buffer.data();
  }
  finished.status = pclose(pipe);
  return finished;
}
}  // namespace session_test

#endif  // OPKIT_SIM_TESTS_SESSION_START_H_
