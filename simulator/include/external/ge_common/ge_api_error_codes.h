// The former name of api_error_codes.h.
#ifndef OPKIT_SIM_GE_COMMON_GE_API_ERROR_CODES_H_
#define OPKIT_SIM_GE_COMMON_GE_API_ERROR_CODES_H_

#include "external/ge_common/api_error_codes.h"

#endif  // OPKIT_SIM_GE_COMMON_GE_API_ERROR_CODES_H_
