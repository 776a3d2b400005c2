// LocalTensor and GlobalTensor: typed views of the UB and of device memory that know the buffer or the allocation they lie in, so that
// every access is checked.
#ifndef OPKIT_SIM_ASCENDC_TENSOR_H_
#define OPKIT_SIM_ASCENDC_TENSOR_H_

#include "ascendc/block_state.h"
#include "ascendc/language.h"
#include "ascendc/scalar_types.h"

namespace opkit_sim::ascendc {

// Where a LocalTensor lies; the same for every element type.
struct LocalSpan {
  uint8_t *address = nullptr;
  uint32_t bytes = 0;  // from `address` to the end of the tensor
  uint16_t buffer = kWholeUb;
  ::AscendC::TPosition position = ::AscendC::TPosition::VECCALC;
};

// What an address in no allocation belongs to.
constexpr Region kNowhere{0, 0, ""};

// Where a GlobalTensor lies.
struct GlobalSpan {
  uintptr_t address = 0;
  uintptr_t declared_end = 0;  // by SetGlobalBuffer's size; ~0 if it gave none
  const Region *region = &kNowhere;
};

enum class Access { kRead, kWrite };
enum class Pipe { kScalar, kVector, kMte2, kMte3 };

struct BufferText {
  char text[160];
};

OPKIT_SIM_COLD inline BufferText Describe(const BlockState &block, uint16_t number) {
  BufferText out;
  const Buffer &buffer = block.buffers[number];
  if (number == kWholeUb) {
    std::snprintf(out.text, sizeof out.text, "the UB of %u bytes", buffer.end);
  } else if (buffer.state == BufferState::kCalc) {
    std::snprintf(out.text, sizeof out.text, "the TBuf of line %u (%u bytes at UB+0x%x)", buffer.initialised.line,
                  buffer.end - buffer.begin, buffer.begin);
  } else {
    std::snprintf(out.text, sizeof out.text, "a buffer of the %s queue of line %u (%u bytes at UB+0x%x)", NameOf(buffer.position),
                  buffer.initialised.line, buffer.end - buffer.begin, buffer.begin);
  }
  return out;
}

// Whether one of the pipe's last writes, not yet waited for, touched these bytes.
inline bool IsUnseen(const WriteRecord *writes, uint32_t count, uint32_t seen, int64_t begin, int64_t end) {
  for (uint32_t number = count; number > seen && count - number < kWritesKept; --number) {
    const WriteRecord &write = writes[number % kWritesKept];
    if (static_cast<int64_t>(write.begin) < end && begin < static_cast<int64_t>(write.end)) return true;
  }
  return false;
}

// A rejected operand of an instruction: finds out which rule it breaks and says it. Returns if that was a warning.
OPKIT_SIM_COLD inline void RejectLocal(BlockState &block, const char *api, const char *operand, LocalSpan span, uint64_t bytes,
                                       Access access, Pipe pipe, uint32_t alignment, Where where) {
  const bool is_write = access == Access::kWrite;
  const Buffer &buffer = block.buffers[span.buffer];
  if (span.address == nullptr)
    Fail(block, rule::kUbEmpty, where, "%s: %s is an empty tensor; it comes from no AllocTensor, DeQue or Get", api, operand);
  const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(span.address) - reinterpret_cast<uintptr_t>(block.ub));
  const BufferText place = Describe(block, span.buffer);
  if (buffer.state == BufferState::kFree) {
    Fail(block, rule::kQueueUse, where, "%s: %s lies in %s, which FreeTensor gave back", api, operand, place.text);
  }
  if (offset % alignment != 0) {
    Fail(block, rule::kUbAlign, where, "%s: %s starts at UB+0x%llx, but must start at a multiple of %u bytes (%s)", api, operand,
         static_cast<unsigned long long>(offset), alignment, place.text);
  }
  const auto begin = static_cast<int64_t>(buffer.begin);
  const auto end = static_cast<int64_t>(buffer.end);
  const int64_t last = offset + static_cast<int64_t>(bytes);
  if (offset < begin || last > end) {
    const bool leaves_ub = offset < 0 || last > static_cast<int64_t>(block.launch->ub_bytes);
    const int64_t over = offset < begin ? begin - offset : last - end;
    const char *verb = is_write ? "writes" : "reads";
    if (is_write || leaves_ub) {
      Fail(block, rule::kUbOutOfBounds, where, "%s: %s %s %llu bytes at UB+0x%llx, %lld bytes past %s%s", api, operand, verb,
           static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset), static_cast<long long>(over), place.text,
           leaves_ub ? " and out of the UB" : "");
    }
    Warn(block, rule::kUbOutOfBounds, where, "%s: %s %s %llu bytes at UB+0x%llx, %lld bytes past %s", api, operand, verb,
         static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset), static_cast<long long>(over), place.text);
  }
  if (buffer.state == BufferState::kEnqueued) {
    Warn(block, rule::kQueueUse, where, "%s: %s lies in %s, which was given to EnQue and not yet taken by DeQue", api, operand, place.text);
  }
  if (pipe != Pipe::kMte2 && IsUnseen(block.mte2_writes, block.mte2_count, block.mte2_seen, offset, last)) {
    Warn(block, rule::kSync, where, "%s: %s lies in %s, which MTE2 may still be filling: no EnQue and DeQue and no MTE2_%s flag between",
         api, operand, place.text,
         pipe == Pipe::kVector   ? "V"
         : pipe == Pipe::kScalar ? "S"
                                 : "MTE3");
  }
  if ((pipe == Pipe::kMte3 || pipe == Pipe::kScalar) && IsUnseen(block.v_writes, block.v_count, block.v_seen, offset, last)) {
    Warn(block, rule::kSync, where, "%s: %s lies in %s, which V may still be writing: no EnQue and DeQue and no V_%s flag between", api,
         operand, place.text, pipe == Pipe::kMte3 ? "MTE3" : "S");
  }
}

// The check of every operand in the UB; cheap where all is well.
template <Access access, Pipe pipe, uint32_t alignment = 32>
OPKIT_SIM_HOT void CheckLocal(BlockState &block, const char *api, const char *operand, const LocalSpan &span, uint64_t bytes, Where where) {
  Buffer &buffer = block.buffers[span.buffer];
  const uint64_t offset = reinterpret_cast<uintptr_t>(span.address) - reinterpret_cast<uintptr_t>(block.ub);
  if (OPKIT_SIM_UNLIKELY(offset % alignment != 0 || offset < buffer.begin || offset + bytes > buffer.end ||
                         buffer.state <= BufferState::kEnqueued || (pipe != Pipe::kMte2 && buffer.written_by_mte2 > block.mte2_seen) ||
                         ((pipe == Pipe::kMte3 || pipe == Pipe::kScalar) && buffer.written_by_v > block.v_seen))) {
    RejectLocal(block, api, operand, span, bytes, access, pipe, alignment, where);
  }
  const WriteRecord record{static_cast<uint32_t>(offset), static_cast<uint32_t>(offset + bytes)};
  if constexpr (access == Access::kWrite && pipe == Pipe::kVector) {
    buffer.written_by_v = ++block.v_count;
    block.v_writes[block.v_count % kWritesKept] = record;
  }
  if constexpr (access == Access::kWrite && pipe == Pipe::kMte2) {
    buffer.written_by_mte2 = ++block.mte2_count;
    block.mte2_writes[block.mte2_count % kWritesKept] = record;
  }
}

inline GlobalSpan FindGlobal(const BlockState &block, uintptr_t address) {
  GlobalSpan span;
  span.address = address;
  span.declared_end = ~uintptr_t{0};
  size_t first = 0;
  size_t count = block.launch->region_count;
  const Region *regions = block.launch->regions;
  while (count > 0) {  // the last region that begins at or before the address
    const size_t half_count = count / 2;
    if (regions[first + half_count].begin <= address) {
      first += half_count + 1;
      count -= half_count + 1;
    } else {
      count = half_count;
    }
  }
  if (first == 0) return span;
  const Region &region = regions[first - 1];
  // One past the end belongs to it: an empty tail is a legal tensor.
  if (address - region.begin <= region.bytes) span.region = &region;
  return span;
}

OPKIT_SIM_COLD inline void RejectGlobal(BlockState &block, const char *api, GlobalSpan span, uint64_t bytes, Access access,
                                        uint32_t element_bytes, Where where) {
  const char *verb = access == Access::kWrite ? "writes" : "reads";
  if (span.address == 0)
    Fail(block, rule::kGmOutOfBounds, where, "%s: %s %llu bytes through a null GM address", api, verb,
         static_cast<unsigned long long>(bytes));
  if (span.region == &kNowhere) {
    Fail(block, rule::kGmOutOfBounds, where, "%s: %s %llu bytes at GM 0x%llx, which lies in no allocation", api, verb,
         static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(span.address));
  }
  const char *name = span.region->name != nullptr && span.region->name[0] != '\0' ? span.region->name : "(no parameter)";
  const auto offset = static_cast<int64_t>(span.address - span.region->begin);
  const int64_t last = offset + static_cast<int64_t>(bytes);
  const auto size = static_cast<int64_t>(span.region->bytes);
  if (offset < 0 || last > size) {
    Fail(block, rule::kGmOutOfBounds, where, "%s: %s bytes %lld..%lld of '%s', %lld bytes past its %lld", api, verb,
         static_cast<long long>(offset), static_cast<long long>(last - 1), name, static_cast<long long>(offset < 0 ? -offset : last - size),
         static_cast<long long>(size));
  }
  if (element_bytes != 0 && span.address % element_bytes != 0) {
    Fail(block, rule::kGmAlign, where, "%s: %s at byte %lld of '%s', which is no multiple of the element's %u bytes", api, verb,
         static_cast<long long>(offset), name, element_bytes);
  }
  if (span.address + bytes > span.declared_end) {
    Warn(block, rule::kGmSize, where, "%s: %s bytes %lld..%lld of '%s', %llu bytes past the size given to SetGlobalBuffer", api, verb,
         static_cast<long long>(offset), static_cast<long long>(last - 1), name,
         static_cast<unsigned long long>(span.address + bytes - span.declared_end));
  }
}

template <Access access>
OPKIT_SIM_HOT void CheckGlobal(BlockState &block, const char *api, const GlobalSpan &span, uint64_t bytes, uint32_t element_bytes,
                               Where where) {
  const uintptr_t offset = span.address - span.region->begin;
  if (OPKIT_SIM_UNLIKELY(offset > span.region->bytes || bytes > span.region->bytes - offset || span.address + bytes > span.declared_end ||
                         (element_bytes != 0 && span.address % element_bytes != 0))) {
    RejectGlobal(block, api, span, bytes, access, element_bytes, where);
  }
}

// GM addresses are as aligned as the kernel made them, and device code puns types freely.
template <typename T>
OPKIT_SIM_HOT T LoadScalar(const void *from) {
  T value;
  __builtin_memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
OPKIT_SIM_HOT void StoreScalar(void *to, T value) {
  __builtin_memcpy(to, &value, sizeof(T));
}

}  // namespace opkit_sim::ascendc

namespace AscendC {

template <typename T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  // Static style: a place in the UB chosen by the kernel, in bytes and elements.
  LocalTensor(TPosition position, uint32_t address, uint32_t size)
      : span_{opkit_sim::ascendc::Block().ub + address, size * static_cast<uint32_t>(sizeof(T)), opkit_sim::ascendc::kWholeUb, position} {}
  explicit LocalTensor(const opkit_sim::ascendc::LocalSpan &span) : span_(span) {}

  // Only a use of the result is checked: a kernel may name a place that it never touches.
  LocalTensor operator[](uint32_t offset) const {
    opkit_sim::ascendc::LocalSpan moved = span_;
    const uint64_t bytes = static_cast<uint64_t>(offset) * sizeof(T);
    if (moved.address != nullptr) moved.address += bytes;
    moved.bytes = bytes < moved.bytes ? moved.bytes - static_cast<uint32_t>(bytes) : 0;
    return LocalTensor(moved);
  }

  T GetValue(uint32_t index, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) const {
    namespace sim = opkit_sim::ascendc;
    const sim::LocalSpan element = At(index);
    sim::CheckLocal<sim::Access::kRead, sim::Pipe::kScalar, sizeof(T)>(sim::Block(), "GetValue", "the tensor", element, sizeof(T), where);
    return sim::LoadScalar<T>(element.address);
  }
  template <typename U = T>
  void SetValue(uint32_t index, U value, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) const {
    namespace sim = opkit_sim::ascendc;
    const sim::LocalSpan element = At(index);
    sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kScalar, sizeof(T)>(sim::Block(), "SetValue", "the tensor", element, sizeof(T), where);
    sim::StoreScalar<T>(element.address, static_cast<T>(value));
  }
  // A plain reference, as on a device: what is done through it isn't checked further.
  T &operator()(uint32_t index, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) const {
    namespace sim = opkit_sim::ascendc;
    const sim::LocalSpan element = At(index);
    sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kScalar, sizeof(T)>(sim::Block(), "operator()", "the tensor", element, sizeof(T),
                                                                        where);
    return *reinterpret_cast<T *>(element.address);
  }

  template <typename U>
  LocalTensor<U> ReinterpretCast() const {
    return LocalTensor<U>(span_);
  }
  __ubuf__ T *GetPhyAddr(uint32_t offset = 0) const { return reinterpret_cast<T *>(span_.address) + offset; }
  uint32_t GetSize() const { return static_cast<uint32_t>(span_.bytes / sizeof(T)); }
  uint32_t GetLength() const { return span_.bytes; }
  void SetSize(uint32_t size) { span_.bytes = size * static_cast<uint32_t>(sizeof(T)); }
  int32_t GetPosition() const { return static_cast<int32_t>(span_.position); }
  void SetAddrWithOffset(const LocalTensor &base, uint32_t offset) { *this = base[offset]; }
  template <typename U>
  void SetAddrWithOffset(const LocalTensor<U> &base, uint32_t offset) {
    *this = base[offset].template ReinterpretCast<T>();
  }

  const opkit_sim::ascendc::LocalSpan &Span() const { return span_; }
  T *Data() const { return reinterpret_cast<T *>(span_.address); }

 private:
  opkit_sim::ascendc::LocalSpan At(uint32_t index) const {
    opkit_sim::ascendc::LocalSpan element = span_;
    if (element.address != nullptr) element.address += static_cast<uint64_t>(index) * sizeof(T);
    return element;
  }

  opkit_sim::ascendc::LocalSpan span_;
};

template <typename T>
class GlobalTensor {
 public:
  using PrimType = T;

  void SetGlobalBuffer(__gm__ T *buffer, uint64_t size) {
    SetGlobalBuffer(buffer);
    span_.declared_end = span_.address + size * sizeof(T);
    size_ = size;
  }
  void SetGlobalBuffer(__gm__ T *buffer) {
    span_ = opkit_sim::ascendc::FindGlobal(opkit_sim::ascendc::Block(), reinterpret_cast<uintptr_t>(buffer));
    size_ = 0;
  }

  GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor moved = *this;
    moved.span_.address += offset * sizeof(T);
    moved.size_ = offset < size_ ? size_ - offset : 0;
    return moved;
  }
  T GetValue(uint64_t index, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) const {
    namespace sim = opkit_sim::ascendc;
    const sim::GlobalSpan element = At(index);
    sim::CheckGlobal<sim::Access::kRead>(sim::Block(), "GetValue", element, sizeof(T), sizeof(T), where);
    return sim::LoadScalar<T>(reinterpret_cast<const void *>(element.address));
  }
  template <typename U = T>
  void SetValue(uint64_t index, U value, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
    namespace sim = opkit_sim::ascendc;
    const sim::GlobalSpan element = At(index);
    sim::CheckGlobal<sim::Access::kWrite>(sim::Block(), "SetValue", element, sizeof(T), sizeof(T), where);
    sim::StoreScalar<T>(reinterpret_cast<void *>(element.address), static_cast<T>(value));
  }
  __gm__ T &operator()(uint64_t index, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) const {
    namespace sim = opkit_sim::ascendc;
    const sim::GlobalSpan element = At(index);
    sim::CheckGlobal<sim::Access::kRead>(sim::Block(), "operator()", element, sizeof(T), sizeof(T), where);
    return *reinterpret_cast<T *>(element.address);
  }

  template <typename U>
  GlobalTensor<U> ReinterpretCast() const {
    return GlobalTensor<U>(span_, size_ * sizeof(T) / sizeof(U));
  }
  __gm__ T *GetPhyAddr(uint64_t offset = 0) const { return reinterpret_cast<T *>(span_.address) + offset; }
  uint64_t GetSize() const { return size_; }
  void SetL2CacheHint(CacheMode) {}
  template <typename U>
  void SetL2CacheHint(U) {}

  GlobalTensor() = default;
  GlobalTensor(const opkit_sim::ascendc::GlobalSpan &span, uint64_t size) : span_(span), size_(size) {}
  const opkit_sim::ascendc::GlobalSpan &Span() const { return span_; }

 private:
  opkit_sim::ascendc::GlobalSpan At(uint64_t index) const {
    opkit_sim::ascendc::GlobalSpan element = span_;
    element.address += index * sizeof(T);
    return element;
  }

  opkit_sim::ascendc::GlobalSpan span_;
  uint64_t size_ = 0;
};

}  // namespace AscendC

#endif  // OPKIT_SIM_ASCENDC_TENSOR_H_
