// aclrtc: programs, their options, and the way from source text to a device binary.
#include <linux/limits.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/acl_rt_compile.h"
#include "acl/runtime_internal.h"
#include "opkit_sim/kernel_abi.h"
#include "rtc/cache.h"
#include "rtc/compiler.h"
#include "rtc/digest.h"
#include "rtc/entry_scan.h"

namespace opkit_sim::rtc {
namespace {

constexpr aclError kInvalidProg = 176000;
constexpr aclError kInvalidInput = 176001;
constexpr aclError kInvalidOption = 176002;
constexpr aclError kCompilation = 176003;
constexpr aclError kLinking = 176004;
constexpr aclError kNameExprAfterCompilation = 176005;
constexpr aclError kLoweredNameBeforeCompilation = 176006;
constexpr aclError kNameExprNotValid = 176007;
constexpr aclError kFailure = 576000;

constexpr char kDefaultName[] = "default_program";
constexpr char kArch[] = "dav-2201";
#if defined(__aarch64__)
constexpr char kArchitecture[] = "aarch64";
#elif defined(__x86_64__)
constexpr char kArchitecture[] = "x86_64";
#endif

struct Program {
  std::mutex mutex;
  std::string source;
  std::string name;
  std::vector<std::string> expressions;
  bool is_compiled = false;  // CompileProg was called, whatever came of it
  bool is_good = false;
  std::string log;
  std::string binary;
};

struct Programs {
  std::mutex mutex;
  std::unordered_map<void *, std::shared_ptr<Program>> live;
};

Programs &Live() {
  static Programs &programs = *new Programs;
  return programs;
}

aclError Refuse(aclError code, const std::string &text) {
  rt::SetRecentError(("[" + std::to_string(code) + "] " + text).c_str());
  return code;
}

std::shared_ptr<Program> Find(aclrtcProg handle) {
  Programs &programs = Live();
  const std::lock_guard<std::mutex> lock(programs.mutex);
  const auto found = programs.live.find(handle);
  return found == programs.live.end() ? nullptr : found->second;
}

// --- options
// -------------------------------------------------------------------------------------------------------------------------------

struct Options {
  std::vector<std::string> forwarded;
  std::string standard = "-std=c++17";
  std::string optimisation = "-O3";
};

bool StartsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

// Why the options are refused; empty if they aren't.
std::string ParseOptions(const std::vector<std::string> &given, Options *options) {
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string &option = given[i];
    if (option.empty()) return "option " + std::to_string(i) + " is empty";
    if (StartsWith(option, "--npu-arch=") || StartsWith(option, "--cce-aicore-arch=")) {
      const std::string arch = option.substr(option.find('=') + 1);
      if (arch != kArch) return "option '" + option + "': the simulator emulates " + kArch;
    } else if (option == "-D" || option == "-I" || option == "-U" || option == "-include" || option == "-isystem") {
      if (i + 1 == given.size()) return "option '" + option + "' lacks its value";
      options->forwarded.push_back(option);
      options->forwarded.push_back(given[++i]);
    } else if (StartsWith(option, "-D") || StartsWith(option, "-I") || StartsWith(option, "-U")) {
      options->forwarded.push_back(option);
    } else if (option == "-std=c++17" || option == "-std=c++20" || option == "-std=gnu++17" || option == "-std=gnu++20") {
      options->standard = option;
    } else if (option == "-O0" || option == "-O1" || option == "-O2" || option == "-O3" || option == "-Os") {
      options->optimisation = option;
    } else if (option == "-g" || option == "-w" || option == "-xasc" ||
               (StartsWith(option, "-W") && !StartsWith(option, "-Wl,") && !StartsWith(option, "-Wp,"))) {
      if (option != "-xasc") options->forwarded.push_back(option);
    } else {
      return "unknown option '" + option + "'";
    }
  }
  return "";
}

// --- compilation
// ---------------------------------------------------------------------------------------------------------------------------

// Options of both steps. The instruction set must be the same while macros are expanded and while code is made; a cross compiler doesn't
// know that of an emulated processor. A plain char is signed on each, as it isn't on ARM otherwise: a kernel means the same everywhere.
std::vector<std::string> SharedArguments(const Options &options) {
  std::vector<std::string> arguments{options.standard,   options.optimisation,          "-fsigned-char",     "-fPIC",
                                     "-fno-show-column", "-fno-diagnostics-show-caret", "-fmessage-length=0"};
  if (!HostCompiler().is_cross) arguments.emplace_back("-march=native");
  return arguments;
}

std::vector<std::string> PreprocessArguments(const Options &options, const std::string &dependencies) {
  std::vector<std::string> arguments = SharedArguments(options);
  const std::string include = ToolkitHome() + "/include";
  for (const std::string &argument :
       std::vector<std::string>{"-E", "-x", "c++", "-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220", "-D__DAV_C220__=1", "-D__ASCENDC_RTC__=1",
                                std::string("-D__global__=") + kEntryMark, "-include", include + "/opkit_sim/kernel_builtins.h", "-MD",
                                "-MF", dependencies, "-MT", "kernel"}) {
    arguments.push_back(argument);
  }
  arguments.insert(arguments.end(), options.forwarded.begin(), options.forwarded.end());
  // After the user's own folders, as system folders: no warnings from there.
  for (const std::string &argument : {std::string("-isystem"), include, std::string("-isystem"), include + "/ascendc", std::string("-")}) {
    arguments.push_back(argument);
  }
  return arguments;
}

std::vector<std::string> CompileArguments(const Options &options, const std::string &binary) {
  std::vector<std::string> arguments = SharedArguments(options);
  for (const char *argument : {"-fpreprocessed", "-x", "c++", "-shared", "-fvisibility=hidden", "-fno-gnu-unique", "-ffp-contract=off",
                               "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math", "-fno-semantic-interposition", "-fno-plt",
                               "-Wl,-Bsymbolic", "-Wl,-z,now", "-Wl,--build-id=none"}) {
    arguments.emplace_back(argument);
  }
#ifdef OPKIT_SIM_SANITIZE
  arguments.emplace_back("-fsanitize=" OPKIT_SIM_SANITIZE);
  arguments.emplace_back("-fno-omit-frame-pointer");
  // The leak check of GCC 12 reads thread-local blocks that were made on demand as if their headers were its own, and dies.
  arguments.emplace_back("-ftls-model=initial-exec");
#else
  arguments.emplace_back("-Wl,--no-undefined");
#endif
  for (const std::string &option : options.forwarded) {
    if (option == "-g" || option == "-w" || StartsWith(option, "-W")) arguments.push_back(option);
  }
  for (const std::string &argument : {std::string("-o"), binary, std::string("-")}) arguments.push_back(argument);
  return arguments;
}

std::string Quoted(const std::string &text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string WithoutSpaces(const std::string &text) {
  std::string kept;
  for (const char c : text) {
    if (c != ' ' && c != '\t') kept += c;
  }
  return kept;
}

// The function that a name expression means: "&ns::add<float>" -> "ns::add".
std::string FunctionOf(const std::string &expression) {
  std::string name = WithoutSpaces(expression);
  if (!name.empty() && name[0] == '&') name.erase(0, 1);
  if (StartsWith(name, "::")) name.erase(0, 2);
  return name.substr(0, name.find('<'));
}

// The C++ that makes the kernel table. Each entry keeps a line of its own source, so that a refusal of its signature is shown there.
std::string RegistrationText(const Scan &scan, const std::vector<std::string> &expressions) {
  struct Registered {
    std::string name;
    std::string function;
    const Entry *entry;
    std::string place;
  };
  std::vector<Registered> registered;
  for (const Entry &entry : scan.entries) {
    const std::string place = "# " + std::to_string(entry.line) + " " + Quoted(entry.file) + "\n";
    if (!entry.is_template) registered.push_back({entry.name, "::" + entry.name, &entry, place});
  }
  for (const std::string &expression : expressions) {
    const std::string function = FunctionOf(expression);
    const bool is_there =
        std::any_of(registered.begin(), registered.end(), [&](const Registered &other) { return other.name == expression; });
    if (is_there) continue;
    const auto found = std::find_if(scan.entries.begin(), scan.entries.end(), [&](const Entry &entry) { return entry.name == function; });
    std::string callee = expression;
    callee.erase(0, callee.find_first_not_of(" \t&"));
    registered.push_back({expression, callee, found == scan.entries.end() ? nullptr : &*found,
                          "# 1 " + Quoted("name expression '" + expression + "'") + "\n"});
  }
  std::string names;
  std::string entries;
  for (size_t i = 0; i < registered.size(); ++i) {
    const Registered &item = registered[i];
    names += "static const char *const opkit_sim_names_" + std::to_string(i) + "[] = {";
    // A name expression may denote what the scan didn't see; the library copes with missing names by their place.
    const size_t count = item.entry == nullptr ? 64 : item.entry->parameters.size();
    for (size_t p = 0; p < count; ++p)
      names += (item.entry == nullptr ? "\"arg" + std::to_string(p) + "\"" : Quoted(item.entry->parameters[p])) + ", ";
    names += "\"\"};\n";
    entries += item.place + "::opkit_sim::EntryOf<decltype(&" + item.function + "), &" + item.function + ">::Describe(" +
               Quoted(item.name) + ", opkit_sim_names_" + std::to_string(i) + ", " +
               Quoted(item.entry == nullptr ? "aiv" : item.entry->core_type) + "),\n";
  }
  const std::string run_block = scan.has_operator_header ? "&::opkit_sim::RunBlock" : "&::opkit_sim::PlainRunBlock";
  return "\n# 1 \"<kernel table>\"\n" + names +
         "extern \"C\" __attribute__((visibility(\"default\"))) const ::opkit_sim::KernelTable *opkit_sim_kernel_table() {\n"
         "static const ::opkit_sim::KernelEntry entries[] = {\n" +
         entries + "# 2 \"<kernel table>\"\n" +
         "::opkit_sim::KernelEntry{}};\n"
         "static const ::opkit_sim::KernelTable table = {::opkit_sim::kAbiVersion, " +
         std::to_string(registered.size()) + ", entries, " + run_block + "};\nreturn &table;\n}\n";
}

// The files of a make rule, without the target.
std::vector<std::string> ParseDependencies(const std::string &rule) {
  std::vector<std::string> files;
  std::string file;
  size_t at = rule.find(':');
  for (at = at == std::string::npos ? rule.size() : at + 1; at <= rule.size(); ++at) {
    const char c = at < rule.size() ? rule[at] : '\n';
    if (c == '\\' && at + 1 < rule.size()) {
      const char next = rule[++at];
      if (next != '\n') file += next;
      continue;
    }
    if (c == '$' && at + 1 < rule.size() && rule[at + 1] == '$') ++at;
    if (c == ' ' || c == '\n' || c == '\t') {
      if (!file.empty() && file != "-") files.push_back(file);
      file.clear();
      continue;
    }
    file += c;
  }
  return files;
}

std::string ReadAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

std::string WorkingFolder() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) == nullptr ? "" : path;
}

std::string KeyOf(const Program &program, const Options &options) {
  Digest digest;
  digest.AddField("opkit rtc 2, kernel abi " + std::to_string(kAbiVersion) + ", " + kArchitecture);
  digest.AddField(program.source);
  digest.AddField(program.name);
  digest.AddField(HostCompiler().identity);
  digest.AddField(ToolkitHome());
  digest.AddField(CpuIdentity());
  for (const auto &arguments : {PreprocessArguments(options, ""), CompileArguments(options, ""), program.expressions}) {
    digest.AddField(std::to_string(arguments.size()));
    for (const std::string &argument : arguments) digest.AddField(argument);
  }
  return digest.Hex();
}

// Lists what was included; false if the result must not be cached.
bool DescribeIncludes(const std::string &rule, int64_t started_ns, CachedBinary *entry) {
  const std::string folder = WorkingFolder();
  for (std::string path : ParseDependencies(rule)) {
    if (path[0] != '/') {
      if (folder.empty()) return false;
      entry->folder = folder;
      path = folder + "/" + path;
    }
    Include include;
    if (!DescribeInclude(path, started_ns, &include)) return false;
    entry->includes.push_back(std::move(include));
  }
  return true;
}

// The folders of the options that are searched for includes, in their order, as the compiler writes them before a file's name.
std::vector<std::string> SearchFolders(const Options &options) {
  std::vector<std::string> plain;
  std::vector<std::string> system;
  for (size_t i = 0; i < options.forwarded.size(); ++i) {
    const std::string &option = options.forwarded[i];
    const bool is_system = option == "-isystem";
    if (!is_system && !StartsWith(option, "-I")) continue;
    std::string folder = is_system || option == "-I" ? options.forwarded[++i] : option.substr(2);
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    (is_system ? system : plain).push_back(folder);
  }
  plain.insert(plain.end(), system.begin(), system.end());
  const std::string include = ToolkitHome() + "/include";
  plain.insert(plain.end(), {include, include + "/ascendc"});
  return plain;
}

// Lists where what was included would have been found first, had it been there; false if the result must not be cached.
bool DescribeAbsent(const Options &options, CachedBinary *entry) {
  std::vector<std::string> folders = SearchFolders(options);
  for (std::string &folder : folders) {
    if (folder[0] == '/') continue;
    entry->folder = WorkingFolder();
    if (entry->folder.empty()) return false;
    while (StartsWith(folder, "./")) folder.erase(0, 2);
    folder = folder == "." || folder.empty() ? entry->folder : entry->folder + "/" + folder;
  }
  std::set<std::string> absent;
  for (const Include &include : entry->includes) {
    for (size_t i = 1; i < folders.size(); ++i) {
      if (!StartsWith(include.path, (folders[i] + "/").c_str())) continue;
      const std::string name = include.path.substr(folders[i].size());
      for (size_t earlier = 0; earlier < i; ++earlier) {
        if (access((folders[earlier] + name).c_str(), F_OK) != 0) absent.insert(folders[earlier] + name);
      }
    }
  }
  entry->absent.assign(absent.begin(), absent.end());
  return true;
}

aclError Compile(Program &program, const Options &options) {
  if (HostCompiler().path.empty()) {
    program.log = HostCompiler().problem + "\n";
    return Refuse(kFailure, "aclrtcCompileProg: " + HostCompiler().problem);
  }
  const bool is_cacheable = program.source.find("__DATE__") == std::string::npos && program.source.find("__TIME") == std::string::npos;
  const std::string key = is_cacheable ? KeyOf(program, options) : "";
  CachedBinary entry;
  if (is_cacheable && LoadFromCache(key, WorkingFolder(), &entry)) {
    program.binary = std::move(entry.binary);
    program.log = std::move(entry.log);
    return ACL_SUCCESS;
  }
  const ScratchFolder scratch;
  if (!scratch.IsMade()) {
    program.log = scratch.Problem() + "\n";
    return Refuse(kFailure, "aclrtcCompileProg: " + scratch.Problem());
  }
  entry.compiled_ns = WallClockNs();
  const std::string text = "#line 1 " + Quoted(program.name) + "\n" + program.source + "\n";
  const CompileResult preprocessed = RunCompiler(PreprocessArguments(options, scratch.File("rule")), text);
  if (!preprocessed.is_started) {
    program.log = preprocessed.errors + "\n";
    return Refuse(kFailure, "aclrtcCompileProg: " + preprocessed.errors);
  }
  program.log = ReadableLog(preprocessed.errors, program.source, program.name);
  if (preprocessed.status != 0)
    return Refuse(kCompilation, "aclrtcCompileProg: compilation of " + program.name + " failed:\n" + program.log);
  const Scan scan = ScanEntries(preprocessed.output);
  const CompileResult compiled =
      RunCompiler(CompileArguments(options, scratch.File("kernel.so")), scan.text + RegistrationText(scan, program.expressions));
  program.log += ReadableLog(compiled.errors, program.source, program.name);
  if (compiled.status != 0) {
    const bool is_link =
        compiled.errors.find("ld returned") != std::string::npos || compiled.errors.find("linker command failed") != std::string::npos;
    return Refuse(is_link ? kLinking : kCompilation, "aclrtcCompileProg: " + std::string(is_link ? "linking" : "compilation") + " of " +
                                                         program.name + " failed:\n" + program.log);
  }
  program.binary = ReadAll(scratch.File("kernel.so"));
  if (program.binary.empty()) {
    program.log += HostCompiler().path + ": left no binary\n";
    return Refuse(kCompilation, "aclrtcCompileProg: compilation of " + program.name + " failed:\n" + program.log);
  }
  if (is_cacheable && DescribeIncludes(ReadAll(scratch.File("rule")), entry.compiled_ns, &entry) && DescribeAbsent(options, &entry)) {
    entry.binary = program.binary;
    entry.log = program.log;
    StoreInCache(key, entry);
  }
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace opkit_sim::rtc

using namespace opkit_sim::rtc;

extern "C" {

aclError aclrtcCreateProg(aclrtcProg *prog, const char *src, const char *name, int numHeaders, const char **headers,
                          const char **includeNames) {
  if (prog == nullptr) return Refuse(kInvalidProg, "aclrtcCreateProg: prog must not be null");
  *prog = nullptr;
  if (src == nullptr) return Refuse(kInvalidInput, "aclrtcCreateProg: src must not be null");
  if (numHeaders != 0 || headers != nullptr || includeNames != nullptr) {
    return Refuse(kInvalidInput, "aclrtcCreateProg: headers aren't supported: numHeaders must be 0, headers and includeNames null");
  }
  auto made = std::make_shared<Program>();
  made->source = src;
  made->name = name == nullptr || *name == '\0' ? kDefaultName : name;
  Programs &programs = Live();
  const std::lock_guard<std::mutex> lock(programs.mutex);
  *prog = made.get();
  programs.live[made.get()] = std::move(made);
  return ACL_SUCCESS;
}

aclError aclrtcDestroyProg(aclrtcProg *prog) {
  if (prog == nullptr || *prog == nullptr) return Refuse(kInvalidProg, "aclrtcDestroyProg: prog must not be null");
  Programs &programs = Live();
  const std::lock_guard<std::mutex> lock(programs.mutex);
  if (programs.live.erase(*prog) == 0) return Refuse(kInvalidProg, "aclrtcDestroyProg: not a live program");
  *prog = nullptr;
  return ACL_SUCCESS;
}

aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char **options) {
  const auto program = Find(prog);
  if (program == nullptr) return Refuse(kInvalidProg, "aclrtcCompileProg: not a live program");
  if (numOptions < 0 || (numOptions > 0 && options == nullptr)) {
    return Refuse(kInvalidInput,
                  "aclrtcCompileProg: numOptions is " + std::to_string(numOptions) + (options == nullptr ? " and options is null" : ""));
  }
  std::vector<std::string> given;
  for (int i = 0; i < numOptions; ++i) {
    if (options[i] == nullptr) return Refuse(kInvalidInput, "aclrtcCompileProg: option " + std::to_string(i) + " is null");
    given.emplace_back(options[i]);
  }
  const std::lock_guard<std::mutex> lock(program->mutex);
  Options parsed;
  const std::string problem = ParseOptions(given, &parsed);
  if (!problem.empty()) {
    program->log = "error: " + problem + "\n";
    return Refuse(kInvalidOption, "aclrtcCompileProg: " + problem);
  }
  program->is_compiled = true;
  program->is_good = false;
  program->binary.clear();
  const aclError code = Compile(*program, parsed);
  program->is_good = code == ACL_SUCCESS;
  return code;
}

aclError aclrtcGetBinDataSize(aclrtcProg prog, size_t *binDataSizeRet) {
  const auto program = Find(prog);
  if (program == nullptr) return Refuse(kInvalidProg, "aclrtcGetBinDataSize: not a live program");
  if (binDataSizeRet == nullptr) return Refuse(kInvalidInput, "aclrtcGetBinDataSize: the size must not be null");
  const std::lock_guard<std::mutex> lock(program->mutex);
  if (!program->is_good) return Refuse(kInvalidProg, "aclrtcGetBinDataSize: the program hasn't been compiled, or not successfully");
  *binDataSizeRet = program->binary.size();
  return ACL_SUCCESS;
}

aclError aclrtcGetBinData(aclrtcProg prog, char *binData) {
  const auto program = Find(prog);
  if (program == nullptr) return Refuse(kInvalidProg, "aclrtcGetBinData: not a live program");
  if (binData == nullptr) return Refuse(kInvalidInput, "aclrtcGetBinData: binData must not be null");
  const std::lock_guard<std::mutex> lock(program->mutex);
  if (!program->is_good) return Refuse(kInvalidProg, "aclrtcGetBinData: the program hasn't been compiled, or not successfully");
  std::memcpy(binData, program->binary.data(), program->binary.size());
  return ACL_SUCCESS;
}

aclError aclrtcAddNameExpr(aclrtcProg prog, const char *nameExpr) {
  const auto program = Find(prog);
  if (program == nullptr) return Refuse(kInvalidProg, "aclrtcAddNameExpr: not a live program");
  if (nameExpr == nullptr || *nameExpr == '\0') return Refuse(kInvalidInput, "aclrtcAddNameExpr: nameExpr must not be null or empty");
  const std::lock_guard<std::mutex> lock(program->mutex);
  if (program->is_compiled)
    return Refuse(kNameExprAfterCompilation, "aclrtcAddNameExpr: '" + std::string(nameExpr) + "' comes after compilation");
  auto &expressions = program->expressions;
  if (std::find(expressions.begin(), expressions.end(), nameExpr) == expressions.end()) expressions.emplace_back(nameExpr);
  return ACL_SUCCESS;
}

aclError aclrtcGetLoweredName(aclrtcProg prog, const char *nameExpr, const char **loweredName) {
  const auto program = Find(prog);
  if (program == nullptr) return Refuse(kInvalidProg, "aclrtcGetLoweredName: not a live program");
  if (nameExpr == nullptr || loweredName == nullptr) return Refuse(kInvalidInput, "aclrtcGetLoweredName: arguments must not be null");
  const std::lock_guard<std::mutex> lock(program->mutex);
  if (!program->is_good)
    return Refuse(kLoweredNameBeforeCompilation, "aclrtcGetLoweredName: the program hasn't been compiled, or not successfully");
  const auto &expressions = program->expressions;
  const auto found = std::find(expressions.begin(), expressions.end(), nameExpr);
  if (found == expressions.end())
    return Refuse(kNameExprNotValid, "aclrtcGetLoweredName: '" + std::string(nameExpr) + "' was not added by aclrtcAddNameExpr");
  *loweredName = found->c_str();
  return ACL_SUCCESS;
}

aclError aclrtcGetCompileLogSize(aclrtcProg prog, size_t *logSizeRet) {
  const auto program = Find(prog);
  if (program == nullptr) return Refuse(kInvalidProg, "aclrtcGetCompileLogSize: not a live program");
  if (logSizeRet == nullptr) return Refuse(kInvalidInput, "aclrtcGetCompileLogSize: the size must not be null");
  const std::lock_guard<std::mutex> lock(program->mutex);
  *logSizeRet = program->log.size() + 1;
  return ACL_SUCCESS;
}

aclError aclrtcGetCompileLog(aclrtcProg prog, char *log) {
  const auto program = Find(prog);
  if (program == nullptr) return Refuse(kInvalidProg, "aclrtcGetCompileLog: not a live program");
  if (log == nullptr) return Refuse(kInvalidInput, "aclrtcGetCompileLog: log must not be null");
  const std::lock_guard<std::mutex> lock(program->mutex);
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return ACL_SUCCESS;
}

}  // extern "C"
