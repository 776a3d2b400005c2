// One message for a kernel that faults: which kernel, block and tensor or null argument, before the process dies as it would have.
#ifndef OPKIT_SIM_SRC_ACL_CRASH_REPORT_H_
#define OPKIT_SIM_SRC_ACL_CRASH_REPORT_H_

#include "opkit_sim/kernel_abi.h"

namespace opkit_sim::rt {

// What the calling thread runs; `block` is null between launches. The handler reads through the pointers.
struct RunningBlock {
  const BlockEnv *block = nullptr;
  const KernelEntry *entry = nullptr;
  const uint8_t *args = nullptr;
};

void SetRunningBlock(const RunningBlock &running);

// Writes which addresses among the arguments are null, as a sentence goes on behind a colon; allocates nothing.
void DescribeNullArguments(char *text, size_t bytes, const KernelEntry &entry, const uint8_t *args);

// Installs the handler for SIGSEGV and SIGBUS, once.
void WatchForFaults();

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_CRASH_REPORT_H_
