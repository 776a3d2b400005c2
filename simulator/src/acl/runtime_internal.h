// The runtime's door for the graph executor: capture of launches, their replay, labelled copies and the ledger.
//
// Exported from libacl_rt.so as C++ symbols without std::string, so that the libraries above it need nothing but this header.
#ifndef OPKIT_SIM_SRC_ACL_RUNTIME_INTERNAL_H_
#define OPKIT_SIM_SRC_ACL_RUNTIME_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "acl/acl_rt.h"

namespace opkit_sim::rt {

// What a capture recorded, in order. Immutable once EndCapture returned it; replays share it.
class TaskList;

// How a task appears in the task records and in error texts. The strings must stay valid until the task has run (synchronize first);
// null means "". `kind` null means the runtime's own word for the task (KERNEL, MEMCPY_ASYNC, ARGS_H2D, MEMSET).
struct RecordTag {
  const char *kind = nullptr;
  const char *name = nullptr;
  const char *op = nullptr;
  uint32_t graph_id = 0;
  uint64_t run = 0;
};

// --- capture
// -------------------------------------------------------------------------------------------------------------------------------

// From here on the calling thread's aclrtLaunchKernelV2, aclrtLaunchKernelWithHostArgs, aclrtMemcpyAsync and aclrtMemsetAsync on `stream`
// are checked as usual but recorded instead of enqueued; other threads and other streams are unaffected. A captured LaunchKernelV2 keeps
// the pointer to its args (read at replay), WithHostArgs keeps a copy. Waiting for a captured stream is refused: nothing has run yet.
// ACL_ERROR_RT_PARAM_INVALID if the thread captures already. `stream` null is the default stream.
aclError BeginCapture(aclrtStream stream);

// Ends the calling thread's capture. `*tasks` is never null on success; it may be empty.
aclError EndCapture(aclrtStream stream, std::shared_ptr<const TaskList> *tasks);

size_t TaskCount(const TaskList &tasks);
size_t KernelCount(const TaskList &tasks);

// Enqueues every task of the list in order. The list is kept alive until the replay has run. `tag.kind` is ignored; `tag.name` and `tag.op`
// label the kernels in records and in findings (name: the node's name). Costs one queue slot and no allocation.
aclError EnqueueReplay(aclrtStream stream, const std::shared_ptr<const TaskList> &tasks, const RecordTag &tag);

// A copy that shows in the records under the tag. The addresses are checked against the ledger now: what `kind` calls device memory must be
// live, and nothing else may be.
aclError EnqueueCopy(aclrtStream stream, void *dst, const void *src, size_t bytes, aclrtMemcpyKind kind, const RecordTag &tag);

// Copies `bytes` from `host` now and writes them to device memory `dst` in stream order (kind ARGS_H2D).
aclError EnqueueArgsUpdate(aclrtStream stream, void *dst, const void *host, size_t bytes, const RecordTag &tag);

// --- memory
// --------------------------------------------------------------------------------------------------------------------------------

// Who an allocation is counted for: what the program asked for by aclrtMalloc, or what the graph executor keeps for itself.
enum class Owner : uint32_t { kUser = 0, kGraph = 1 };

struct Allocation {
  void *base = nullptr;
  size_t bytes = 0;  // as requested, without rounding
  Owner owner = Owner::kUser;
};

// Device memory for the executor itself; freed by DeviceFree. Needs a current device.
aclError DeviceMalloc(size_t bytes, Owner owner, void **ptr);
aclError DeviceFree(void *ptr);

// The live allocation that contains `ptr`; false if there is none.
bool FindAllocation(const void *ptr, Allocation *found);

size_t OutstandingAllocations(Owner owner);
size_t OutstandingBytes(Owner owner);

// --- state and text
// ------------------------------------------------------------------------------------------------------------------------

// Sets the calling thread's text for aclGetRecentErrMsg.
void SetRecentError(const char *text);

// Blocks that have been started since the process began, over all streams; for tests that count launches.
uint64_t KernelLaunchCount();

// The device that is current on the calling thread, -1 if none is; unlike aclrtGetDevice it leaves no text.
int32_t CurrentDevice();

// The handle of the current context's default stream, which any thread may use; null, without a text, if no context is current.
aclrtStream DefaultStream();

// Waits until the stream has run what it was given. A failure stays with the stream, for the program's own synchronization. Does nothing
// for a stream that is gone, and from the stream's own host function.
void Drain(aclrtStream stream);

// Appends the task records collected so far to the file named by OPKIT_SIM_TASK_RECORDS, if it is set; also done at process exit.
void FlushTaskRecords();
bool AreTasksRecorded();

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_RUNTIME_INTERNAL_H_
