// How a kernel reads its tiling data and asks for its tiling key. A struct that the host declares by macros of its own must be given as
// plain C++ here.
#ifndef OPKIT_SIM_ASCENDC_TILING_H_
#define OPKIT_SIM_ASCENDC_TILING_H_

#include "ascendc/tensor.h"

namespace opkit_sim::ascendc {

template <typename T>
inline T ReadTiling(GM_ADDR tiling, Where where) {
  static_assert(std::is_trivially_copyable_v<T>, "tiling data must be trivially copyable");
  BlockState &block = Block();
  CheckGlobal<Access::kRead>(block, "GET_TILING_DATA", FindGlobal(block, reinterpret_cast<uintptr_t>(tiling)), sizeof(T), 0, where);
  return LoadScalar<T>(tiling);
}

}  // namespace opkit_sim::ascendc

// The struct that a plain GET_TILING_DATA means from here on.
#define REGISTER_TILING_DEFAULT(type) using OpkitSimDefaultTiling = type
#define REGISTER_NONE_TILING static_assert(true, "")
#define GET_TILING_DATA(name, tiling) GET_TILING_DATA_WITH_STRUCT(OpkitSimDefaultTiling, name, tiling)
#define GET_TILING_DATA_WITH_STRUCT(type, name, tiling) \
  const type name = ::opkit_sim::ascendc::ReadTiling<type>(tiling, ::opkit_sim::ascendc::Where::Here())
#define GET_TILING_DATA_MEMBER(type, member, name, tiling) \
  const auto name = ::opkit_sim::ascendc::ReadTiling<type>(tiling, ::opkit_sim::ascendc::Where::Here()).member

// One compiled variant has one key: give it with -DTILING_KEY_VAR=<key>.
#ifndef TILING_KEY_VAR
#define TILING_KEY_VAR 0
#endif
#define TILING_KEY_IS(key) ((TILING_KEY_VAR) == (key))

#endif  // OPKIT_SIM_ASCENDC_TILING_H_
