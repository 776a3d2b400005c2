// A record of every task that ran, for the analysis of where time went; nothing is kept or timed unless OPKIT_SIM_TASK_RECORDS names a
// file.
#ifndef OPKIT_SIM_SRC_ACL_TASK_RECORDS_H_
#define OPKIT_SIM_SRC_ACL_TASK_RECORDS_H_

#include <cstdint>
#include <string>

#include "acl/runtime_internal.h"

namespace opkit_sim::rt {

struct TaskRecord {
  const char *kind;
  std::string name;
  std::string op;
  std::string kernel;
  uint32_t graph_id;
  uint64_t run;
  int32_t stream;  // -1: no stream (a synchronous call)
  uint64_t enqueue_ns;
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t bytes;
  uint32_t blocks;
};

// The time now if records are kept, else 0.
uint64_t EnqueueTime();

// A record that ends now.
TaskRecord RecordOf(const char *kind, const RecordTag &tag, int32_t stream, uint64_t enqueue_ns, uint64_t start_ns, uint64_t bytes,
                    uint32_t blocks);
void Record(TaskRecord record);

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_TASK_RECORDS_H_
