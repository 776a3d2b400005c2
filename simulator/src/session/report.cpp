#include "session/report.h"

#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>

namespace opkit_sim::report {
namespace {
struct Messages {
  std::string errors;
  std::string warnings;
};

// A program that fails in a loop and never asks why keeps the last of its messages.
constexpr size_t kKeptBytes = 64 * 1024;

void Keep(std::string &messages, const std::string &line) {
  messages += line;
  if (messages.size() > kKeptBytes) {
    messages.erase(0, messages.find('\n', messages.size() - kKeptBytes) + 1);
  }
}

Messages &OfThread() {
  thread_local Messages messages;
  return messages;
}

std::string Formatted(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  (void)std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

ge::AscendString Take(std::string &messages) {
  const std::string taken = std::exchange(messages, std::string());
  return ge::AscendString(taken.c_str());
}
}  // namespace

void Error(const char *code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string line = std::string(code) + ": " + Formatted(format, arguments) + "\n";
  va_end(arguments);
  // One call, so that lines of two threads don't mix.
  std::fputs(("[ERROR] GE " + line).c_str(), stderr);
  Keep(OfThread().errors, line);
}

void Warn(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string line = Formatted(format, arguments) + "\n";
  va_end(arguments);
  std::fputs(("[WARNING] GE: " + line).c_str(), stderr);
  Keep(OfThread().warnings, line);
}

ge::AscendString TakeErrors() { return Take(OfThread().errors); }
ge::AscendString TakeWarnings() { return Take(OfThread().warnings); }
}  // namespace opkit_sim::report
