#include "metadef/report.h"

#include <cstdarg>
#include <cstdio>

namespace opkit_sim {
namespace {

void Print(const char *level, const char *format, va_list arguments) {
  char text[2048];
  (void)std::vsnprintf(text, sizeof(text), format, arguments);
  // One call, so that lines of two threads don't mix.
  (void)std::fprintf(stderr, "[%s] GE: %s\n", level, text);
}

}  // namespace

void ReportWarning(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Print("WARNING", format, arguments);
  va_end(arguments);
}

void ReportError(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Print("ERROR", format, arguments);
  va_end(arguments);
}

}  // namespace opkit_sim
