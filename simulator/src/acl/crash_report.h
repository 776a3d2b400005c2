// One message for a kernel that faults: which kernel, block and tensor, before the process dies as it would have.
#ifndef OPKIT_SIM_SRC_ACL_CRASH_REPORT_H_
#define OPKIT_SIM_SRC_ACL_CRASH_REPORT_H_

#include "opkit_sim/kernel_abi.h"

namespace opkit_sim::rt {

// The block that the calling thread runs; null between launches. The handler reads through the pointer.
void SetRunningBlock(const BlockEnv *block);

// Installs the handler for SIGSEGV and SIGBUS, once.
void WatchForFaults();

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_CRASH_REPORT_H_
