// The host compiler behind RTC: which one it is, how it is called, and how its messages are shown.
#ifndef OPKIT_SIM_SRC_RTC_COMPILER_H_
#define OPKIT_SIM_SRC_RTC_COMPILER_H_

#include <string>
#include <vector>

namespace opkit_sim::rtc {

struct Compiler {
  std::string path;       // absolute; empty: none found
  std::string identity;   // path, size and time of the file, so that a cache hit needs no process
  std::string problem;    // why there is none
  bool is_cross = false;  // it is a program of another machine than this one: this process is emulated there
};

// OPKIT_SIM_CXX, else g++, c++, clang++ on PATH, else a cross compiler by its name in Debian, as an emulated process finds it beside those
// that compile for the machine underneath. Found once a process.
const Compiler &HostCompiler();

// The toolkit this library lies in: <home>/lib64/libacl_rtc.so. Empty if that can't be told.
const std::string &ToolkitHome();

// What -march=native depends on.
const std::string &CpuIdentity();

struct CompileResult {
  bool is_started = false;
  int status = -1;
  std::string output;
  std::string errors;
};

// Runs the compiler with the text on its standard input; the two outputs are kept whole.
CompileResult RunCompiler(const std::vector<std::string> &arguments, const std::string &input);

// A new folder, removed with all that is in it at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;

  bool IsMade() const { return !path_.empty(); }
  std::string File(const std::string &name) const { return path_ + "/" + name; }
  const std::string &Problem() const { return problem_; }

 private:
  std::string path_;
  std::string problem_;
};

// Rewrites a compiler log so that each error begins with a line of the user's own: an error inside the toolkit's headers is led by the
// place that used them. `source` adds the text of the line.
std::string ReadableLog(const std::string &log, const std::string &source, const std::string &program_name);

}  // namespace opkit_sim::rtc

#endif  // OPKIT_SIM_SRC_RTC_COMPILER_H_
