// Finds the kernel entries in a preprocessed source, so that registration code can be appended to it.
//
// Not a C++ parser: it follows namespaces, extern "C" blocks and templates far enough to name what carries the entry mark. What it gets
// wrong, the compiler then refuses at the entry's own line.
#ifndef OPKIT_SIM_SRC_RTC_ENTRY_SCAN_H_
#define OPKIT_SIM_SRC_RTC_ENTRY_SCAN_H_

#include <string>
#include <vector>

namespace opkit_sim::rtc {

// What __global__ expands to while the source is preprocessed.
constexpr char kEntryMark[] = "__opkit_global__";

struct Entry {
  std::string name;                     // qualified, without leading "::"
  std::vector<std::string> parameters;  // names; "arg<i>" where the source gives none
  bool is_template = false;
  std::string file;
  unsigned line = 0;
  std::string core_type = "aiv";
};

struct Scan {
  std::vector<Entry> entries;        // definitions, in order
  std::string text;                  // the source without the marks
  bool has_operator_header = false;  // includes kernel_operator.h: blocks run under its checks
};

Scan ScanEntries(std::string preprocessed);

}  // namespace opkit_sim::rtc

#endif  // OPKIT_SIM_SRC_RTC_ENTRY_SCAN_H_
