// Elementwise arithmetic: tensor with tensor, tensor with scalar, functions of one tensor, bitwise operations and Duplicate.
#ifndef OPKIT_SIM_ASCENDC_ARITHMETIC_H_
#define OPKIT_SIM_ASCENDC_ARITHMETIC_H_

#include "ascendc/vector_loop.h"

namespace opkit_sim::ascendc {

// Integers wrap, as a vector unit's do; the compiler may not assume that they don't overflow.
template <typename T>
constexpr T WrapAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}
template <typename T>
constexpr T WrapSub(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
  } else {
    return a - b;
  }
}
template <typename T>
constexpr T WrapMul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    // 16-bit operands are promoted to int, whose product could overflow: 32 bits hold every factor.
    return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
  } else {
    return a * b;
  }
}

// Written so that the vectoriser makes one instruction of it.
template <typename T>
constexpr T Larger(T a, T b) {
  return a < b ? b : a;
}
template <typename T>
constexpr T Smaller(T a, T b) {
  return b < a ? b : a;
}

struct AddOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a, T b) const {
    return WrapAdd(a, b);
  }
};
struct SubOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a, T b) const {
    return WrapSub(a, b);
  }
};
struct MulOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a, T b) const {
    return WrapMul(a, b);
  }
};
struct DivOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a, T b) const {
    return a / b;
  }
};
struct MaxOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a, T b) const {
    return Larger(a, b);
  }
};
struct MinOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a, T b) const {
    return Smaller(a, b);
  }
};
struct AndOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct OrOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct NotOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct ReluOp {
  template <typename T>
  OPKIT_SIM_HOT T operator()(T a) const {
    return Larger(a, T{0});
  }
};
struct AbsOp {
  OPKIT_SIM_HOT float operator()(float a) const { return __builtin_fabsf(a); }
};
struct ExpOp {
  OPKIT_SIM_HOT float operator()(float a) const { return __builtin_expf(a); }
};
struct LnOp {
  OPKIT_SIM_HOT float operator()(float a) const { return __builtin_logf(a); }
};
struct SqrtOp {
  OPKIT_SIM_HOT float operator()(float a) const { return __builtin_sqrtf(a); }
};
struct RsqrtOp {
  OPKIT_SIM_HOT float operator()(float a) const { return 1.0f / __builtin_sqrtf(a); }
};
struct ReciprocalOp {
  OPKIT_SIM_HOT float operator()(float a) const { return 1.0f / a; }
};

// A binary operation whose second operand is a scalar.
template <typename Op, typename C>
struct WithScalar {
  C scalar;
  OPKIT_SIM_HOT C operator()(C a) const { return Op{}(a, scalar); }
};

struct AxpyOp {
  float scalar;
  OPKIT_SIM_HOT float operator()(float a, float sum) const { return sum + a * scalar; }
};

template <typename T, typename U>
constexpr bool kIsAxpyPair = (std::is_same_v<T, U> && kIsHalfFloat<T>) || (std::is_same_v<T, float> && std::is_same_v<U, half>);

template <typename T>
constexpr bool kIsDuplicable = kIsOneOf<T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float>;

template <typename T>
constexpr ComputeType<T> Widened(T scalar) {
  return static_cast<ComputeType<T>>(scalar);
}

template <typename T>
OPKIT_SIM_HOT void FillCount(const char *api, const ::AscendC::LocalTensor<T> &dst, T value, int64_t count, Where where) {
  BlockState &block = Block();
  const uint64_t elements = UseCount(block, api, count, where);
  if (elements == 0) return;
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), elements * sizeof(T), where);
  T *to = dst.Data();
  for (uint64_t i = 0; i < elements; ++i) to[i] = value;
}

template <typename T>
inline void FillRepeat(const char *api, const ::AscendC::LocalTensor<T> &dst, T value, const Repeats &repeats, int64_t block_stride,
                       int64_t repeat_stride, Where where) {
  BlockState &block = Block();
  const Walk walk{CheckStride(block, api, "dstBlockStride", block_stride, 65535, where),
                  CheckStride(block, api, "dstRepeatStride", repeat_stride, 255, where)};
  if (repeats.IsNothing()) return;
  CheckLocal<Access::kWrite, Pipe::kVector>(block, api, "dst", dst.Span(), walk.Footprint<T>(repeats), where);
  ForEachRunOf(repeats, RunLimit(walk.block_stride == 1, repeats.lanes), [&](uint32_t lane, uint32_t repeat, uint32_t length) {
    T *to = Advance(dst.Data(), walk.Offset<T>(lane, repeat));
    for (uint32_t i = 0; i < length; ++i) to[i] = value;
  });
}

}  // namespace opkit_sim::ascendc

namespace AscendC {

#define OPKIT_SIM_BINARY(NAME, OP, ALLOWED, LIST)                                                                                        \
  template <typename T>                                                                                                                  \
  OPKIT_SIM_HOT void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, int64_t count,              \
                          opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                                         \
    static_assert(ALLOWED, #NAME " takes " LIST);                                                                                        \
    opkit_sim::ascendc::BinaryCount(#NAME, dst, src0, src1, count, where, opkit_sim::ascendc::OP{});                                     \
  }                                                                                                                                      \
  template <typename T, bool isSetMask = true>                                                                                           \
  inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask, int64_t repeatTime, \
                   const BinaryRepeatParams &params, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {              \
    static_assert(ALLOWED, #NAME " takes " LIST);                                                                                        \
    opkit_sim::ascendc::BinaryRepeat(#NAME, dst, src0, src1,                                                                             \
                                     opkit_sim::ascendc::UseRepeats<isSetMask>(#NAME, 256 / sizeof(T), mask, repeatTime, where), params, \
                                     where, opkit_sim::ascendc::OP{});                                                                   \
  }                                                                                                                                      \
  template <typename T, bool isSetMask = true>                                                                                           \
  inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const uint64_t mask[],             \
                   int64_t repeatTime, const BinaryRepeatParams &params,                                                                 \
                   opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                                                \
    static_assert(ALLOWED, #NAME " takes " LIST);                                                                                        \
    opkit_sim::ascendc::BinaryRepeat(#NAME, dst, src0, src1,                                                                             \
                                     opkit_sim::ascendc::UseRepeats<isSetMask>(#NAME, 256 / sizeof(T), mask, repeatTime, where), params, \
                                     where, opkit_sim::ascendc::OP{});                                                                   \
  }

OPKIT_SIM_BINARY(Add, AddOp, opkit_sim::ascendc::kIsArithmetic<T>, "int16_t, half, int32_t and float; cast other types first")
OPKIT_SIM_BINARY(Sub, SubOp, opkit_sim::ascendc::kIsArithmetic<T>, "int16_t, half, int32_t and float; cast other types first")
OPKIT_SIM_BINARY(Mul, MulOp, opkit_sim::ascendc::kIsArithmetic<T>, "int16_t, half, int32_t and float; cast other types first")
OPKIT_SIM_BINARY(Max, MaxOp, opkit_sim::ascendc::kIsArithmetic<T>, "int16_t, half, int32_t and float; cast other types first")
OPKIT_SIM_BINARY(Min, MinOp, opkit_sim::ascendc::kIsArithmetic<T>, "int16_t, half, int32_t and float; cast other types first")
OPKIT_SIM_BINARY(Div, DivOp, opkit_sim::ascendc::kIsHalfFloat<T>, "half and float")
OPKIT_SIM_BINARY(And, AndOp, (opkit_sim::ascendc::kIsOneOf<T, int16_t, uint16_t>),
                 "int16_t and uint16_t; reinterpret wider types and double the count")
OPKIT_SIM_BINARY(Or, OrOp, (opkit_sim::ascendc::kIsOneOf<T, int16_t, uint16_t>),
                 "int16_t and uint16_t; reinterpret wider types and double the count")
#undef OPKIT_SIM_BINARY

#define OPKIT_SIM_UNARY(NAME, OP, ALLOWED, LIST)                                                                                        \
  template <typename T>                                                                                                                 \
  OPKIT_SIM_HOT void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, int64_t count,                                          \
                          opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                                        \
    static_assert(ALLOWED, #NAME " takes " LIST);                                                                                       \
    opkit_sim::ascendc::UnaryCount(#NAME, dst, src, count, where, opkit_sim::ascendc::OP{});                                            \
  }                                                                                                                                     \
  template <typename T, bool isSetMask = true>                                                                                          \
  inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, int64_t repeatTime,                             \
                   const UnaryRepeatParams &params, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {              \
    static_assert(ALLOWED, #NAME " takes " LIST);                                                                                       \
    opkit_sim::ascendc::UnaryRepeat(#NAME, dst, src,                                                                                    \
                                    opkit_sim::ascendc::UseRepeats<isSetMask>(#NAME, 256 / sizeof(T), mask, repeatTime, where), params, \
                                    where, opkit_sim::ascendc::OP{});                                                                   \
  }                                                                                                                                     \
  template <typename T, bool isSetMask = true>                                                                                          \
  inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], int64_t repeatTime,                     \
                   const UnaryRepeatParams &params, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {              \
    static_assert(ALLOWED, #NAME " takes " LIST);                                                                                       \
    opkit_sim::ascendc::UnaryRepeat(#NAME, dst, src,                                                                                    \
                                    opkit_sim::ascendc::UseRepeats<isSetMask>(#NAME, 256 / sizeof(T), mask, repeatTime, where), params, \
                                    where, opkit_sim::ascendc::OP{});                                                                   \
  }

OPKIT_SIM_UNARY(Abs, AbsOp, opkit_sim::ascendc::kIsHalfFloat<T>, "half and float")
OPKIT_SIM_UNARY(Exp, ExpOp, opkit_sim::ascendc::kIsHalfFloat<T>, "half and float")
OPKIT_SIM_UNARY(Ln, LnOp, opkit_sim::ascendc::kIsHalfFloat<T>, "half and float")
OPKIT_SIM_UNARY(Sqrt, SqrtOp, opkit_sim::ascendc::kIsHalfFloat<T>, "half and float")
OPKIT_SIM_UNARY(Rsqrt, RsqrtOp, opkit_sim::ascendc::kIsHalfFloat<T>, "half and float")
OPKIT_SIM_UNARY(Reciprocal, ReciprocalOp, opkit_sim::ascendc::kIsHalfFloat<T>, "half and float")
OPKIT_SIM_UNARY(Relu, ReluOp, (opkit_sim::ascendc::kIsOneOf<T, half, int32_t, float>), "half, int32_t and float")
OPKIT_SIM_UNARY(Not, NotOp, (opkit_sim::ascendc::kIsOneOf<T, int16_t, uint16_t>),
                "int16_t and uint16_t; reinterpret wider types and double the count")
#undef OPKIT_SIM_UNARY

#define OPKIT_SIM_SCALAR(NAME, OP)                                                                                                      \
  template <typename T, bool isSetMask = true>                                                                                          \
  OPKIT_SIM_HOT void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, int64_t count,                         \
                          opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {                                        \
    static_assert(opkit_sim::ascendc::kIsArithmetic<T>, #NAME " takes int16_t, half, int32_t and float; cast other types first");       \
    using Op = opkit_sim::ascendc::WithScalar<opkit_sim::ascendc::OP, opkit_sim::ascendc::ComputeType<T>>;                              \
    opkit_sim::ascendc::UnaryCount(#NAME, dst, src, count, where, Op{opkit_sim::ascendc::Widened(scalar)});                             \
  }                                                                                                                                     \
  template <typename T, bool isSetMask = true>                                                                                          \
  inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, uint64_t mask, int64_t repeatTime,            \
                   const UnaryRepeatParams &params, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {              \
    static_assert(opkit_sim::ascendc::kIsArithmetic<T>, #NAME " takes int16_t, half, int32_t and float; cast other types first");       \
    using Op = opkit_sim::ascendc::WithScalar<opkit_sim::ascendc::OP, opkit_sim::ascendc::ComputeType<T>>;                              \
    opkit_sim::ascendc::UnaryRepeat(#NAME, dst, src,                                                                                    \
                                    opkit_sim::ascendc::UseRepeats<isSetMask>(#NAME, 256 / sizeof(T), mask, repeatTime, where), params, \
                                    where, Op{opkit_sim::ascendc::Widened(scalar)});                                                    \
  }                                                                                                                                     \
  template <typename T, bool isSetMask = true>                                                                                          \
  inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, const uint64_t mask[], int64_t repeatTime,    \
                   const UnaryRepeatParams &params, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {              \
    static_assert(opkit_sim::ascendc::kIsArithmetic<T>, #NAME " takes int16_t, half, int32_t and float; cast other types first");       \
    using Op = opkit_sim::ascendc::WithScalar<opkit_sim::ascendc::OP, opkit_sim::ascendc::ComputeType<T>>;                              \
    opkit_sim::ascendc::UnaryRepeat(#NAME, dst, src,                                                                                    \
                                    opkit_sim::ascendc::UseRepeats<isSetMask>(#NAME, 256 / sizeof(T), mask, repeatTime, where), params, \
                                    where, Op{opkit_sim::ascendc::Widened(scalar)});                                                    \
  }

OPKIT_SIM_SCALAR(Adds, AddOp)
OPKIT_SIM_SCALAR(Muls, MulOp)
OPKIT_SIM_SCALAR(Maxs, MaxOp)
OPKIT_SIM_SCALAR(Mins, MinOp)
#undef OPKIT_SIM_SCALAR

// dst += src * scalar, computed in float.
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalar, int64_t count,
                 opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  static_assert(opkit_sim::ascendc::kIsAxpyPair<T, U>, "Axpy takes half and half, float and float, or float and half");
  opkit_sim::ascendc::BinaryCount("Axpy", dst, src, dst, count, where, opkit_sim::ascendc::AxpyOp{static_cast<float>(scalar)});
}
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalar, uint64_t mask, int64_t repeatTime,
                 const UnaryRepeatParams &params, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  static_assert(opkit_sim::ascendc::kIsAxpyPair<T, U>, "Axpy takes half and half, float and float, or float and half");
  const BinaryRepeatParams walks(params.dstBlkStride, params.srcBlkStride, params.dstBlkStride, params.dstRepStride, params.srcRepStride,
                                 params.dstRepStride);
  opkit_sim::ascendc::BinaryRepeat("Axpy", dst, src, dst,
                                   opkit_sim::ascendc::UseRepeats<isSetMask>("Axpy", 256 / sizeof(T), mask, repeatTime, where), walks,
                                   where, opkit_sim::ascendc::AxpyOp{static_cast<float>(scalar)});
}

template <typename T>
OPKIT_SIM_HOT void Duplicate(const LocalTensor<T> &dst, const T &value, int64_t count,
                             opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  static_assert(opkit_sim::ascendc::kIsDuplicable<T>, "Duplicate takes int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t and float");
  opkit_sim::ascendc::FillCount("Duplicate", dst, value, count, where);
}
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T> &dst, const T &value, uint64_t mask, int64_t repeatTime, int64_t dstBlockStride,
                      int64_t dstRepeatStride, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  static_assert(opkit_sim::ascendc::kIsDuplicable<T>, "Duplicate takes int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t and float");
  opkit_sim::ascendc::FillRepeat("Duplicate", dst, value,
                                 opkit_sim::ascendc::UseRepeats<isSetMask>("Duplicate", 256 / sizeof(T), mask, repeatTime, where),
                                 dstBlockStride, dstRepeatStride, where);
}
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T> &dst, const T &value, const uint64_t mask[], int64_t repeatTime, int64_t dstBlockStride,
                      int64_t dstRepeatStride, opkit_sim::ascendc::Where where = opkit_sim::ascendc::Where::Here()) {
  static_assert(opkit_sim::ascendc::kIsDuplicable<T>, "Duplicate takes int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t and float");
  opkit_sim::ascendc::FillRepeat("Duplicate", dst, value,
                                 opkit_sim::ascendc::UseRepeats<isSetMask>("Duplicate", 256 / sizeof(T), mask, repeatTime, where),
                                 dstBlockStride, dstRepeatStride, where);
}

}  // namespace AscendC

#endif  // OPKIT_SIM_ASCENDC_ARITHMETIC_H_
