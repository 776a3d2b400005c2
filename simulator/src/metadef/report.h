// Where graph and session say what went wrong beside a status code: one line a message on standard error, as a device's log would have it.
#ifndef OPKIT_SIM_SRC_METADEF_REPORT_H_
#define OPKIT_SIM_SRC_METADEF_REPORT_H_

namespace opkit_sim {

// "[WARNING] GE: <text>" and "[ERROR] GE: <text>".
__attribute__((format(printf, 1, 2))) void ReportWarning(const char *format, ...);
__attribute__((format(printf, 1, 2))) void ReportError(const char *format, ...);

}  // namespace opkit_sim

#endif  // OPKIT_SIM_SRC_METADEF_REPORT_H_
