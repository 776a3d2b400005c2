// Shared types and all error codes, under the name that older programs include.
#ifndef OPKIT_SIM_ACL_ACL_BASE_H_
#define OPKIT_SIM_ACL_ACL_BASE_H_

#include "acl/acl_base_rt.h"
#include "acl/error_codes/ge_error_codes.h"
#include "acl/error_codes/rt_error_codes.h"

#endif  // OPKIT_SIM_ACL_ACL_BASE_H_
