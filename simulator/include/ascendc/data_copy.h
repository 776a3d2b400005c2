// DataCopy and DataCopyPad: the copies between device memory and the UB, with the checks of both ends, and the atomic modes of the way out.
#ifndef OPKIT_SIM_ASCENDC_DATA_COPY_H_
#define OPKIT_SIM_ASCENDC_DATA_COPY_H_

#include "ascendc/params.h"
#include "ascendc/tensor.h"

namespace opkit_sim::ascendc {

// Tensors from this size on leave the caches anyway: the way out then writes past them, which saves reading every line first.
// FinishBlocks() ends such writes.
constexpr uint64_t kStreamRegionBytes = 4u << 20;
constexpr uint64_t kStreamCopyBytes = 512;

#if defined(__AVX512F__)
typedef long long StreamVector __attribute__((vector_size(64), may_alias));
#elif defined(__AVX__)
typedef long long StreamVector __attribute__((vector_size(32), may_alias));
#else
typedef long long StreamVector __attribute__((vector_size(16), may_alias));
#endif

typedef StreamVector UnalignedVector __attribute__((aligned(1)));

OPKIT_SIM_HOT void StoreStreaming(StreamVector *to, StreamVector value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, to);
#elif defined(__AVX512F__)
  __builtin_ia32_movntdq512(to, value);
#elif defined(__AVX__)
  __builtin_ia32_movntdq256(to, value);
#elif defined(__SSE2__)
  __builtin_ia32_movntdq(to, value);
#else
  *to = value;
#endif
}

inline void CopyStreaming(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  constexpr uint64_t kStep = sizeof(StreamVector);
  const uint64_t head = (kStep - reinterpret_cast<uintptr_t>(to) % kStep) % kStep;
  if (head != 0) {
    __builtin_memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
  }
  constexpr uint64_t kTogether = 4;
  for (; bytes >= kTogether * kStep; bytes -= kTogether * kStep, to += kTogether * kStep, from += kTogether * kStep) {
    UnalignedVector loaded[kTogether];
    for (uint64_t i = 0; i < kTogether; ++i) loaded[i] = reinterpret_cast<const UnalignedVector *>(from)[i];
    for (uint64_t i = 0; i < kTogether; ++i) StoreStreaming(reinterpret_cast<StreamVector *>(to) + i, loaded[i]);
  }
  for (; bytes >= kStep; bytes -= kStep, to += kStep, from += kStep) {
    StoreStreaming(reinterpret_cast<StreamVector *>(to), *reinterpret_cast<const UnalignedVector *>(from));
  }
  if (bytes != 0) __builtin_memcpy(to, from, bytes);
}

// The C library's copy was the fastest of all that were tried; any prefetch beside it made it slower.
OPKIT_SIM_HOT void CopyFromGm(uint8_t *to, const uint8_t *from, uint64_t bytes) { std::memcpy(to, from, bytes); }

template <typename T>
constexpr AtomicType AtomicTypeOf() {
  if constexpr (std::is_same_v<T, int8_t>) return AtomicType::kInt8;
  if constexpr (std::is_same_v<T, int16_t>) return AtomicType::kInt16;
  if constexpr (std::is_same_v<T, int32_t>) return AtomicType::kInt32;
  if constexpr (std::is_same_v<T, half>) return AtomicType::kHalf;
  if constexpr (std::is_same_v<T, bfloat16_t>) return AtomicType::kBfloat16;
  if constexpr (std::is_same_v<T, float>) return AtomicType::kFloat;
  return AtomicType::kOther;
}

template <typename T>
inline void SetAtomic(Atomic mode, Where where) {
  static_assert(AtomicTypeOf<T>() != AtomicType::kOther, "the atomic modes take int8_t, int16_t, half, bfloat16_t, int32_t and float");
  BlockState &block = Block();
  block.atomic = mode;
  block.atomic_type = AtomicTypeOf<T>();
  block.atomic_set_at = where;
}

template <typename T>
inline T CombineAtomic(Atomic mode, T old_value, T value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
    return T(CombineAtomic(mode, static_cast<float>(old_value), static_cast<float>(value)));
  } else if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    if (mode == Atomic::kAdd) return static_cast<T>(static_cast<Unsigned>(static_cast<Unsigned>(old_value) + static_cast<Unsigned>(value)));
    return mode == Atomic::kMax ? (old_value > value ? old_value : value) : (old_value < value ? old_value : value);
  } else {
    if (mode == Atomic::kAdd) return old_value + value;
    return mode == Atomic::kMax ? (old_value > value ? old_value : value) : (old_value < value ? old_value : value);
  }
}

// Other blocks add to the same bytes at the same time, from other threads.
template <typename T>
inline void CopyAtomic(const BlockState &block, uint8_t *to, const uint8_t *from, uint64_t bytes) {
  using Bits = std::conditional_t<sizeof(T) == 1, uint8_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>>;
  typedef Bits AliasedBits __attribute__((may_alias));
  for (uint64_t i = 0; i < bytes; i += sizeof(T)) {
    auto *cell = reinterpret_cast<AliasedBits *>(to + i);
    const T value = LoadScalar<T>(from + i);
    Bits old_bits = __atomic_load_n(cell, __ATOMIC_RELAXED);
    Bits new_bits;
    do {
      new_bits = __builtin_bit_cast(Bits, CombineAtomic(block.atomic, __builtin_bit_cast(T, old_bits), value));
    } while (!__atomic_compare_exchange_n(cell, &old_bits, new_bits, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  }
}

// `gm` has been checked for the whole copy; `to` is within it.
template <typename T>
OPKIT_SIM_HOT void CopyToGm(BlockState &block, const GlobalSpan &gm, uint8_t *to, const uint8_t *from, uint64_t bytes, const char *api,
                            Where where) {
  if (OPKIT_SIM_UNLIKELY(block.atomic != Atomic::kNone)) {
    if constexpr (AtomicTypeOf<T>() != AtomicType::kOther) {
      if (block.atomic_type == AtomicTypeOf<T>() && reinterpret_cast<uintptr_t>(to) % sizeof(T) == 0) {
        CopyAtomic<T>(block, to, from, bytes);
        return;
      }
    }
    Fail(block, rule::kAtomic, where,
         "%s: the atomic mode of line %u is of another element type, or the GM address isn't a multiple of the element", api,
         block.atomic_set_at.line);
  }
  if (bytes >= kStreamCopyBytes && gm.region->bytes >= kStreamRegionBytes) {
    CopyStreaming(to, from, bytes);
  } else {
    __builtin_memcpy(to, from, bytes);
  }
}

struct BlockCopy {
  uint64_t count;
  uint64_t bytes;
  uint64_t source_step;  // from the start of a block to that of the next, in bytes
  uint64_t destination_step;
  uint64_t SourceBytes() const { return (count - 1) * source_step + bytes; }
  uint64_t DestinationBytes() const { return (count - 1) * destination_step + bytes; }
};

inline void CheckRange(BlockState &block, const char *api, const char *name, int64_t value, int64_t most, Where where) {
  if (OPKIT_SIM_UNLIKELY(value < 0 || value > most)) {
    Fail(block, rule::kCopyParam, where, "%s: %s is %lld, but must be 0..%lld", api, name, static_cast<long long>(value),
         static_cast<long long>(most));
  }
}

inline uint64_t CountBytes(BlockState &block, const char *api, int64_t count, uint64_t element_bytes, Where where) {
  if (OPKIT_SIM_UNLIKELY(count < 0 || count > 0xffffffffll)) {
    Fail(block, rule::kCount, where, "%s: count %lld doesn't fit uint32_t", api, static_cast<long long>(count));
  }
  const uint64_t bytes = static_cast<uint64_t>(count) * element_bytes;
  if (OPKIT_SIM_UNLIKELY(bytes % 32 != 0)) {
    Fail(block, rule::kCopyTruncated, where,
         "%s: %lld elements of %llu bytes are %llu bytes, no multiple of 32: only %llu would be copied; use DataCopyPad", api,
         static_cast<long long>(count), static_cast<unsigned long long>(element_bytes), static_cast<unsigned long long>(bytes),
         static_cast<unsigned long long>(bytes / 32 * 32));
  }
  return bytes;
}

inline BlockCopy BlocksOf(BlockState &block, const ::AscendC::DataCopyParams &params, Where where) {
  CheckRange(block, "DataCopy", "blockCount", params.blockCount, 4095, where);
  CheckRange(block, "DataCopy", "blockLen (32-byte blocks)", params.blockLen, 65535, where);
  CheckRange(block, "DataCopy", "srcStride (32-byte blocks)", params.srcStride, 65535, where);
  CheckRange(block, "DataCopy", "dstStride (32-byte blocks)", params.dstStride, 65535, where);
  const auto bytes = static_cast<uint64_t>(params.blockLen) * 32;
  return {static_cast<uint64_t>(params.blockCount), bytes, bytes + static_cast<uint64_t>(params.srcStride) * 32,
          bytes + static_cast<uint64_t>(params.dstStride) * 32};
}

// The parameters of DataCopyPad, for both struct families.
struct PadCopy {
  int64_t count, bytes, source_gap, destination_gap;
  bool is_ext;
};

template <typename T>
inline bool CheckPadCopy(BlockState &block, const PadCopy &copy, Where where) {
  static_assert(std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> || (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>),
                "DataCopyPad takes 8, 16, 32 and 64 bit integers, half, bfloat16_t, float and double");
  const int64_t most_bytes = copy.is_ext ? 2097151 : 65535;
  const int64_t most_gap = copy.is_ext ? 0xffffffffll : 65535;
  CheckRange(block, "DataCopyPad", "blockCount", copy.count, 4095, where);
  CheckRange(block, "DataCopyPad", "blockLen (bytes)", copy.bytes, most_bytes, where);
  CheckRange(block, "DataCopyPad", "srcStride", copy.source_gap, most_gap, where);
  CheckRange(block, "DataCopyPad", "dstStride", copy.destination_gap, most_gap, where);
  if (OPKIT_SIM_UNLIKELY(copy.bytes % static_cast<int64_t>(sizeof(T)) != 0)) {
    Fail(block, rule::kCopyParam, where, "DataCopyPad: blockLen is in bytes, and %lld is no multiple of the element's %zu",
         static_cast<long long>(copy.bytes), sizeof(T));
  }
  return copy.count != 0 && copy.bytes != 0;
}

template <typename T>
inline void FillElements(uint8_t *to, uint64_t count, T value) {
  for (uint64_t i = 0; i < count; ++i) StoreScalar<T>(to + i * sizeof(T), value);
}

template <typename T>
inline void PadIn(const LocalSpan &dst, const GlobalSpan &src, const PadCopy &copy, bool pads, int64_t left, int64_t right, T value,
                  Where where) {
  constexpr auto kElement = static_cast<int64_t>(sizeof(T));
  BlockState &block = Block();
  if (!CheckPadCopy<T>(block, copy, where)) return;
  CheckRange(block, "DataCopyPad", "leftPadding (elements)", left, 32 / kElement, where);
  CheckRange(block, "DataCopyPad", "rightPadding (elements)", right, 32 / kElement, where);
  if constexpr (sizeof(T) == 8) {
    if (OPKIT_SIM_UNLIKELY(pads && value != T{0}))
      Fail(block, rule::kCopyParam, where, "DataCopyPad: paddingValue must be 0 for 64-bit types");
  }
  const auto count = static_cast<uint64_t>(copy.count);
  const auto bytes = static_cast<uint64_t>(copy.bytes);
  const auto left_bytes = static_cast<uint64_t>(left * kElement);
  const auto right_bytes = static_cast<uint64_t>(right * kElement);
  const uint64_t row = (left_bytes + bytes + right_bytes + 31) / 32 * 32;
  const uint64_t row_step = row + static_cast<uint64_t>(copy.destination_gap) * 32;
  const uint64_t source_step = bytes + static_cast<uint64_t>(copy.source_gap);
  CheckLocal<Access::kWrite, Pipe::kMte2>(block, "DataCopyPad", "dst", dst, (count - 1) * row_step + row, where);
  CheckGlobal<Access::kRead>(block, "DataCopyPad", src, (count - 1) * source_step + bytes, 0, where);
  for (uint64_t i = 0; i < count; ++i) {
    const auto *from = reinterpret_cast<const uint8_t *>(src.address) + i * source_step;
    uint8_t *to = dst.address + i * row_step;
    CopyFromGm(to + left_bytes, from, bytes);
    const uint64_t tail = row - left_bytes - bytes;
    if (left_bytes + tail == 0) continue;
    if (pads || (left == 0 && right == 0)) {
      // Without padding a device repeats the block's first element up to the next multiple of 32 bytes.
      const T filler = pads ? value : LoadScalar<T>(from);
      FillElements<T>(to, static_cast<uint64_t>(left), filler);
      FillElements<T>(to + left_bytes + bytes, tail / sizeof(T), filler);
    } else {
      // Unspecified on a device; a pattern that nobody takes for a result.
      std::memset(to, 0xa5, left_bytes);
      std::memset(to + left_bytes + bytes, 0xa5, tail);
    }
  }
}

template <typename T>
inline void PadOut(const GlobalSpan &dst, const LocalSpan &src, const PadCopy &copy, Where where) {
  BlockState &block = Block();
  if (!CheckPadCopy<T>(block, copy, where)) return;
  const auto count = static_cast<uint64_t>(copy.count);
  const auto bytes = static_cast<uint64_t>(copy.bytes);
  const uint64_t row_step = (bytes + 31) / 32 * 32 + static_cast<uint64_t>(copy.source_gap) * 32;
  const uint64_t destination_step = bytes + static_cast<uint64_t>(copy.destination_gap);
  CheckLocal<Access::kRead, Pipe::kMte3>(block, "DataCopyPad", "src", src, (count - 1) * row_step + bytes, where);
  CheckGlobal<Access::kWrite>(block, "DataCopyPad", dst, (count - 1) * destination_step + bytes, 0, where);
  for (uint64_t i = 0; i < count; ++i) {
    CopyToGm<T>(block, dst, reinterpret_cast<uint8_t *>(dst.address) + i * destination_step, src.address + i * row_step, bytes,
                "DataCopyPad", where);
  }
}

}  // namespace opkit_sim::ascendc

namespace AscendC {

template <typename T>
OPKIT_SIM_HOT void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, int64_t count,
                            opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  const uint64_t bytes = sim::CountBytes(block, "DataCopy", count, sizeof(T), where);
  if (bytes == 0) return;
  sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kMte2>(block, "DataCopy", "dst", dst.Span(), bytes, where);
  sim::CheckGlobal<sim::Access::kRead>(block, "DataCopy", src.Span(), bytes, sizeof(T), where);
  sim::CopyFromGm(dst.Span().address, reinterpret_cast<const uint8_t *>(src.Span().address), bytes);
}

template <typename T>
OPKIT_SIM_HOT void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, int64_t count,
                            opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  const uint64_t bytes = sim::CountBytes(block, "DataCopy", count, sizeof(T), where);
  if (bytes == 0) return;
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kMte3>(block, "DataCopy", "src", src.Span(), bytes, where);
  sim::CheckGlobal<sim::Access::kWrite>(block, "DataCopy", dst.Span(), bytes, sizeof(T), where);
  sim::CopyToGm<T>(block, dst.Span(), reinterpret_cast<uint8_t *>(dst.Span().address), src.Span().address, bytes, "DataCopy", where);
}

template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, int64_t count,
                     opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  const uint64_t bytes = sim::CountBytes(block, "DataCopy", count, sizeof(T), where);
  if (bytes == 0) return;
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kVector>(block, "DataCopy", "src", src.Span(), bytes, where);
  sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kVector>(block, "DataCopy", "dst", dst.Span(), bytes, where);
  std::memmove(dst.Span().address, src.Span().address, bytes);
}

template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &params,
                     opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  const sim::BlockCopy copy = sim::BlocksOf(block, params, where);
  if (copy.count == 0 || copy.bytes == 0) return;
  sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kMte2>(block, "DataCopy", "dst", dst.Span(), copy.DestinationBytes(), where);
  sim::CheckGlobal<sim::Access::kRead>(block, "DataCopy", src.Span(), copy.SourceBytes(), sizeof(T), where);
  for (uint64_t i = 0; i < copy.count; ++i) {
    sim::CopyFromGm(dst.Span().address + i * copy.destination_step,
                    reinterpret_cast<const uint8_t *>(src.Span().address) + i * copy.source_step, copy.bytes);
  }
}

template <typename T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params,
                     opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  const sim::BlockCopy copy = sim::BlocksOf(block, params, where);
  if (copy.count == 0 || copy.bytes == 0) return;
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kMte3>(block, "DataCopy", "src", src.Span(), copy.SourceBytes(), where);
  sim::CheckGlobal<sim::Access::kWrite>(block, "DataCopy", dst.Span(), copy.DestinationBytes(), sizeof(T), where);
  for (uint64_t i = 0; i < copy.count; ++i) {
    sim::CopyToGm<T>(block, dst.Span(), reinterpret_cast<uint8_t *>(dst.Span().address) + i * copy.destination_step,
                     src.Span().address + i * copy.source_step, copy.bytes, "DataCopy", where);
  }
}

template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params,
                     opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::BlockState &block = sim::Block();
  const sim::BlockCopy copy = sim::BlocksOf(block, params, where);
  if (copy.count == 0 || copy.bytes == 0) return;
  sim::CheckLocal<sim::Access::kRead, sim::Pipe::kVector>(block, "DataCopy", "src", src.Span(), copy.SourceBytes(), where);
  sim::CheckLocal<sim::Access::kWrite, sim::Pipe::kVector>(block, "DataCopy", "dst", dst.Span(), copy.DestinationBytes(), where);
  for (uint64_t i = 0; i < copy.count; ++i) {
    std::memmove(dst.Span().address + i * copy.destination_step, src.Span().address + i * copy.source_step, copy.bytes);
  }
}

template <typename T>
inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &params,
                        const DataCopyPadExtParams<T> &pad, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::PadIn<T>(dst.Span(), src.Span(), {params.blockCount, params.blockLen, params.srcStride, params.dstStride, true},
                               pad.isPad, pad.leftPadding, pad.rightPadding, pad.paddingValue, where);
}

// The value's low bytes are the element.
template <typename T>
inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &params, const DataCopyPadParams &pad,
                        opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::PadIn<T>(dst.Span(), src.Span(), {params.blockCount, params.blockLen, params.srcStride, params.dstStride, false},
                               pad.isPad, pad.leftPadding, pad.rightPadding, opkit_sim::ascendc::LoadScalar<T>(&pad.paddingValue), where);
}

template <typename T>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &params,
                        opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::PadOut<T>(dst.Span(), src.Span(), {params.blockCount, params.blockLen, params.srcStride, params.dstStride, true},
                                where);
}

template <typename T>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &params,
                        opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::PadOut<T>(dst.Span(), src.Span(), {params.blockCount, params.blockLen, params.srcStride, params.dstStride, false},
                                where);
}

template <typename T>
inline void SetAtomicAdd(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::SetAtomic<T>(opkit_sim::ascendc::Atomic::kAdd, where);
}
template <typename T>
inline void SetAtomicMax(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::SetAtomic<T>(opkit_sim::ascendc::Atomic::kMax, where);
}
template <typename T>
inline void SetAtomicMin(opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  opkit_sim::ascendc::SetAtomic<T>(opkit_sim::ascendc::Atomic::kMin, where);
}
inline void SetAtomicNone() { opkit_sim::ascendc::Block().atomic = opkit_sim::ascendc::Atomic::kNone; }
inline void DisableDmaAtomic() { SetAtomicNone(); }

}  // namespace AscendC

#endif  // OPKIT_SIM_ASCENDC_DATA_COPY_H_
