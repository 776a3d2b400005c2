// The former name of graph/error_codes.h in this folder.
#ifndef OPKIT_SIM_GE_COMMON_GE_ERROR_CODES_H_
#define OPKIT_SIM_GE_COMMON_GE_ERROR_CODES_H_

#include "graph/error_codes.h"

#endif  // OPKIT_SIM_GE_COMMON_GE_ERROR_CODES_H_
