// The former name of ge_common_api_types.h.
#ifndef OPKIT_SIM_GE_COMMON_GE_API_TYPES_H_
#define OPKIT_SIM_GE_COMMON_GE_API_TYPES_H_

#include "external/ge_common/ge_common_api_types.h"

#endif  // OPKIT_SIM_GE_COMMON_GE_API_TYPES_H_
