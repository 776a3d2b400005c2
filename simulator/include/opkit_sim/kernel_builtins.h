// The words that a device compiler knows without any include; RTC includes this file first, before the kernel's own text.
#ifndef OPKIT_SIM_KERNEL_BUILTINS_H_
#define OPKIT_SIM_KERNEL_BUILTINS_H_

#include "opkit_sim/kernel_entry.h"

#ifndef __aicore__
#define __aicore__
#endif
#ifndef __gm__
#define __gm__
#endif
#ifndef __ubuf__
#define __ubuf__
#endif
#ifndef __cube__
#define __cube__
#endif
#ifndef __vector__
#define __vector__
#endif
#ifndef __mix__
#define __mix__(...)
#endif

#endif  // OPKIT_SIM_KERNEL_BUILTINS_H_
