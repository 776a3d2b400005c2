// Turns a compiler's log into one that leads with the kernel author's own lines.
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rtc/compiler.h"

namespace opkit_sim::rtc {
namespace {

struct Place {
  std::string file;
  unsigned line = 0;
};

// The text of every line under the name that the compiler gives it: #line directives rename and renumber.
std::map<std::pair<std::string, unsigned>, std::string> NamedLines(const std::string &source, const std::string &program_name) {
  std::map<std::pair<std::string, unsigned>, std::string> lines;
  std::string file = program_name;
  unsigned number = 1;
  std::istringstream stream(source);
  for (std::string line; std::getline(stream, line); ++number) {
    unsigned given = 0;
    char name[512] = "";
    const int found = std::sscanf(line.c_str(), " # line %u \"%511[^\"]\"", &given, name);
    if (found >= 1) {
      number = given - 1;
      if (found == 2) file = name;
      continue;
    }
    lines[{file, number}] = line;
  }
  return lines;
}

// `file:line: rest`, or no place.
bool ParsePlace(const std::string &text, Place *place, std::string *rest) {
  for (size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1)) {
    size_t end = colon + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    // More digits than a line number has are part of something else.
    constexpr size_t kMaxDigits = 9;
    if (end == colon + 1 || end - colon - 1 > kMaxDigits || end >= text.size() || (text[end] != ':' && text[end] != ',')) continue;
    place->file = text.substr(0, colon);
    place->line = static_cast<unsigned>(std::stoul(text.substr(colon + 1, end - colon - 1)));
    const size_t begin = text.find_first_not_of(' ', end + 1);
    *rest = begin == std::string::npos ? "" : text.substr(begin);
    return true;
  }
  return false;
}

bool IsInternal(const std::string &file) {
  return file.rfind(ToolkitHome() + "/", 0) == 0 || file.rfind("/usr/include/", 0) == 0 || file.rfind("/usr/lib/", 0) == 0 ||
         file.find("/include/ascendc/") != std::string::npos || file.find("/opkit_sim/") != std::string::npos || file[0] == '<';
}

// The place in a line of context: "In file included from a.asc:1,", "   from a.asc:2:", "a.asc:7:   required from here".
bool ContextPlace(const std::string &line, Place *place) {
  std::string rest;
  const size_t from = line.find("from ");
  const std::string text =
      line.rfind("In file included from ", 0) == 0 || (from != std::string::npos && line.find_first_not_of(' ') == from)
          ? line.substr(from + 5)
          : line;
  return ParsePlace(text, place, &rest);
}

}  // namespace

std::string ReadableLog(const std::string &log, const std::string &source, const std::string &program_name) {
  const auto lines = NamedLines(source, program_name);
  std::string readable;
  std::vector<std::string> context;
  const auto show_source = [&](const Place &place) {
    const auto found = lines.find({place.file, place.line});
    if (found != lines.end()) readable += "  " + std::to_string(place.line) + " | " + found->second + "\n";
  };
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    Place place;
    std::string rest;
    const bool has_place = ParsePlace(line, &place, &rest);
    const bool is_error = has_place && (rest.rfind("error: ", 0) == 0 || rest.rfind("fatal error: ", 0) == 0);
    const bool is_warning = has_place && rest.rfind("warning: ", 0) == 0;
    if (!is_error && !is_warning) {
      if (rest.rfind("note: ", 0) == 0) {
        readable += "  " + line + "\n";
      } else {
        context.push_back(line);
      }
      continue;
    }
    if (!IsInternal(place.file)) {
      readable += line + "\n";
      show_source(place);
      context.clear();
      continue;
    }
    // The innermost line of the user's own comes last in the context of a template, first in that of an include.
    Place own;
    bool has_own = false;
    for (const std::string &before : context) {
      Place candidate;
      if (ContextPlace(before, &candidate) && !IsInternal(candidate.file) &&
          (!has_own || before.find("required from") != std::string::npos)) {
        own = candidate;
        has_own = true;
      }
    }
    if (has_own) {
      readable += own.file + ":" + std::to_string(own.line) + ": " + rest + "\n";
      show_source(own);
    } else {
      readable += program_name + ": " + rest + "\n";
    }
    readable += "  found in " + place.file + ":" + std::to_string(place.line) + "\n";
    context.clear();
  }
  for (const std::string &rest : context) readable += rest + "\n";
  return readable;
}

}  // namespace opkit_sim::rtc
