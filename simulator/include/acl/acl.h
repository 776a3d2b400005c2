// The one header that host programs include for everything of acl.
#ifndef OPKIT_SIM_ACL_ACL_H_
#define OPKIT_SIM_ACL_ACL_H_

#include "acl/acl_rt.h"

#endif  // OPKIT_SIM_ACL_ACL_H_
