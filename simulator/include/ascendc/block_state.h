// The state of the block that this thread runs: its buffers, events, mask register and atomic mode, and the way a violated rule is
// reported.
//
// Synchronisation is checked with one counter per pipe: an instruction stamps the buffer that it writes with its pipe's count, a flag (or
// EnQue) keeps the count at which it was set, and the wait (or DeQue) raises the count that other pipes have seen. A stamp above it may be
// a race on a device: the last writes of each pipe are kept to tell whether they touched the same bytes.
#ifndef OPKIT_SIM_ASCENDC_BLOCK_STATE_H_
#define OPKIT_SIM_ASCENDC_BLOCK_STATE_H_

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "ascendc/enums.h"
#include "opkit_sim/kernel_abi.h"

#define OPKIT_SIM_COLD [[gnu::cold, gnu::noinline]]
#define OPKIT_SIM_HOT [[gnu::always_inline]] inline
#define OPKIT_SIM_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), false)

namespace opkit_sim::ascendc {

// Stable ids of the rules; each is one of the mistakes that a device punishes with a fault, a hang or a silently wrong result.
namespace rule {
constexpr char kGmOutOfBounds[] = "GM-OOB";      // error: past the allocation
constexpr char kGmSize[] = "GM-SIZE";            // warning: past the size given to SetGlobalBuffer
constexpr char kGmAlign[] = "GM-ALIGN";          // error: GM address that is no multiple of the element
constexpr char kUbAlign[] = "UB-ALIGN";          // error: operand not at a multiple of 32 bytes
constexpr char kUbOutOfBounds[] = "UB-OOB";      // error on a write or past the UB, warning on a read past the buffer
constexpr char kUbSize[] = "UB-SIZE";            // error: InitBuffer over the UB's size
constexpr char kUbEmpty[] = "UB-EMPTY";          // error: a LocalTensor that no buffer stands behind
constexpr char kCopyTruncated[] = "COPY-32B";    // error: DataCopy whose bytes are no multiple of 32
constexpr char kCopyParam[] = "COPY-PARAM";      // error: a copy parameter out of range
constexpr char kCount[] = "COUNT";               // error: negative or too large element count
constexpr char kMask[] = "MASK";                 // error: mask out of range
constexpr char kRepeat[] = "REPEAT";             // error: repeat times or strides out of range
constexpr char kQueueFull[] = "QUE-ALLOC";       // error: AllocTensor would wait for ever
constexpr char kQueueEmpty[] = "QUE-EMPTY";      // error: DeQue would wait for ever
constexpr char kQueueDepth[] = "QUE-DEPTH";      // error: EnQue over the depth
constexpr char kQueueState[] = "QUE-STATE";      // error: EnQue or FreeTensor of a tensor in the wrong state
constexpr char kQueueUse[] = "QUE-USE";          // error: tensor used after FreeTensor; warning after EnQue
constexpr char kQueueLeak[] = "QUE-LEAK";        // warning: tensor not freed at the end of the kernel
constexpr char kQueueLimit[] = "QUE-LIMIT";      // error: too many buffers, or too many in use at one position
constexpr char kPipeTwice[] = "PIPE-TWICE";      // error: two TPipe objects alive
constexpr char kPipeMissing[] = "PIPE-MISSING";  // error: GetTPipePtr without a TPipe
constexpr char kEvent[] = "EVENT";               // error: set and wait that do not pair
constexpr char kSync[] = "SYNC";                 // warning: a pipe uses what another wrote, without a wait between
constexpr char kAtomic[] = "ATOMIC";             // warning: atomic mode left on
constexpr char kCastMode[] = "CAST-MODE";        // error: round mode that the pair of types lacks
constexpr char kCompareTail[] = "CMP-256B";      // warning: Compare whose bytes are no multiple of 256
constexpr char kReduceTemp[] = "REDUCE-TMP";     // warning: work tensor smaller than the instruction needs
constexpr char kListTensor[] = "LIST-TENSOR";    // error: words that are no list of tensors, or what it hasn't
constexpr char kAssert[] = "ASSERT";             // error: the kernel's own assertion
}  // namespace rule

// A position in the kernel's source; every API function takes one as its last, defaulted parameter.
// Trivial, for hundreds of them lie in a block's state.
struct Where {
  const char *file;
  uint32_t line;
  static constexpr Where Here(const char *file = __builtin_FILE(), uint32_t line = __builtin_LINE()) { return Where{file, line}; }
};

// The first two may not be touched by an instruction; kCalc buffers (TBuf) have no queue.
enum class BufferState : uint8_t { kFree, kEnqueued, kOccupied, kDequeued, kCalc };

struct Buffer {
  uint32_t begin;
  uint32_t end;
  BufferState state;
  ::AscendC::TPosition position;
  uint16_t queue_first;  // first buffer of the queue it belongs to
  uint32_t written_by_mte2;
  uint32_t written_by_v;
  uint32_t mte2_at_enque;
  uint32_t v_at_enque;
  Where initialised;
  Where allocated;
};

// Bytes of the UB that a pipe's instruction number `count` wrote.
struct WriteRecord {
  uint32_t begin;
  uint32_t end;
};

struct EventFlag {
  bool is_set;
  bool is_taken;   // by AllocEventID
  uint32_t count;  // of the source pipe, when set
  Where set_at;
};

enum class Atomic : uint8_t { kNone, kAdd, kMax, kMin };
enum class AtomicType : uint8_t { kOther, kInt8, kInt16, kInt32, kHalf, kBfloat16, kFloat };

// Thrown to leave a kernel after an error; caught by RunBlock.
struct BlockAbandoned {};

constexpr uint16_t kMaxBuffers = 64;
constexpr int kEventIds = 8;
constexpr int kMaxFindingsKept = 32;
constexpr uint32_t kWritesKept = 32;
constexpr uint16_t kWholeUb = 0;  // buffer of static-style tensors

struct BlockState {
  const LaunchEnv *launch;
  uint8_t *ub;
  uint32_t block_idx;
  uint32_t ub_used;
  uint16_t buffer_count;  // with the whole UB as number 0
  bool is_counter_mode;
  bool has_events;
  Atomic atomic;
  AtomicType atomic_type;
  uint8_t finding_count;
  uint8_t in_use[static_cast<int>(::AscendC::TPosition::MAX)];
  uint64_t mask[2];
  uint32_t mte2_count;
  uint32_t mte2_seen;
  uint32_t v_count;
  uint32_t v_seen;
  WriteRecord mte2_writes[kWritesKept];
  WriteRecord v_writes[kWritesKept];
  float deq_scale;
  uint64_t accumulator;
  bool has_error;
  Where atomic_set_at;
  Where pipe_at;
  void *pipe;
  Buffer buffers[kMaxBuffers + 1];
  EventFlag events[static_cast<int>(::AscendC::HardEvent::MAX)][kEventIds];
  struct Reported {
    const char *rule;
    uint32_t line;
  } reported[kMaxFindingsKept];
};

// Hidden, so that two loaded kernels never share it.
[[gnu::visibility("hidden")]] inline thread_local BlockState *current_block = nullptr;

// A constant for the kernel that runs: one look-up per function is enough, where a thread-local variable of a loaded library costs a call
// each time.
[[gnu::const, gnu::noinline]] inline BlockState &Block() { return *current_block; }

// Reports a finding, a warning once per block and source line. Does not leave the kernel.
[[gnu::format(printf, 5, 0)]] OPKIT_SIM_COLD inline Severity ReportV(BlockState &block, Severity severity, const char *rule, Where where,
                                                                     const char *format, va_list arguments) {
  if (block.launch->strict) severity = Severity::kError;
  // An error is never a repetition: it ends the block, and what ended it must be told even where a warning stood on the same line.
  for (int i = 0; severity == Severity::kWarning && i < block.finding_count; ++i) {
    if (block.reported[i].rule == rule && block.reported[i].line == where.line) return severity;
  }
  if (block.finding_count < kMaxFindingsKept) block.reported[block.finding_count++] = {rule, where.line};
  char message[2048];
  std::vsnprintf(message, sizeof message, format, arguments);
  const Finding finding{severity, rule, message, where.file, where.line};
  block.launch->report(block.launch->sink, block.block_idx, finding);
  if (severity == Severity::kError) block.has_error = true;
  return severity;
}

[[gnu::format(printf, 4, 5)]] OPKIT_SIM_COLD inline void Warn(BlockState &block, const char *rule, Where where, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const Severity severity = ReportV(block, Severity::kWarning, rule, where, format, arguments);
  va_end(arguments);
  if (severity == Severity::kError) throw BlockAbandoned{};
}

[[noreturn, gnu::format(printf, 4, 5)]] OPKIT_SIM_COLD inline void Fail(BlockState &block, const char *rule, Where where,
                                                                        const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  ReportV(block, Severity::kError, rule, where, format, arguments);
  va_end(arguments);
  throw BlockAbandoned{};
}

inline const char *NameOf(::AscendC::TPosition position) {
  switch (position) {
    case ::AscendC::TPosition::VECIN:
      return "VECIN";
    case ::AscendC::TPosition::VECOUT:
      return "VECOUT";
    case ::AscendC::TPosition::VECCALC:
      return "VECCALC";
    default:
      return "UB";
  }
}

inline const char *NameOf(::AscendC::HardEvent event) {
  constexpr const char *kNames[] = {"MTE2_MTE1", "MTE1_MTE2", "MTE1_M",  "M_MTE1",    "MTE2_V",    "V_MTE2", "MTE3_V", "V_MTE3",
                                    "M_V",       "V_M",       "V_V",     "MTE3_MTE1", "MTE1_MTE3", "MTE1_V", "MTE2_M", "M_MTE2",
                                    "V_MTE1",    "M_FIX",     "FIX_M",   "MTE3_MTE2", "MTE2_MTE3", "S_V",    "V_S",    "S_MTE2",
                                    "MTE2_S",    "S_MTE3",    "MTE3_S",  "MTE2_FIX",  "FIX_MTE2",  "FIX_S",  "M_S",    "FIX_MTE3",
                                    "MTE1_FIX",  "FIX_MTE1",  "FIX_FIX", "FIX_V",     "V_FIX"};
  static_assert(sizeof kNames / sizeof kNames[0] == static_cast<size_t>(::AscendC::HardEvent::MAX));
  return kNames[static_cast<int>(event)];
}

}  // namespace opkit_sim::ascendc

#endif  // OPKIT_SIM_ASCENDC_BLOCK_STATE_H_
