// Integer arithmetic that says whether it overflowed.
#ifndef OPKIT_SIM_UTILS_EXTERN_MATH_UTIL_H_
#define OPKIT_SIM_UTILS_EXTERN_MATH_UTIL_H_

#include <cstdint>
#include <limits>
#include <type_traits>

namespace ge {

// IntegerChecker<int32_t>::Compat(v): the value of `v` is one that an int32_t can hold.
template <typename T>
class IntegerChecker {
 public:
  template <typename T1>
  static bool Compat(const T1 v) {
    static_assert(std::is_integral_v<T> && std::is_integral_v<T1>, "integers only");
    if constexpr (std::is_signed_v<T1>) {
      if (v < 0) {
        return static_cast<int64_t>(v) >= static_cast<int64_t>(std::numeric_limits<T>::min());
      }
    }
    return static_cast<uint64_t>(v) <= static_cast<uint64_t>(std::numeric_limits<T>::max());
  }
};

// True if the exact result doesn't fit TRet; `ret` then holds its low bits.
template <typename TLhs, typename TRhs, typename TRet>
bool MulOverflow(TLhs lhs, TRhs rhs, TRet &ret) {
  return __builtin_mul_overflow(lhs, rhs, &ret);
}

template <typename TLhs, typename TRhs, typename TRet>
bool AddOverflow(TLhs lhs, TRhs rhs, TRet &ret) {
  return __builtin_add_overflow(lhs, rhs, &ret);
}

}  // namespace ge

#endif  // OPKIT_SIM_UTILS_EXTERN_MATH_UTIL_H_
