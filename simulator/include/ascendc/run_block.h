// Runs a kernel for one block: gives the thread its block state, calls the entry, and reports what the kernel left behind.
#ifndef OPKIT_SIM_ASCENDC_RUN_BLOCK_H_
#define OPKIT_SIM_ASCENDC_RUN_BLOCK_H_

#include "ascendc/data_copy.h"
#include "ascendc/events.h"
#include "ascendc/vector_loop.h"

namespace opkit_sim::ascendc {

// Members that are set before they are read (buffers, events, findings) stay as they are: this runs once per block.
OPKIT_SIM_HOT void BeginBlock(BlockState &block, const BlockEnv &env) {
  block.launch = env.launch;
  block.ub = env.ub;
  block.block_idx = env.block_idx;
  block.ub_used = 0;
  block.buffer_count = 1;
  block.has_events = false;
  block.atomic = Atomic::kNone;
  block.finding_count = 0;
  for (uint8_t &in_use : block.in_use) in_use = 0;
  ResetMaskRegister(block);
  block.mte2_count = block.mte2_seen = 0;
  block.v_count = block.v_seen = 0;
  block.deq_scale = 1.0f;
  block.accumulator = 0;
  block.has_error = false;
  block.pipe = nullptr;
  Buffer &whole = block.buffers[kWholeUb];
  whole.begin = 0;
  whole.end = env.launch->ub_bytes;
  whole.state = BufferState::kCalc;
  whole.position = ::AscendC::TPosition::VECCALC;
  whole.queue_first = 0;
  whole.written_by_mte2 = 0;
  whole.written_by_v = 0;
  whole.initialised = Where{"", 0};
}

OPKIT_SIM_COLD inline void ReportOpenEvents(BlockState &block) {
  for (int event = 0; event < static_cast<int>(::AscendC::HardEvent::MAX); ++event) {
    for (int id = 0; id < kEventIds; ++id) {
      const EventFlag &flag = block.events[event][id];
      if (flag.is_set) {
        Fail(block, rule::kEvent, flag.set_at,
             "SetFlag<%s>: id %d was never waited for; the next kernel on this core would run too early or hang",
             NameOf(static_cast<::AscendC::HardEvent>(event)), id);
      }
    }
  }
}

OPKIT_SIM_HOT void EndBlock(BlockState &block) {
  ReportLeaks(block);
  if (OPKIT_SIM_UNLIKELY(block.has_events)) ReportOpenEvents(block);
  if (OPKIT_SIM_UNLIKELY(block.atomic != Atomic::kNone)) {
    Warn(block, rule::kAtomic, block.atomic_set_at,
         "the atomic mode set here was still on at the end of the kernel; SetAtomicNone missing");
  }
}

inline bool RunBlock(const KernelEntry &entry, const uint8_t *args, const BlockEnv &env) {
  BlockState block;
  BeginBlock(block, env);
  BlockState *const outer = current_block;
  current_block = &block;
  try {
    entry.call(args);
    EndBlock(block);
  } catch (const BlockAbandoned &) {
    block.has_error = true;
  }
  current_block = outer;
  return !block.has_error;
}

}  // namespace opkit_sim::ascendc

namespace opkit_sim {

// The name that RTC puts into the kernel table.
using ascendc::RunBlock;

}  // namespace opkit_sim

#endif  // OPKIT_SIM_ASCENDC_RUN_BLOCK_H_
