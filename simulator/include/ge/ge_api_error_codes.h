// Status codes of the session interface; the codes themselves are shared with the graph side.
#ifndef OPKIT_SIM_GE_API_ERROR_CODES_H_
#define OPKIT_SIM_GE_API_ERROR_CODES_H_

#include <map>
#include <string>

#include "external/ge_common/api_error_codes.h"
#include "ge/ge_api_types.h"

#endif  // OPKIT_SIM_GE_API_ERROR_CODES_H_
