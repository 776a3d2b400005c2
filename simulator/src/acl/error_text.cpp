// Per-thread error texts and codes.
#include "acl/error_text.h"

#include <cstdarg>
#include <cstdio>
#include <string>

#include "acl/runtime_internal.h"

namespace opkit_sim::rt {
namespace {

// More text than a person reads is dropped at the front: the last mistakes are what is asked for.
constexpr size_t kMaxText = 16384;

struct ThreadErrors {
  std::string pending;
  std::string handed_out;
  aclError last = ACL_SUCCESS;
};

thread_local ThreadErrors thread_errors;

}  // namespace

void SetRecentError(const char *text) {
  std::string &pending = thread_errors.pending;
  if (!pending.empty()) pending += '\n';
  pending += text;
  if (pending.size() > kMaxText) pending.erase(0, pending.size() - kMaxText);
}

aclError RefuseWith(aclError code, const char *text) {
  char head[32];
  std::snprintf(head, sizeof head, "[%d] ", code);
  SetRecentError((head + std::string(text)).c_str());
  thread_errors.last = code;
  return code;
}

aclError Refuse(aclError code, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return RefuseWith(code, text);
}

}  // namespace opkit_sim::rt

using namespace opkit_sim::rt;

extern "C" {

const char *aclGetRecentErrMsg() {
  ThreadErrors &errors = thread_errors;
  errors.handed_out.swap(errors.pending);
  errors.pending.clear();
  return errors.handed_out.empty() ? nullptr : errors.handed_out.c_str();
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL)
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtPeekAtLastError: level %d is unknown", static_cast<int>(level));
  return thread_errors.last;
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL)
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtGetLastError: level %d is unknown", static_cast<int>(level));
  const aclError last = thread_errors.last;
  thread_errors.last = ACL_SUCCESS;
  return last;
}

}  // extern "C"
