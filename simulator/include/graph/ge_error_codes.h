// The former name of error_codes.h; ge/ge_api_error_codes.h still asks for it without a folder.
#ifndef OPKIT_SIM_GRAPH_GE_ERROR_CODES_H_
#define OPKIT_SIM_GRAPH_GE_ERROR_CODES_H_

#include "graph/error_codes.h"

#endif  // OPKIT_SIM_GRAPH_GE_ERROR_CODES_H_
