// How a call of the runtime fails: a code for the program and one sentence for the person, kept per thread for aclGetRecentErrMsg.
#ifndef OPKIT_SIM_SRC_ACL_ERROR_TEXT_H_
#define OPKIT_SIM_SRC_ACL_ERROR_TEXT_H_

#include "acl/acl_rt.h"

namespace opkit_sim::rt {

// Keeps the sentence as the calling thread's recent text and gives the code back.
[[gnu::format(printf, 2, 3)]] aclError Refuse(aclError code, const char *format, ...);

// The same for a text that exists already.
aclError RefuseWith(aclError code, const char *text);

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_ERROR_TEXT_H_
