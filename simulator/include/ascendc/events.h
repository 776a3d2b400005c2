// Flags and barriers between pipes. Blocks run one instruction after the other, so these order nothing; they are kept to tell a kernel what
// a device would hang on (a wait without a set) or race on (no wait at all).
#ifndef OPKIT_SIM_ASCENDC_EVENTS_H_
#define OPKIT_SIM_ASCENDC_EVENTS_H_

#include "ascendc/block_state.h"

namespace opkit_sim::ascendc {

enum class SourcePipe : uint8_t { kMte2, kVector, kOther };

constexpr SourcePipe SourceOf(::AscendC::HardEvent event) {
  using E = ::AscendC::HardEvent;
  switch (event) {
    case E::MTE2_MTE1:
    case E::MTE2_V:
    case E::MTE2_M:
    case E::MTE2_MTE3:
    case E::MTE2_S:
    case E::MTE2_FIX:
      return SourcePipe::kMte2;
    case E::V_MTE2:
    case E::V_MTE3:
    case E::V_M:
    case E::V_V:
    case E::V_MTE1:
    case E::V_S:
    case E::V_FIX:
      return SourcePipe::kVector;
    default:
      return SourcePipe::kOther;
  }
}

inline EventFlag &EventAt(BlockState &block, const char *api, ::AscendC::HardEvent event, int32_t id, Where where) {
  if (OPKIT_SIM_UNLIKELY(id < 0 || id >= kEventIds)) {
    Fail(block, rule::kEvent, where, "%s<%s>: event id %d is not in 0..%d", api, NameOf(event), id, kEventIds - 1);
  }
  if (!block.has_events) {
    std::memset(block.events, 0, sizeof block.events);
    block.has_events = true;
  }
  return block.events[static_cast<int>(event)][id];
}

inline void SetEvent(::AscendC::HardEvent event, int32_t id, Where where) {
  BlockState &block = Block();
  EventFlag &flag = EventAt(block, "SetFlag", event, id, where);
  if (OPKIT_SIM_UNLIKELY(flag.is_set)) {
    Fail(block, rule::kEvent, where, "SetFlag<%s>: id %d is set already, since line %u, and was not waited for", NameOf(event), id,
         flag.set_at.line);
  }
  flag.is_set = true;
  flag.set_at = where;
  const SourcePipe source = SourceOf(event);
  flag.count = source == SourcePipe::kMte2 ? block.mte2_count : block.v_count;
}

inline void WaitEvent(::AscendC::HardEvent event, int32_t id, Where where) {
  BlockState &block = Block();
  EventFlag &flag = EventAt(block, "WaitFlag", event, id, where);
  if (OPKIT_SIM_UNLIKELY(!flag.is_set)) {
    Fail(block, rule::kEvent, where, "WaitFlag<%s> would wait for ever: id %d was not set", NameOf(event), id);
  }
  flag.is_set = false;
  const SourcePipe source = SourceOf(event);
  if (source == SourcePipe::kMte2 && flag.count > block.mte2_seen) block.mte2_seen = flag.count;
  if (source == SourcePipe::kVector && flag.count > block.v_seen) block.v_seen = flag.count;
}

// Gives the lowest id that is neither owned nor set; owns it if `is_kept`.
inline ::AscendC::TEventID TakeEvent(::AscendC::HardEvent event, bool is_kept, Where where) {
  BlockState &block = Block();
  for (int id = 0; id < kEventIds; ++id) {
    EventFlag &flag = EventAt(block, "AllocEventID", event, id, where);
    if (flag.is_taken || flag.is_set) continue;
    flag.is_taken = is_kept;
    return static_cast<::AscendC::TEventID>(id);
  }
  Fail(block, rule::kEvent, where, "%s<%s>: all %d event ids are in use", is_kept ? "AllocEventID" : "FetchEventID", NameOf(event),
       kEventIds);
}

inline void ReleaseEvent(::AscendC::HardEvent event, int32_t id, Where where) {
  BlockState &block = Block();
  EventFlag &flag = EventAt(block, "ReleaseEventID", event, id, where);
  if (OPKIT_SIM_UNLIKELY(!flag.is_taken))
    Fail(block, rule::kEvent, where, "ReleaseEventID<%s>: id %d came from no AllocEventID", NameOf(event), id);
  flag.is_taken = false;
}

inline void Barrier(pipe_t pipe) {
  // A barrier of one pipe orders that pipe alone.
  if (pipe != PIPE_ALL) return;
  BlockState &block = Block();
  block.mte2_seen = block.mte2_count;
  block.v_seen = block.v_count;
}

OPKIT_SIM_COLD inline void ReportLeakedTensors(BlockState &block) {
  for (uint16_t i = 1; i < block.buffer_count; ++i) {
    const Buffer &buffer = block.buffers[i];
    if (buffer.state != BufferState::kFree && buffer.state != BufferState::kCalc) {
      Warn(block, rule::kQueueLeak, buffer.allocated,
           "the tensor allocated here, %u bytes of the %s queue of line %u, was never given to FreeTensor", buffer.end - buffer.begin,
           NameOf(buffer.position), buffer.initialised.line);
    }
  }
}

// What was allocated and never freed; the buffers are given back after it.
OPKIT_SIM_HOT void ReportLeaks(BlockState &block) {
  using Position = ::AscendC::TPosition;
  const auto in_use = [&](Position position) { return block.in_use[static_cast<int>(position)]; };
  if (OPKIT_SIM_UNLIKELY((in_use(Position::VECIN) | in_use(Position::VECOUT) | in_use(Position::VECCALC)) != 0)) ReportLeakedTensors(block);
}

constexpr ::AscendC::HardEvent EventBetween(pipe_t from, pipe_t to) {
  using E = ::AscendC::HardEvent;
  struct Pair {
    pipe_t from, to;
    E event;
  };
  constexpr Pair kPairs[] = {{PIPE_MTE2, PIPE_V, E::MTE2_V},
                             {PIPE_V, PIPE_MTE2, E::V_MTE2},
                             {PIPE_MTE3, PIPE_V, E::MTE3_V},
                             {PIPE_V, PIPE_MTE3, E::V_MTE3},
                             {PIPE_MTE3, PIPE_MTE2, E::MTE3_MTE2},
                             {PIPE_MTE2, PIPE_MTE3, E::MTE2_MTE3},
                             {PIPE_S, PIPE_V, E::S_V},
                             {PIPE_V, PIPE_S, E::V_S},
                             {PIPE_S, PIPE_MTE2, E::S_MTE2},
                             {PIPE_MTE2, PIPE_S, E::MTE2_S},
                             {PIPE_S, PIPE_MTE3, E::S_MTE3},
                             {PIPE_MTE3, PIPE_S, E::MTE3_S}};
  for (const Pair &pair : kPairs) {
    if (pair.from == from && pair.to == to) return pair.event;
  }
  return E::MAX;
}

inline ::AscendC::HardEvent RawEvent(const char *api, pipe_t from, pipe_t to, Where where) {
  const ::AscendC::HardEvent event = EventBetween(from, to);
  if (event == ::AscendC::HardEvent::MAX) {
    Fail(Block(), rule::kEvent, where, "%s: a vector core has no event between pipes %d and %d", api, static_cast<int>(from),
         static_cast<int>(to));
  }
  return event;
}

}  // namespace opkit_sim::ascendc

namespace AscendC {

template <HardEvent event>
inline void SetFlag(int32_t id, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::SetEvent(event, id, where);
}

template <HardEvent event>
inline void WaitFlag(int32_t id, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::WaitEvent(event, id, where);
}

template <pipe_t pipe>
inline void PipeBarrier() {
  static_assert(pipe != PIPE_S, "PIPE_S is no argument of PipeBarrier");
  opkit_sim::ascendc::Barrier(pipe);
}

}  // namespace AscendC

inline void pipe_barrier(pipe_t pipe) { opkit_sim::ascendc::Barrier(pipe); }

inline void set_flag(pipe_t from, pipe_t to, int32_t id, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::SetEvent(opkit_sim::ascendc::RawEvent("set_flag", from, to, where), id, where);
}

inline void wait_flag(pipe_t from, pipe_t to, int32_t id, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::WaitEvent(opkit_sim::ascendc::RawEvent("wait_flag", from, to, where), id, where);
}

#endif  // OPKIT_SIM_ASCENDC_EVENTS_H_
