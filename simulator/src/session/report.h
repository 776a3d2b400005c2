// Failures of the graph side: one "[ERROR]" line with a searchable code on stderr, kept for GEGetErrorMsgV2. Its code is libge_common.so.
#ifndef OPKIT_SIM_SRC_SESSION_REPORT_H_
#define OPKIT_SIM_SRC_SESSION_REPORT_H_

#include "graph/ascend_string.h"

namespace opkit_sim::report {
/// printf-like, without the line end. `code` is GE's: E10062 for a wrong call, E13025 for a wrong tensor, E19999 for the rest.
__attribute__((format(printf, 2, 3))) void Error(const char *code, const char *format, ...);
__attribute__((format(printf, 1, 2))) void Warn(const char *format, ...);

/// What was reported on this thread since the last call, oldest first, a line each; "" if nothing.
ge::AscendString TakeErrors();
ge::AscendString TakeWarnings();
}  // namespace opkit_sim::report

#endif  // OPKIT_SIM_SRC_SESSION_REPORT_H_
