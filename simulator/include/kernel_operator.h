// The Ascend C kernel API on a host: what a kernel source includes. It emulates the vector side of one core; a function that isn't emulated
// isn't declared, so that using it is a compile error. Compile kernels with -fno-strict-aliasing, for they pun types through pointers as
// device code does; with -ffp-contract=off, so that a product and a sum round as two instructions; and with -fvisibility=hidden, so that
// kernels loaded side by side share nothing.
#ifndef OPKIT_SIM_KERNEL_OPERATOR_H_
#define OPKIT_SIM_KERNEL_OPERATOR_H_

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "ascendc/arithmetic.h"
#include "ascendc/cast.h"
#include "ascendc/compare.h"
#include "ascendc/data_copy.h"
#include "ascendc/enums.h"
#include "ascendc/events.h"
#include "ascendc/language.h"
#include "ascendc/list_tensor.h"
#include "ascendc/params.h"
#include "ascendc/pipe.h"
#include "ascendc/reduce.h"
#include "ascendc/run_block.h"
#include "ascendc/scalar_types.h"
#include "ascendc/system.h"
#include "ascendc/tensor.h"
#include "ascendc/tiling.h"

#endif  // OPKIT_SIM_KERNEL_OPERATOR_H_
