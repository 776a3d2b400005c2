// The words that Ascend C adds to C++: address-space and entry qualifiers, GM_ADDR, core-type marks and debug macros, as a host compiler
// must read them.
#ifndef OPKIT_SIM_ASCENDC_LANGUAGE_H_
#define OPKIT_SIM_ASCENDC_LANGUAGE_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#ifndef __CCE_AICORE__
#define __CCE_AICORE__ 220
#endif

#ifndef __aicore__
#define __aicore__
#endif
#ifndef __host_aicore__
#define __host_aicore__
#endif
// RTC sets __global__ to its own mark to find the entries; it is gone from the text when that is compiled.
#ifndef __global__
#define __global__
#endif
#ifndef __gm__
#define __gm__
#endif
#ifndef __ubuf__
#define __ubuf__
#endif
#ifndef __cbuf__
#define __cbuf__
#endif
#ifndef __vector__
#define __vector__
#endif
#ifndef __inline__
#define __inline__ inline
#endif

#ifndef GM_ADDR
#define GM_ADDR __gm__ uint8_t *
#endif

// Only vector cores are emulated.
#define ASCEND_IS_AIV (true)
#define ASCEND_IS_AIC (false)

namespace AscendC {

enum KernelMetaType : int {
  KERNEL_TYPE_AIV_ONLY,
  KERNEL_TYPE_AIC_ONLY,
  KERNEL_TYPE_MIX_AIV_1_0,
  KERNEL_TYPE_MIX_AIC_1_0,
  KERNEL_TYPE_MIX_AIC_1_1,
  KERNEL_TYPE_MIX_AIC_1_2,
};

}  // namespace AscendC

namespace opkit_sim::ascendc {

// RTC finds this call in the preprocessed text to learn an entry's core type.
constexpr void DeclareTaskType(::AscendC::KernelMetaType) {}

}  // namespace opkit_sim::ascendc

#define KERNEL_TASK_TYPE_DEFAULT(type) ::opkit_sim::ascendc::DeclareTaskType(::AscendC::type)
#define KERNEL_TASK_TYPE(key, type) ::opkit_sim::ascendc::DeclareTaskType(::AscendC::type)

#endif  // OPKIT_SIM_ASCENDC_LANGUAGE_H_
