// Finds and runs the host compiler.
#include "rtc/compiler.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "acl/environment.h"

extern char **environ;

namespace opkit_sim::rtc {
namespace {

std::string IdentityOf(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return "";
  std::ostringstream text;
  text << path << ' ' << status.st_size << ' ' << status.st_mtim.tv_sec << '.' << status.st_mtim.tv_nsec;
  return text.str();
}

bool IsProgram(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string OnPath(const std::string &name) {
  if (name.find('/') != std::string::npos) return IsProgram(name) ? name : "";
  std::istringstream folders(rt::Env().search_path == nullptr ? "/usr/bin:/bin" : rt::Env().search_path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    const std::string path = folder + "/" + name;
    if (IsProgram(path)) return path;
  }
  return "";
}

#if defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
constexpr char kCrossCompiler[] = "aarch64-linux-gnu-g++";
constexpr char kCrossPackage[] = "g++-aarch64-linux-gnu";
#elif defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
constexpr char kCrossCompiler[] = "x86_64-linux-gnu-g++";
constexpr char kCrossPackage[] = "g++-x86-64-linux-gnu";
#endif

// Whether the program is one of another machine, which the kernel runs all the same: this process is emulated. A script is of none.
bool IsForeign(const std::string &path) {
  Elf64_Ehdr header{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char *>(&header), sizeof header);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine != kMachine;
}

Compiler FindCompiler() {
  Compiler compiler;
  if (const char *chosen = rt::Env().compiler) {
    compiler.path = OnPath(chosen);
    if (compiler.path.empty()) compiler.problem = "OPKIT_SIM_CXX=" + std::string(chosen) + " is not a program that can be run";
  } else {
    bool is_emulated = false;
    for (const char *name : {"g++", "c++", "clang++", kCrossCompiler}) {
      compiler.path = OnPath(name);
      // Of the machine underneath, that would compile for it.
      if (!compiler.path.empty() && name != kCrossCompiler && IsForeign(compiler.path)) {
        is_emulated = true;
        compiler.path.clear();
      }
      if (!compiler.path.empty()) break;
    }
    if (compiler.path.empty() && is_emulated) {
      compiler.problem = "no " + std::string(kCrossCompiler) +
                         " on PATH, and the other compilers there compile for another processor than the one that is emulated; the "
                         "simulator compiles kernels with it: sudo apt install " +
                         kCrossPackage + ", or set OPKIT_SIM_CXX";
    } else if (compiler.path.empty()) {
      compiler.problem =
          "no C++ compiler (g++, c++ or clang++) on PATH; the simulator compiles kernels with it: sudo apt install g++, or set "
          "OPKIT_SIM_CXX";
    }
  }
  if (!compiler.path.empty()) {
    compiler.identity = IdentityOf(compiler.path);
    compiler.is_cross = IsForeign(compiler.path);
  }
  return compiler;
}

// The child's environment: messages in English, nothing preloaded that belongs to this process, and none of what leads the compiler to
// other headers or parts of itself: the cache's key doesn't hold it.
std::vector<std::string> ChildEnvironment() {
  static constexpr const char *kDropped[] = {"LC_",
                                             "LANG",
                                             "LD_PRELOAD=",
                                             "GCC_COLORS=",
                                             "CPATH=",
                                             "C_INCLUDE_PATH=",
                                             "CPLUS_INCLUDE_PATH=",
                                             "GCC_EXEC_PREFIX=",
                                             "COMPILER_PATH=",
                                             "LIBRARY_PATH="};
  std::vector<std::string> variables;
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const auto begins = [&variable](const char *start) { return variable.rfind(start, 0) == 0; };
    const bool is_dropped = std::any_of(std::begin(kDropped), std::end(kDropped), begins);
    if (!is_dropped) variables.push_back(variable);
  }
  variables.emplace_back("LC_ALL=C");
  return variables;
}

std::vector<char *> Pointers(std::vector<std::string> &texts) {
  std::vector<char *> pointers;
  for (std::string &text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A socket pair: unlike a pipe, it can be written to without SIGPIPE.
struct Pipe {
  int read = -1;
  int write = -1;
  bool Open() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  static void Close(int *end) {
    if (*end >= 0) close(*end);
    *end = -1;
  }
  ~Pipe() {
    Close(&read);
    Close(&write);
  }
};

void ReadSome(int *end, std::string *text) {
  char buffer[65536];
  const ssize_t count = read(*end, buffer, sizeof buffer);
  if (count > 0) text->append(buffer, static_cast<size_t>(count));
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) Pipe::Close(end);
}

// Writes the input and reads both outputs at once, so that no pipe can fill up and stop the child.
void Converse(Pipe &in, Pipe &out, Pipe &errors, const std::string &input, CompileResult *result) {
  size_t written = 0;
  while (out.read >= 0 || errors.read >= 0) {
    pollfd ends[3] = {{in.write, POLLOUT, 0}, {out.read, POLLIN, 0}, {errors.read, POLLIN, 0}};
    if (poll(ends, 3, -1) < 0 && errno != EINTR) break;
    if (in.write >= 0 && (ends[0].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) {
      // A child that dies early closes its input: that shows in its status, and must not be a signal here.
      const ssize_t count =
          written < input.size() ? send(in.write, input.data() + written, input.size() - written, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
      if (count > 0) written += static_cast<size_t>(count);
      if (written == input.size() || (count < 0 && errno != EAGAIN && errno != EINTR)) Pipe::Close(&in.write);
    }
    if (ends[1].revents != 0) ReadSome(&out.read, &result->output);
    if (ends[2].revents != 0) ReadSome(&errors.read, &result->errors);
  }
}

}  // namespace

const Compiler &HostCompiler() {
  static const Compiler &compiler = *new Compiler(FindCompiler());
  return compiler;
}

const std::string &ToolkitHome() {
  static const std::string &home = *new std::string([] {
    Dl_info self;
    if (dladdr(reinterpret_cast<void *>(&ToolkitHome), &self) == 0 || self.dli_fname == nullptr) return std::string();
    char *real = realpath(self.dli_fname, nullptr);
    if (real == nullptr) return std::string();
    std::string path = real;
    std::free(real);
    for (int level = 0; level < 2; ++level) path.erase(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
    return path;
  }());
  return home;
}

const std::string &CpuIdentity() {
  static const std::string &identity = *new std::string([] {
    // The first processor's lines: model, and the flags that -march=native reads.
    std::ifstream file("/proc/cpuinfo");
    std::string text;
    for (std::string line; std::getline(file, line) && !line.empty();) {
      for (const char *key : {"vendor_id", "cpu family", "model", "stepping", "flags", "CPU implementer", "CPU part", "Features"}) {
        if (line.rfind(key, 0) == 0) text += line + '\n';
      }
    }
    return text;
  }());
  return identity;
}

CompileResult RunCompiler(const std::vector<std::string> &arguments, const std::string &input) {
  CompileResult result;
  std::vector<std::string> command{HostCompiler().path};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = ChildEnvironment();
  Pipe in;
  Pipe out;
  Pipe errors;
  if (!in.Open() || !out.Open() || !errors.Open()) {
    result.errors = std::string("socketpair: ") + std::strerror(errno);
    return result;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int problem = posix_spawn(&child, command[0].c_str(), &actions, &attributes, Pointers(command).data(), Pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) {
    result.errors = command[0] + ": " + std::strerror(problem);
    return result;
  }
  result.is_started = true;
  Pipe::Close(&in.read);
  Pipe::Close(&out.write);
  Pipe::Close(&errors.write);
  Converse(in, out, errors, input, &result);
  int status = 0;
  pid_t ended = -1;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (ended != child) {
    // The program ignores SIGCHLD, or waits for every child itself: the status is gone, and the messages must tell. Whoever asked for a
    // file looks whether it is there.
    result.status = result.errors.find("error: ") == std::string::npos ? 0 : 1;
    return result;
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (WIFSIGNALED(status)) result.errors += command[0] + ": killed by signal " + std::to_string(WTERMSIG(status)) + "\n";
  return result;
}

ScratchFolder::ScratchFolder() {
  std::string pattern = std::string(rt::Env().temp_dir) + "/opkit-rtc-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    problem_ = pattern + ": " + std::strerror(errno);
  } else {
    path_ = pattern;
  }
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  if (DIR *folder = opendir(path_.c_str())) {
    while (const dirent *entry = readdir(folder)) unlink(File(entry->d_name).c_str());
    closedir(folder);
  }
  rmdir(path_.c_str());
}

}  // namespace opkit_sim::rtc
