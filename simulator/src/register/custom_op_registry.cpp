#include "register/custom_op_registry.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "metadef/report.h"

namespace opkit_sim::custom_op {
namespace {
struct Entry {
  ge::BaseOpCreator creator;
  std::unique_ptr<ge::BaseCustomOp> instance;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Entry> entries;
};

// Never destroyed: the ops' code lives in libraries whose own statics may already be gone when the process exits.
Registry &TheRegistry() {
  static auto *registry = new Registry;
  return *registry;
}

// A creator may register or look up types itself, so it runs outside the lock; of two threads that race the first instance stays.
ge::BaseCustomOp *Create(Registry &registry, const char *op_type, const ge::BaseOpCreator &creator) {
  std::unique_ptr<ge::BaseCustomOp> created = creator ? creator() : nullptr;
  const std::lock_guard<std::mutex> lock(registry.mutex);
  Entry &entry = registry.entries[op_type];
  if (entry.instance == nullptr) {
    entry.instance = std::move(created);
  }
  return entry.instance.get();
}

void Register(const char *op_type, ge::BaseOpCreator creator) {
  Registry &registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  // Of two registrations the first stays (ge custom_op_registry: RegisterCreator refuses, its caller ignores that).
  if (!registry.entries.try_emplace(op_type, Entry{std::move(creator), nullptr}).second) {
    ReportWarning("custom op type %s already exist, this registration is ignored", op_type);
  }
}
}  // namespace

bool IsRegistered(const char *op_type) {
  Registry &registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  return registry.entries.count(op_type) > 0;
}

ge::BaseCustomOp *Instance(const char *op_type) {
  Registry &registry = TheRegistry();
  ge::BaseOpCreator creator;
  {
    const std::lock_guard<std::mutex> lock(registry.mutex);
    const auto found = registry.entries.find(op_type);
    if (found == registry.entries.end()) {
      return nullptr;
    }
    if (found->second.instance != nullptr) {
      return found->second.instance.get();
    }
    creator = found->second.creator;
  }
  return Create(registry, op_type, creator);
}
}  // namespace opkit_sim::custom_op

namespace ge {
CustomOpCreatorRegister::CustomOpCreatorRegister(const AscendString &operator_type, const BaseOpCreator &op_creator) {
  opkit_sim::custom_op::Register(operator_type.GetString(), op_creator);
}

CustomOpCreatorRegister::CustomOpCreatorRegister(const AscendString &operator_type, const CustomOpCreateFunc op_creator) {
  opkit_sim::custom_op::Register(operator_type.GetString(), [op_creator] { return std::unique_ptr<BaseCustomOp>(op_creator()); });
}
}  // namespace ge
