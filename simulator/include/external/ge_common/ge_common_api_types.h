// Option keys and callback types under the path that framework headers use; they are the session's.
#ifndef OPKIT_SIM_GE_COMMON_GE_COMMON_API_TYPES_H_
#define OPKIT_SIM_GE_COMMON_GE_COMMON_API_TYPES_H_

#include "ge/ge_api_types.h"

#endif  // OPKIT_SIM_GE_COMMON_GE_COMMON_API_TYPES_H_
