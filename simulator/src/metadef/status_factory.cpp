#include <map>
#include <mutex>

#include "external/ge_common/api_error_codes.h"

namespace ge {
namespace {

struct Descriptions {
  std::mutex mutex;
  std::map<uint32_t, AscendString> texts;
};

// Never destroyed: static registrars of libraries that are unloaded late may still come.
Descriptions &Table() {
  static Descriptions *const table = new Descriptions;
  return *table;
}

}  // namespace

StatusFactory *StatusFactory::Instance() {
  static StatusFactory instance;
  return &instance;
}

void StatusFactory::RegisterErrorNo(const uint32_t err, const char *const desc) {
  if (desc == nullptr) {
    return;
  }
  const std::lock_guard<std::mutex> lock(Table().mutex);
  (void)Table().texts.emplace(err, AscendString(desc));
}

AscendString StatusFactory::GetErrDescV2(const uint32_t err) {
  const std::lock_guard<std::mutex> lock(Table().mutex);
  const auto found = Table().texts.find(err);
  return found == Table().texts.end() ? AscendString("") : found->second;
}

}  // namespace ge
