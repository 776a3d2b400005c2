// The loops under every vector instruction: over a count of elements, or over repeats of eight 32-byte blocks under a mask; elementwise,
// checked once per call.
#ifndef OPKIT_SIM_ASCENDC_VECTOR_LOOP_H_
#define OPKIT_SIM_ASCENDC_VECTOR_LOOP_H_

#include "ascendc/params.h"
#include "ascendc/tensor.h"

// Instructions of one call touch equal or disjoint operands (anything else is undefined on a device), so a loop over them carries no
// dependence.
#if defined(__clang__)
#define OPKIT_SIM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define OPKIT_SIM_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace opkit_sim::ascendc {

template <typename T, typename... Types>
constexpr bool kIsOneOf = (std::is_same_v<T, Types> || ...);

template <typename T>
constexpr bool kIsHalfFloat = std::is_same_v<T, half> || std::is_same_v<T, float>;

template <typename T>
constexpr bool kIsArithmetic = kIsOneOf<T, int16_t, half, int32_t, float>;

// The type that an operation computes in; 16-bit floats are widened.
template <typename T>
using ComputeType = std::conditional_t<kIsOneOf<T, half, bfloat16_t>, float, T>;

constexpr uint32_t kChunk = 256;

inline void WidenMany(float *to, const half *from, uint32_t count) {
  uint32_t i = 0;
#if defined(__F16C__)
  typedef short Short8 __attribute__((vector_size(16), aligned(1), may_alias));
  typedef float Float8 __attribute__((vector_size(32), aligned(1), may_alias));
  for (; i + 8 <= count; i += 8) {
    *reinterpret_cast<Float8 *>(to + i) = __builtin_ia32_vcvtph2ps256(*reinterpret_cast<const Short8 *>(from + i));
  }
#endif
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

inline void NarrowMany(half *to, const float *from, uint32_t count) {
  uint32_t i = 0;
#if defined(__F16C__)
  typedef short Short8 __attribute__((vector_size(16), aligned(1), may_alias));
  typedef float Float8 __attribute__((vector_size(32), aligned(1), may_alias));
  for (; i + 8 <= count; i += 8) {
    *reinterpret_cast<Short8 *>(to + i) = __builtin_ia32_vcvtps2ph256(*reinterpret_cast<const Float8 *>(from + i), 0);
  }
#endif
  for (; i < count; ++i) to[i] = half(from[i]);
}

inline void WidenMany(float *to, const bfloat16_t *from, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) to[i] = FloatFromBfloatBits(from[i].Bits());
}

inline void NarrowMany(bfloat16_t *to, const float *from, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) to[i] = bfloat16_t::FromBits(BfloatBits(from[i], ::AscendC::RoundMode::CAST_RINT));
}

// One chunk of an operand in the type it is computed in: itself, or a widened copy.
template <typename T>
struct Chunk {
  const T *Load(const T *from, uint32_t) { return from; }
  T *Target(T *to) { return to; }
  void Store(T *, uint32_t) {}
};
template <>
struct Chunk<half> {
  float lanes[kChunk];
  const float *Load(const half *from, uint32_t count) {
    WidenMany(lanes, from, count);
    return lanes;
  }
  float *Target(half *) { return lanes; }
  void Store(half *to, uint32_t count) { NarrowMany(to, lanes, count); }
};
template <>
struct Chunk<bfloat16_t> {
  float lanes[kChunk];
  const float *Load(const bfloat16_t *from, uint32_t count) {
    WidenMany(lanes, from, count);
    return lanes;
  }
  float *Target(bfloat16_t *) { return lanes; }
  void Store(bfloat16_t *to, uint32_t count) { NarrowMany(to, lanes, count); }
};

template <typename... T>
constexpr bool kNeedsChunks = (!std::is_same_v<T, ComputeType<T>> || ...);

template <typename D, typename S, typename F>
inline void ForEach(D *dst, const S *src, uint64_t count, F op) {
  if constexpr (kNeedsChunks<D, S>) {
    for (uint64_t done = 0; done < count; done += kChunk) {
      const auto some = static_cast<uint32_t>(count - done < kChunk ? count - done : kChunk);
      Chunk<D> out;
      Chunk<S> in;
      const auto *a = in.Load(src + done, some);
      auto *to = out.Target(dst + done);
      OPKIT_SIM_INDEPENDENT
      for (uint32_t i = 0; i < some; ++i) to[i] = op(a[i]);
      out.Store(dst + done, some);
    }
  } else {
    OPKIT_SIM_INDEPENDENT
    for (uint64_t i = 0; i < count; ++i) dst[i] = op(src[i]);
  }
}

template <typename D, typename S0, typename S1, typename F>
inline void ForEach(D *dst, const S0 *src0, const S1 *src1, uint64_t count, F op) {
  if constexpr (kNeedsChunks<D, S0, S1>) {
    for (uint64_t done = 0; done < count; done += kChunk) {
      const auto some = static_cast<uint32_t>(count - done < kChunk ? count - done : kChunk);
      Chunk<D> out;
      Chunk<S0> in0;
      Chunk<S1> in1;
      const auto *a = in0.Load(src0 + done, some);
      const auto *b = in1.Load(src1 + done, some);
      auto *to = out.Target(dst + done);
      OPKIT_SIM_INDEPENDENT
      for (uint32_t i = 0; i < some; ++i) to[i] = op(a[i], b[i]);
      out.Store(dst + done, some);
    }
  } else {
    OPKIT_SIM_INDEPENDENT
    for (uint64_t i = 0; i < count; ++i) dst[i] = op(src0[i], src1[i]);
  }
}

// ---- counts

OPKIT_SIM_HOT void ResetMaskRegister(BlockState &block) {
  block.mask[0] = block.mask[1] = ~uint64_t{0};
  block.is_counter_mode = false;
}

// Gives the element count of a count form, which leaves the mask register full. Negative counts end the block.
OPKIT_SIM_HOT uint64_t UseCount(BlockState &block, const char *api, int64_t count, Where where) {
  if (OPKIT_SIM_UNLIKELY(count < 0 || count > 0x7fffffffll)) {
    Fail(block, rule::kCount, where, "%s: count %lld doesn't fit int32_t's positive range", api, static_cast<long long>(count));
  }
  ResetMaskRegister(block);
  return static_cast<uint64_t>(count);
}

// ---- masks and repeats

struct MaskBits {
  uint64_t word[2];
  bool Has(uint32_t i) const { return (word[i / 64] >> (i % 64) & 1) != 0; }
  // One more than the highest set position.
  uint32_t Extent() const {
    if (word[1] != 0) return 128 - static_cast<uint32_t>(__builtin_clzll(word[1]));
    if (word[0] != 0) return 64 - static_cast<uint32_t>(__builtin_clzll(word[0]));
    return 0;
  }
  bool IsContiguous() const {
    const uint32_t extent = Extent();
    return static_cast<uint32_t>(__builtin_popcountll(word[0]) + __builtin_popcountll(word[1])) == extent;
  }
};

constexpr MaskBits FirstElements(uint64_t count) {
  MaskBits bits{{0, 0}};
  bits.word[0] = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  bits.word[1] = count <= 64 ? 0 : count >= 128 ? ~uint64_t{0} : (uint64_t{1} << (count - 64)) - 1;
  return bits;
}

// The repeats of one call. `lanes` is how many elements of the widest operand a repeat has; `tail` is how many the last one has if counter
// mode ends inside it, else 0.
struct Repeats {
  MaskBits mask;
  uint32_t lanes;
  uint32_t times;
  uint32_t tail = 0;
  MaskBits MaskOf(uint32_t repeat) const { return tail != 0 && repeat + 1 == times ? FirstElements(tail) : mask; }
  bool IsNothing() const { return times == 0 || mask.Extent() == 0; }
};

inline uint32_t CheckRepeatTimes(BlockState &block, const char *api, int64_t times, Where where) {
  if (OPKIT_SIM_UNLIKELY(times < 0 || times > 255)) {
    Fail(block, rule::kRepeat, where, "%s: repeat times %lld don't fit uint8_t (a device would take %u)", api,
         static_cast<long long>(times), static_cast<unsigned>(static_cast<uint8_t>(times)));
  }
  return static_cast<uint32_t>(times);
}

// In counter mode the register holds the number of elements and the repeats follow from it.
inline Repeats FromRegister(BlockState &block, const char *api, uint32_t lanes, uint32_t times, Where where) {
  if (!block.is_counter_mode) {
    MaskBits mask{{block.mask[0], block.mask[1]}};
    const MaskBits most = FirstElements(lanes);
    return {{{mask.word[0] & most.word[0], mask.word[1] & most.word[1]}}, lanes, times};
  }
  const uint64_t count = block.mask[0];
  const uint64_t most = block.launch->ub_bytes / (256 / lanes);
  if (OPKIT_SIM_UNLIKELY(count > most)) {
    Fail(block, rule::kMask, where, "%s: in counter mode the mask register asks for %llu elements, but the UB holds %llu", api,
         static_cast<unsigned long long>(count), static_cast<unsigned long long>(most));
  }
  return {FirstElements(lanes), lanes, static_cast<uint32_t>((count + lanes - 1) / lanes), static_cast<uint32_t>(count % lanes)};
}

// The mask as a number of elements.
template <bool sets_mask>
inline Repeats UseRepeats(const char *api, uint32_t lanes, uint64_t mask, int64_t times, Where where) {
  BlockState &block = Block();
  const uint32_t checked = CheckRepeatTimes(block, api, times, where);
  if constexpr (!sets_mask) {
    return FromRegister(block, api, lanes, checked, where);
  } else {
    if (block.is_counter_mode) {
      block.mask[0] = mask;
      return FromRegister(block, api, lanes, checked, where);
    }
    if (OPKIT_SIM_UNLIKELY(mask > lanes)) {
      Fail(block, rule::kMask, where, "%s: mask %llu is over the %u elements of a repeat", api, static_cast<unsigned long long>(mask),
           lanes);
    }
    const MaskBits bits = FirstElements(mask);
    block.mask[0] = bits.word[0];
    block.mask[1] = bits.word[1];
    return {bits, lanes, checked};
  }
}

// The mask as bits; in counter mode its first word is the number of elements.
template <bool sets_mask>
inline Repeats UseRepeats(const char *api, uint32_t lanes, const uint64_t *mask, int64_t times, Where where) {
  BlockState &block = Block();
  const uint32_t checked = CheckRepeatTimes(block, api, times, where);
  if constexpr (!sets_mask) {
    return FromRegister(block, api, lanes, checked, where);
  } else {
    if (block.is_counter_mode) {
      block.mask[0] = mask[0];
      return FromRegister(block, api, lanes, checked, where);
    }
    const MaskBits bits{{mask[0], lanes > 64 ? mask[1] : 0}};
    if (OPKIT_SIM_UNLIKELY(lanes < 64 && bits.Extent() > lanes)) {
      Fail(block, rule::kMask, where, "%s: mask bit %u is over the %u elements of a repeat", api, bits.Extent() - 1, lanes);
    }
    block.mask[0] = bits.word[0];
    block.mask[1] = bits.word[1];
    return {bits, lanes, checked};
  }
}

inline uint64_t CheckStride(BlockState &block, const char *api, const char *name, int64_t value, int64_t most, Where where) {
  if (OPKIT_SIM_UNLIKELY(value < 0 || value > most)) {
    Fail(block, rule::kRepeat, where, "%s: %s is %lld, but must be 0..%lld", api, name, static_cast<long long>(value),
         static_cast<long long>(most));
  }
  return static_cast<uint64_t>(value);
}

// How one operand walks: strides in 32-byte blocks, between the blocks of a repeat and between repeats.
struct Walk {
  uint64_t block_stride;
  uint64_t repeat_stride;

  template <typename T>
  uint64_t Offset(uint32_t lane, uint32_t repeat) const {
    constexpr uint32_t kPerBlock = 32 / sizeof(T);
    return (repeat * repeat_stride + lane / kPerBlock * block_stride) * 32 + lane % kPerBlock * sizeof(T);
  }
  // Bytes from the operand's start to its last touched one.
  template <typename T>
  uint64_t Footprint(const Repeats &repeats) const {
    const uint64_t last = (repeats.times - 1) * repeat_stride * 32 + OneRepeat<T>(repeats.MaskOf(repeats.times - 1).Extent());
    if (repeats.tail == 0 || repeats.times == 1) return last;
    // With a small stride the whole repeat before the tail may end behind it.
    const uint64_t before = (repeats.times - 2) * repeat_stride * 32 + OneRepeat<T>(repeats.mask.Extent());
    return last > before ? last : before;
  }

 private:
  template <typename T>
  uint64_t OneRepeat(uint32_t extent) const {
    constexpr uint32_t kPerBlock = 32 / sizeof(T);
    return block_stride == 0 && extent > kPerBlock ? 32 : Offset<T>(extent - 1, 0) + sizeof(T);
  }
};

struct UnaryWalks {
  Walk dst, src;
};
struct BinaryWalks {
  Walk dst, src0, src1;
};

inline UnaryWalks WalksOf(BlockState &block, const char *api, const ::AscendC::UnaryRepeatParams &params, Where where) {
  return {{CheckStride(block, api, "dstBlkStride", params.dstBlkStride, 65535, where),
           CheckStride(block, api, "dstRepStride", params.dstRepStride, 255, where)},
          {CheckStride(block, api, "srcBlkStride", params.srcBlkStride, 65535, where),
           CheckStride(block, api, "srcRepStride", params.srcRepStride, 255, where)}};
}

inline BinaryWalks WalksOf(BlockState &block, const char *api, const ::AscendC::BinaryRepeatParams &params, Where where) {
  return {{CheckStride(block, api, "dstBlkStride", params.dstBlkStride, 255, where),
           CheckStride(block, api, "dstRepStride", params.dstRepStride, 255, where)},
          {CheckStride(block, api, "src0BlkStride", params.src0BlkStride, 255, where),
           CheckStride(block, api, "src0RepStride", params.src0RepStride, 255, where)},
          {CheckStride(block, api, "src1BlkStride", params.src1BlkStride, 255, where),
           CheckStride(block, api, "src1RepStride", params.src1RepStride, 255, where)}};
}

constexpr uint32_t LanesOf(size_t widest_bytes) { return static_cast<uint32_t>(256 / widest_bytes); }

// Calls op(lane, repeat, length) for every run of elements that is contiguous in all operands, in the device's order.
template <typename Op>
inline void ForEachRun(const Repeats &repeats, uint32_t run_limit, Op op) {
  const uint32_t extent = repeats.mask.Extent();
  for (uint32_t repeat = 0; repeat < repeats.times; ++repeat) {
    for (uint32_t lane = 0; lane < extent;) {
      if (!repeats.mask.Has(lane)) {
        ++lane;
        continue;
      }
      uint32_t length = 1;
      while (lane + length < extent && (lane + length) % run_limit != 0 && repeats.mask.Has(lane + length)) ++length;
      op(lane, repeat, length);
      lane += length;
    }
  }
}

// Counter mode ends inside the last repeat: it is done apart.
template <typename Op>
inline void ForEachRunOf(const Repeats &repeats, uint32_t run_limit, Op op) {
  if (repeats.tail == 0) {
    ForEachRun(repeats, run_limit, op);
    return;
  }
  Repeats whole = repeats;
  whole.times = repeats.times - 1;
  ForEachRun(whole, run_limit, op);
  const Repeats last{FirstElements(repeats.tail), repeats.lanes, 1};
  ForEachRun(last, run_limit, [&](uint32_t lane, uint32_t, uint32_t length) { op(lane, whole.times, length); });
}

template <typename T>
OPKIT_SIM_HOT T *Advance(T *base, uint64_t bytes) {
  return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(base) + bytes);
}

constexpr uint32_t RunLimit(bool is_dense, uint32_t lanes) { return is_dense ? lanes : lanes / 8; }

template <typename D, typename S, typename F>
inline void ForEachRepeat(const Repeats &repeats, D *dst, const Walk &dst_walk, const S *src, const Walk &src_walk, F op) {
  const bool is_dense = dst_walk.block_stride == 1 && src_walk.block_stride == 1;
  ForEachRunOf(repeats, RunLimit(is_dense, repeats.lanes), [&](uint32_t lane, uint32_t repeat, uint32_t length) {
    ForEach(Advance(dst, dst_walk.Offset<D>(lane, repeat)), Advance(src, src_walk.Offset<S>(lane, repeat)), length, op);
  });
}

template <typename D, typename S0, typename S1, typename F>
inline void ForEachRepeat(const Repeats &repeats, D *dst, const Walk &dst_walk, const S0 *src0, const Walk &src0_walk, const S1 *src1,
                          const Walk &src1_walk, F op) {
  const bool is_dense = dst_walk.block_stride == 1 && src0_walk.block_stride == 1 && src1_walk.block_stride == 1;
  ForEachRunOf(repeats, RunLimit(is_dense, repeats.lanes), [&](uint32_t lane, uint32_t repeat, uint32_t length) {
    ForEach(Advance(dst, dst_walk.Offset<D>(lane, repeat)), Advance(src0, src0_walk.Offset<S0>(lane, repeat)),
            Advance(src1, src1_walk.Offset<S1>(lane, repeat)), length, op);
  });
}

// ---- whole instructions: operands checked, then the loop

template <typename D, typename S, typename F>
OPKIT_SIM_HOT void UnaryCount(const char *api, const ::AscendC::LocalTensor<D> &dst, const ::AscendC::LocalTensor<S> &src, int64_t count,
                              Where where, F op) {
  BlockState &block = Block();
  const uint64_t elements = UseCount(block, api, count, where);
  if (elements == 0) return;
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src", src.Span(), elements * sizeof(S), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), elements * sizeof(D), where);
  ForEach(dst.Data(), static_cast<const S *>(src.Data()), elements, op);
}

template <typename D, typename S0, typename S1, typename F>
OPKIT_SIM_HOT void BinaryCount(const char *api, const ::AscendC::LocalTensor<D> &dst, const ::AscendC::LocalTensor<S0> &src0,
                               const ::AscendC::LocalTensor<S1> &src1, int64_t count, Where where, F op) {
  BlockState &block = Block();
  const uint64_t elements = UseCount(block, api, count, where);
  if (elements == 0) return;
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src0", src0.Span(), elements * sizeof(S0), where);
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src1", src1.Span(), elements * sizeof(S1), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), elements * sizeof(D), where);
  ForEach(dst.Data(), static_cast<const S0 *>(src0.Data()), static_cast<const S1 *>(src1.Data()), elements, op);
}

// The mask forms share one body: they differ only in how the repeats are given.
template <typename D, typename S, typename F>
inline void UnaryRepeat(const char *api, const ::AscendC::LocalTensor<D> &dst, const ::AscendC::LocalTensor<S> &src, const Repeats &repeats,
                        const ::AscendC::UnaryRepeatParams &params, Where where, F op) {
  BlockState &block = Block();
  const UnaryWalks walks = WalksOf(block, api, params, where);
  if (repeats.IsNothing()) return;
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src", src.Span(), walks.src.Footprint<S>(repeats), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), walks.dst.Footprint<D>(repeats), where);
  ForEachRepeat(repeats, dst.Data(), walks.dst, static_cast<const S *>(src.Data()), walks.src, op);
}

template <typename D, typename S0, typename S1, typename F>
inline void BinaryRepeat(const char *api, const ::AscendC::LocalTensor<D> &dst, const ::AscendC::LocalTensor<S0> &src0,
                         const ::AscendC::LocalTensor<S1> &src1, const Repeats &repeats, const ::AscendC::BinaryRepeatParams &params,
                         Where where, F op) {
  BlockState &block = Block();
  const BinaryWalks walks = WalksOf(block, api, params, where);
  if (repeats.IsNothing()) return;
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src0", src0.Span(), walks.src0.Footprint<S0>(repeats), where);
  CheckLocal<Access::kRead, Pipe::kVector>(block, api, "src1", src1.Span(), walks.src1.Footprint<S1>(repeats), where);
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), walks.dst.Footprint<D>(repeats), where);
  ForEachRepeat(repeats, dst.Data(), walks.dst, static_cast<const S0 *>(src0.Data()), walks.src0, static_cast<const S1 *>(src1.Data()),
                walks.src1, op);
}

}  // namespace opkit_sim::ascendc

#endif  // OPKIT_SIM_ASCENDC_VECTOR_LOOP_H_
