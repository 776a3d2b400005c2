// What a kernel asks of the core it runs on: block numbers, core state, workspace, caches, debug output.
#ifndef OPKIT_SIM_ASCENDC_SYSTEM_H_
#define OPKIT_SIM_ASCENDC_SYSTEM_H_

#include "ascendc/data_copy.h"
#include "ascendc/vector_loop.h"

namespace AscendC {

enum CoreType : int { AIC = 0, AIV, MIX };

inline int64_t GetBlockIdx() { return opkit_sim::ascendc::Block().block_idx; }
inline int64_t GetBlockNum() { return opkit_sim::ascendc::Block().launch->block_num; }

inline void InitSocState() {
  opkit_sim::ascendc::BlockState &block = opkit_sim::ascendc::Block();
  opkit_sim::ascendc::ResetMaskRegister(block);
  block.atomic = opkit_sim::ascendc::Atomic::kNone;
}

inline void SetMaskCount() { opkit_sim::ascendc::Block().is_counter_mode = true; }
inline void SetMaskNorm() { opkit_sim::ascendc::Block().is_counter_mode = false; }
inline void ResetMask() {
  opkit_sim::ascendc::BlockState &block = opkit_sim::ascendc::Block();
  block.mask[0] = block.mask[1] = ~uint64_t{0};
}

// `low` holds the elements 0..63 of a repeat, or in counter mode the number of elements.
template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(uint64_t high, uint64_t low) {
  opkit_sim::ascendc::BlockState &block = opkit_sim::ascendc::Block();
  block.mask[0] = low;
  block.mask[1] = high;
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(int32_t length) {
  namespace sim = opkit_sim::ascendc;
  const auto count = static_cast<uint64_t>(length);
  const sim::MaskBits bits = mode == MaskMode::COUNTER ? sim::MaskBits{{count, 0}} : sim::FirstElements(count);
  SetVectorMask<T, mode>(bits.word[1], bits.word[0]);
}

// The older spelling, which library headers for vector cores still use.
struct AscendCUtils {
  template <typename T>
  static void SetMask(int32_t length) {
    SetVectorMask<T>(length);
  }
  template <typename T>
  static void SetMask(uint64_t high, uint64_t low) {
    SetVectorMask<T>(high, low);
  }
};

// Device memory is coherent here.
template <typename T, CacheLine line, DcciDst destination = DcciDst::CACHELINE_OUT>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T> &) {}

template <typename T>
inline void InitGlobalMemory(GlobalTensor<T> &dst, uint64_t size, T value,
                             opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  namespace sim = opkit_sim::ascendc;
  sim::CheckGlobal<sim::Access::kWrite>(sim::Block(), "InitGlobalMemory", dst.Span(), size * sizeof(T), sizeof(T), where);
  sim::FillElements<T>(reinterpret_cast<uint8_t *>(dst.Span().address), size, value);
}

inline void SetSysWorkspace(GM_ADDR) {}

// A kernel that is launched directly is given the user's part alone.
inline __gm__ uint8_t *GetUserWorkspace(GM_ADDR workspace) { return workspace; }

template <typename... Values>
inline void printf(const char *format, Values... values) {
  if constexpr (sizeof...(Values) == 0) {
    std::fputs(format, stdout);
  } else {
    std::printf(format, values...);
  }
}

}  // namespace AscendC

// Only vector cores are emulated.
constexpr AscendC::CoreType g_coreType = AscendC::AIV;

inline int64_t get_block_idx() { return AscendC::GetBlockIdx(); }
inline int64_t get_block_num() { return AscendC::GetBlockNum(); }

namespace opkit_sim::ascendc {

[[noreturn]] OPKIT_SIM_COLD inline void FailAssertion(const char *condition, Where where) {
  Fail(Block(), rule::kAssert, where, "assertion failed: %s", condition);
}

}  // namespace opkit_sim::ascendc

#define ASSERT(condition) \
  (static_cast<bool>(condition) ? void() : ::opkit_sim::ascendc::FailAssertion(#condition, ::opkit_sim::ascendc::Where::Here()))
#define ascendc_assert(condition, ...) ASSERT(condition)

#endif  // OPKIT_SIM_ASCENDC_SYSTEM_H_
