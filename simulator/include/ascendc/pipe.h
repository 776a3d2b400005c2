// TPipe, the queues and TBuf: who owns which bytes of the UB, and the life cycle of a tensor (AllocTensor, EnQue, DeQue, FreeTensor).
#ifndef OPKIT_SIM_ASCENDC_PIPE_H_
#define OPKIT_SIM_ASCENDC_PIPE_H_

#include "ascendc/events.h"
#include "ascendc/tensor.h"

namespace opkit_sim::ascendc {

constexpr bool IsVectorPosition(::AscendC::TPosition position) {
  return position == ::AscendC::TPosition::VECIN || position == ::AscendC::TPosition::VECOUT || position == ::AscendC::TPosition::VECCALC;
}

// A device has this many events for each pair of pipes, and a queue holds one for every tensor in use.
constexpr uint8_t kMaxInUse = 8;

OPKIT_SIM_COLD [[noreturn]] inline void RejectUb(BlockState &block, uint64_t total, Where where) {
  char list[1400];
  int used = 0;
  list[0] = '\0';
  for (uint16_t i = 1; i < block.buffer_count && used < static_cast<int>(sizeof list) - 80;) {
    const Buffer &buffer = block.buffers[i];
    const bool is_queue = buffer.state != BufferState::kCalc;
    uint16_t number = 1;
    while (is_queue && i + number < block.buffer_count && block.buffers[i + number].queue_first == i) ++number;
    used += std::snprintf(list + used, sizeof list - static_cast<size_t>(used), "%s%s of line %u: %u x %u", used != 0 ? ", " : "",
                          is_queue ? NameOf(buffer.position) : "TBuf", buffer.initialised.line, static_cast<unsigned>(number),
                          buffer.end - buffer.begin);
    i = static_cast<uint16_t>(i + number);
  }
  Fail(block, rule::kUbSize, where, "InitBuffer: the buffers take %llu bytes, %llu over the UB's %u (%s)",
       static_cast<unsigned long long>(total), static_cast<unsigned long long>(total - block.launch->ub_bytes), block.launch->ub_bytes,
       list);
}

// Reserves `number` buffers of `bytes` each, rounded up to 32; gives the first one's index.
inline uint16_t ReserveBuffers(BlockState &block, ::AscendC::TPosition position, BufferState state, int64_t number, int64_t bytes,
                               Where where) {
  if (OPKIT_SIM_UNLIKELY(bytes < 0 || number < 1 || bytes > 0xffffffffll)) {
    Fail(block, rule::kCount, where, "InitBuffer: %lld buffers of %lld bytes", static_cast<long long>(number),
         static_cast<long long>(bytes));
  }
  if (OPKIT_SIM_UNLIKELY(block.buffer_count + number - 1 > kMaxBuffers)) {
    Fail(block, rule::kQueueLimit, where, "InitBuffer: %lld buffers, but a kernel has at most %u",
         static_cast<long long>(block.buffer_count + number - 1), static_cast<unsigned>(kMaxBuffers));
  }
  const auto rounded = static_cast<uint64_t>(bytes + 31) / 32 * 32;
  const uint64_t total = block.ub_used + rounded * static_cast<uint64_t>(number);
  const uint16_t first = block.buffer_count;
  for (int64_t i = 0; i < number; ++i) {
    Buffer &buffer = block.buffers[block.buffer_count++];
    buffer.begin = static_cast<uint32_t>(block.ub_used + static_cast<uint64_t>(i) * rounded);
    buffer.end = static_cast<uint32_t>(buffer.begin + rounded);
    buffer.state = state;
    buffer.position = position;
    buffer.queue_first = first;
    buffer.written_by_mte2 = 0;
    buffer.written_by_v = 0;
    buffer.initialised = where;
  }
  if (OPKIT_SIM_UNLIKELY(total > block.launch->ub_bytes)) RejectUb(block, total, where);
  block.ub_used = static_cast<uint32_t>(total);
  return first;
}

OPKIT_SIM_HOT LocalSpan SpanOf(const BlockState &block, uint16_t number) {
  const Buffer &buffer = block.buffers[number];
  LocalSpan span;
  span.address = block.ub + buffer.begin;
  span.bytes = buffer.end - buffer.begin;
  span.buffer = number;
  span.position = buffer.position;
  return span;
}

inline const char *StateText(BufferState state) {
  switch (state) {
    case BufferState::kFree:
      return "it was freed before";
    case BufferState::kEnqueued:
      return "it waits in the queue";
    case BufferState::kCalc:
      return "it belongs to a TBuf";
    default:
      return "it is in use";
  }
}

}  // namespace opkit_sim::ascendc

namespace AscendC {

template <TPosition source, TPosition destination, int32_t depth, auto mask = 0>
class TQueBind {
  static constexpr TPosition kPosition = source == TPosition::GM ? destination : source;
  static_assert(opkit_sim::ascendc::IsVectorPosition(kPosition), "only queues of the Unified Buffer (VECIN, VECOUT, VECCALC) are emulated");
  static_assert(depth >= 0 && depth <= 64, "a queue's depth must be 0..64");
  static constexpr uint32_t kSlots = depth > 1 ? depth : 1;

 public:
  template <typename T>
  LocalTensor<T> AllocTensor(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    static_assert(depth > 0, "a queue of depth 0 works in place: use AllocTensor<T>(tensor)");
    return LocalTensor<T>(Take(where));
  }
  template <typename T>
  void AllocTensor(LocalTensor<T> &tensor, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    static_assert(depth == 0, "AllocTensor by reference is for queues of depth 0");
    tensor = LocalTensor<T>(Take(where));
  }

  template <typename T>
  bool EnQue(const LocalTensor<T> &tensor, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    namespace sim = opkit_sim::ascendc;
    sim::BlockState &block = sim::Block();
    const uint16_t number = Own(block, "EnQue", tensor.Span(), where);
    sim::Buffer &buffer = block.buffers[number];
    if (OPKIT_SIM_UNLIKELY(buffer.state < sim::BufferState::kOccupied)) {
      sim::Fail(block, sim::rule::kQueueState, where, "EnQue: the tensor can't be enqueued, %s (%s)", sim::StateText(buffer.state),
                sim::Describe(block, number).text);
    }
    if (OPKIT_SIM_UNLIKELY(waiting_ == kSlots)) {
      sim::Fail(block, sim::rule::kQueueDepth, where,
                "EnQue: the %s queue of line %u has depth %u and holds %u tensors already; DeQue missing", sim::NameOf(kPosition),
                buffer.initialised.line, kSlots, waiting_);
    }
    slots_[(head_ + waiting_) % kSlots] = number;
    ++waiting_;
    buffer.state = sim::BufferState::kEnqueued;
    buffer.mte2_at_enque = block.mte2_count;
    buffer.v_at_enque = block.v_count;
    return true;
  }
  template <TPosition from, TPosition to, typename T>
  bool EnQue(const LocalTensor<T> &tensor, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    return EnQue(tensor, where);
  }

  template <typename T>
  LocalTensor<T> DeQue(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    static_assert(depth > 0, "a queue of depth 0 works in place: use DeQue<T>(tensor)");
    return LocalTensor<T>(Next(where));
  }
  template <TPosition from, TPosition to, typename T>
  LocalTensor<T> DeQue(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    return DeQue<T>(where);
  }
  template <typename T>
  void DeQue(LocalTensor<T> &tensor, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    static_assert(depth == 0, "DeQue by reference is for queues of depth 0");
    tensor = LocalTensor<T>(Next(where));
  }

  template <typename T>
  void FreeTensor(LocalTensor<T> &tensor, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    Release(tensor.Span(), where);
  }
  template <typename T>
  void FreeTensor(const LocalTensor<T> &tensor, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    Release(tensor.Span(), where);
  }

  bool VacantInQue() const { return waiting_ < kSlots; }
  bool HasTensorInQue() const { return waiting_ != 0; }
  int32_t GetTensorCountInQue() const { return static_cast<int32_t>(waiting_); }
  bool HasIdleBuffer() const {
    namespace sim = opkit_sim::ascendc;
    for (uint32_t i = 0; i < number_; ++i) {
      if (sim::Block().buffers[first_ + i].state == sim::BufferState::kFree) return true;
    }
    return false;
  }
  void FreeAllEvent() {}

 private:
  friend class TPipe;

  opkit_sim::ascendc::LocalSpan Take(opkit_sim::ascendc::Where where) {
    namespace sim = opkit_sim::ascendc;
    sim::BlockState &block = sim::Block();
    // The first free one, not the next in turn: a buffer that was just in use is still in the cache.
    for (uint32_t i = 0; i < number_; ++i) {
      const auto number = static_cast<uint16_t>(first_ + i);
      sim::Buffer &buffer = block.buffers[number];
      if (buffer.state != sim::BufferState::kFree) continue;
      buffer.state = sim::BufferState::kOccupied;
      buffer.allocated = where;
      if (OPKIT_SIM_UNLIKELY(++block.in_use[static_cast<int>(kPosition)] > sim::kMaxInUse)) {
        sim::Fail(block, sim::rule::kQueueLimit, where, "AllocTensor: more than %u tensors of %s queues in use at once",
                  static_cast<unsigned>(sim::kMaxInUse), sim::NameOf(kPosition));
      }
      return sim::SpanOf(block, number);
    }
    if (number_ == 0)
      sim::Fail(block, sim::rule::kQueueFull, where, "AllocTensor: the %s queue has no buffers; InitBuffer missing",
                sim::NameOf(kPosition));
    const sim::Buffer &oldest = block.buffers[first_];
    sim::Fail(block, sim::rule::kQueueFull, where,
              "AllocTensor would wait for ever: all %u buffers (%u bytes each) of the %s queue of line %u are in use, the first since line "
              "%u; FreeTensor missing",
              number_, oldest.end - oldest.begin, sim::NameOf(kPosition), oldest.initialised.line, oldest.allocated.line);
  }

  opkit_sim::ascendc::LocalSpan Next(opkit_sim::ascendc::Where where) {
    namespace sim = opkit_sim::ascendc;
    sim::BlockState &block = sim::Block();
    if (OPKIT_SIM_UNLIKELY(waiting_ == 0)) {
      sim::Fail(block, sim::rule::kQueueEmpty, where, "DeQue would wait for ever: the %s queue of line %u is empty; EnQue missing",
                sim::NameOf(kPosition), number_ != 0 ? block.buffers[first_].initialised.line : 0u);
    }
    const uint16_t number = slots_[head_];
    head_ = static_cast<uint16_t>((head_ + 1u) % kSlots);
    --waiting_;
    sim::Buffer &buffer = block.buffers[number];
    buffer.state = sim::BufferState::kDequeued;
    if constexpr (kPosition == TPosition::VECIN) {
      if (buffer.mte2_at_enque > block.mte2_seen) block.mte2_seen = buffer.mte2_at_enque;
    } else {
      if (buffer.v_at_enque > block.v_seen) block.v_seen = buffer.v_at_enque;
    }
    return sim::SpanOf(block, number);
  }

  uint16_t Own(opkit_sim::ascendc::BlockState &block, const char *api, const opkit_sim::ascendc::LocalSpan &span,
               opkit_sim::ascendc::Where where) const {
    namespace sim = opkit_sim::ascendc;
    const auto number = static_cast<uint32_t>(span.buffer);
    if (OPKIT_SIM_UNLIKELY(number - first_ >= number_)) {
      if (span.address == nullptr) sim::Fail(block, sim::rule::kQueueState, where, "%s: the tensor is empty; AllocTensor missing", api);
      sim::Fail(block, sim::rule::kQueueState, where, "%s: the tensor lies in %s, not in a buffer of this %s queue", api,
                sim::Describe(block, span.buffer).text, sim::NameOf(kPosition));
    }
    return span.buffer;
  }

  void Release(const opkit_sim::ascendc::LocalSpan &span, opkit_sim::ascendc::Where where) {
    namespace sim = opkit_sim::ascendc;
    sim::BlockState &block = sim::Block();
    sim::Buffer &buffer = block.buffers[Own(block, "FreeTensor", span, where)];
    if (OPKIT_SIM_UNLIKELY(buffer.state < sim::BufferState::kOccupied)) {
      sim::Fail(block, sim::rule::kQueueState, where, "FreeTensor: the tensor can't be freed, %s (%s)", sim::StateText(buffer.state),
                sim::Describe(block, span.buffer).text);
    }
    buffer.state = sim::BufferState::kFree;
    // The next owner starts clean: FreeTensor and AllocTensor order the pipes.
    buffer.written_by_mte2 = 0;
    buffer.written_by_v = 0;
    --block.in_use[static_cast<int>(kPosition)];
  }

  uint16_t first_ = 0;
  uint16_t number_ = 0;
  uint16_t head_ = 0;
  uint32_t waiting_ = 0;
  uint16_t slots_[kSlots];
};

template <TPosition position, int32_t depth, auto mask = 0>
class TQue : public TQueBind<position == TPosition::VECIN ? TPosition::GM : position,
                             position == TPosition::VECOUT ? TPosition::GM : position, depth, mask> {};

template <TPosition position = TPosition::LCM>
class TBuf {
  static_assert(opkit_sim::ascendc::IsVectorPosition(position), "only buffers of the Unified Buffer (VECIN, VECOUT, VECCALC) are emulated");

 public:
  template <typename T>
  LocalTensor<T> Get() {
    return LocalTensor<T>(Whole());
  }
  template <typename T>
  LocalTensor<T> Get(uint32_t count) {
    opkit_sim::ascendc::LocalSpan span = Whole();
    span.bytes = count * static_cast<uint32_t>(sizeof(T));
    return LocalTensor<T>(span);
  }
  template <typename T>
  LocalTensor<T> GetWithOffset(uint32_t count, uint32_t offset_bytes) {
    opkit_sim::ascendc::LocalSpan span = Whole();
    if (span.address != nullptr) span.address += offset_bytes;
    span.bytes = count * static_cast<uint32_t>(sizeof(T));
    return LocalTensor<T>(span);
  }
  uint32_t GetBufLen() const { return Whole().bytes; }

 private:
  friend class TPipe;

  opkit_sim::ascendc::LocalSpan Whole() const {
    if (number_ == opkit_sim::ascendc::kWholeUb) return {};
    return opkit_sim::ascendc::SpanOf(opkit_sim::ascendc::Block(), number_);
  }

  uint16_t number_ = opkit_sim::ascendc::kWholeUb;
};

class TPipe {
 public:
  TPipe(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) { Init(where); }
  TPipe(const TPipe &) = delete;
  TPipe &operator=(const TPipe &) = delete;
  ~TPipe() {
    if (is_alive_) Destroy();
  }

  void Init(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    namespace sim = opkit_sim::ascendc;
    sim::BlockState &block = sim::Block();
    if (OPKIT_SIM_UNLIKELY(block.pipe != nullptr && block.pipe != this)) {
      sim::Fail(block, sim::rule::kPipeTwice, where, "TPipe: a second one, while that of line %u lives", block.pipe_at.line);
    }
    block.pipe = this;
    block.pipe_at = where;
    is_alive_ = true;
    Reset();
  }
  void Destroy() {
    opkit_sim::ascendc::Block().pipe = nullptr;
    is_alive_ = false;
  }
  // Gives all buffers back.
  void Reset() {
    namespace sim = opkit_sim::ascendc;
    sim::BlockState &block = sim::Block();
    sim::ReportLeaks(block);
    block.buffer_count = 1;
    block.ub_used = 0;
    for (uint8_t &in_use : block.in_use) in_use = 0;
  }

  template <TPosition source, TPosition destination, int32_t depth, auto mask>
  bool InitBuffer(TQueBind<source, destination, depth, mask> &queue, int64_t number, int64_t bytes,
                  opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    namespace sim = opkit_sim::ascendc;
    using Queue = TQueBind<source, destination, depth, mask>;
    queue.first_ = sim::ReserveBuffers(sim::Block(), Queue::kPosition, sim::BufferState::kFree, number, bytes, where);
    queue.number_ = static_cast<uint16_t>(number);
    queue.head_ = 0;
    queue.waiting_ = 0;
    return true;
  }
  template <TPosition position>
  bool InitBuffer(TBuf<position> &buffer, int64_t bytes, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    namespace sim = opkit_sim::ascendc;
    buffer.number_ = sim::ReserveBuffers(sim::Block(), position, sim::BufferState::kCalc, 1, bytes, where);
    return true;
  }

  template <HardEvent event>
  TEventID AllocEventID(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    return opkit_sim::ascendc::TakeEvent(event, true, where);
  }
  template <HardEvent event>
  void ReleaseEventID(TEventID id, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    opkit_sim::ascendc::ReleaseEvent(event, id, where);
  }
  TEventID FetchEventID(HardEvent event, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    return opkit_sim::ascendc::TakeEvent(event, false, where);
  }
  template <HardEvent event>
  TEventID FetchEventID(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    return opkit_sim::ascendc::TakeEvent(event, false, where);
  }

 private:
  bool is_alive_ = false;
};

inline TPipe *GetTPipePtr(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  if (OPKIT_SIM_UNLIKELY(block.pipe == nullptr)) sim::Fail(block, sim::rule::kPipeMissing, where, "GetTPipePtr: the kernel has no TPipe");
  return static_cast<TPipe *>(block.pipe);
}

}  // namespace AscendC

#endif  // OPKIT_SIM_ASCENDC_PIPE_H_
