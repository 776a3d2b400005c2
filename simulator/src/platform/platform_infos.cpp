#include "platform/platform_infos_def.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "platform/platform_internal.h"

namespace fe {

class PlatFormInfosImpl {
 public:
  mutable std::mutex mutex;
  std::map<ge::AscendString, std::map<ge::AscendString, ge::AscendString>> tables;
};

class OptionalInfosImpl {
 public:
  std::mutex mutex;
  std::array<ge::AscendString, 2> texts;
  uint32_t ai_core_num = 0U;
};

namespace {

uint64_t AsNumber(const ge::AscendString &text) {
  errno = 0;
  char *end = nullptr;
  const unsigned long long number = std::strtoull(text.GetString(), &end, 10);
  return errno != 0 || end == text.GetString() || *end != '\0' ? 0U : number;
}

}  // namespace

bool PlatFormInfos::Init() {
  platform_infos_impl_ = std::make_shared<PlatFormInfosImpl>();
  return true;
}

bool PlatFormInfos::Find(const char *label, const char *key, ge::AscendString &value) const {
  if (platform_infos_impl_ == nullptr) {
    return false;
  }
  const std::lock_guard<std::mutex> lock(platform_infos_impl_->mutex);
  const auto table = platform_infos_impl_->tables.find(label);
  if (table == platform_infos_impl_->tables.end()) {
    return false;
  }
  const auto entry = table->second.find(key);
  if (entry == table->second.end()) {
    return false;
  }
  value = entry->second;
  return true;
}

bool PlatFormInfos::Table(const char *label, std::vector<std::pair<ge::AscendString, ge::AscendString>> &table) const {
  if (platform_infos_impl_ == nullptr) {
    return false;
  }
  const std::lock_guard<std::mutex> lock(platform_infos_impl_->mutex);
  const auto found = platform_infos_impl_->tables.find(label);
  if (found == platform_infos_impl_->tables.end()) {
    return false;
  }
  table.assign(found->second.begin(), found->second.end());
  return true;
}

void PlatFormInfos::Put(const char *label, const char *key, const char *value) {
  if (platform_infos_impl_ != nullptr) {
    const std::lock_guard<std::mutex> lock(platform_infos_impl_->mutex);
    platform_infos_impl_->tables[label][key] = value;
  }
}

uint32_t PlatFormInfos::GetCoreNum() const {
  ge::AscendString text;
  const uint64_t count = Find("SoCInfo", "ai_core_cnt", text) ? AsNumber(text) : 0U;
  return count > std::numeric_limits<uint32_t>::max() ? 0U : static_cast<uint32_t>(count);
}

void PlatFormInfos::GetLocalMemSize(const LocalMemType &mem_type, uint64_t &size) const {
  static const std::map<LocalMemType, std::pair<const char *, const char *>> kPlaces = {
      {LocalMemType::L0_A, {"AICoreSpec", "l0_a_size"}}, {LocalMemType::L0_B, {"AICoreSpec", "l0_b_size"}},
      {LocalMemType::L0_C, {"AICoreSpec", "l0_c_size"}}, {LocalMemType::L1, {"AICoreSpec", "l1_size"}},
      {LocalMemType::L2, {"SoCInfo", "l2_size"}},        {LocalMemType::UB, {"AICoreSpec", "ub_size"}},
      {LocalMemType::HBM, {"SoCInfo", "memory_size"}}};
  const auto place = kPlaces.find(mem_type);
  ge::AscendString text;
  size = place != kPlaces.end() && Find(place->second.first, place->second.second, text) ? AsNumber(text) : 0U;
}

bool OptionalInfos::Init() {
  optional_infos_impl_ = std::make_shared<OptionalInfosImpl>();
  return true;
}

uint32_t OptionalInfos::GetAICoreNum() const { return optional_infos_impl_ == nullptr ? 0U : optional_infos_impl_->ai_core_num; }

void OptionalInfos::SetAICoreNum(const uint32_t &ai_core_num) {
  if (optional_infos_impl_ != nullptr) {
    optional_infos_impl_->ai_core_num = ai_core_num;
  }
}

ge::AscendString OptionalInfos::Get(int which) const {
  if (optional_infos_impl_ == nullptr) {
    return ge::AscendString();
  }
  const std::lock_guard<std::mutex> lock(optional_infos_impl_->mutex);
  return optional_infos_impl_->texts.at(static_cast<size_t>(which));
}

void OptionalInfos::Set(int which, const char *value) {
  if (optional_infos_impl_ != nullptr) {
    const std::lock_guard<std::mutex> lock(optional_infos_impl_->mutex);
    optional_infos_impl_->texts.at(static_cast<size_t>(which)) = value;
  }
}

}  // namespace fe

namespace opkit_sim::platform {

void DescribeSimulatedChip(uint32_t ai_cores, uint32_t vector_cores, fe::PlatFormInfos &infos, fe::OptionalInfos &options) {
  (void)infos.Init();
  std::map<std::string, std::string> version = {{"NpuArch", "2201"}, {"SoC_version", "Ascend910B1"}, {"Short_SoC_version", "Ascend910B"}};
  std::map<std::string, std::string> soc = {{"ai_core_cnt", std::to_string(ai_cores)}, {"vector_core_cnt", std::to_string(vector_cores)}};
  std::map<std::string, std::string> core = {{"ub_size", std::to_string(192U * 1024U)}};
  infos.SetPlatformRes("version", version);
  infos.SetPlatformRes("SoCInfo", soc);
  infos.SetPlatformRes("AICoreSpec", core);
  (void)options.Init();
  options.SetSocVersion("Ascend910B1");
  options.SetCoreType("AiCore");
  options.SetAICoreNum(ai_cores);
}

}  // namespace opkit_sim::platform
