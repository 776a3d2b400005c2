// What an operator may ask about the chip it is compiled for.
#ifndef OPKIT_SIM_PLATFORM_PLATFORM_INFOS_DEF_H_
#define OPKIT_SIM_PLATFORM_PLATFORM_INFOS_DEF_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "platform/platform_info_def.h"

namespace fe {

enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

class PlatFormInfosImpl;

// Tables of text: label ("version", "SoCInfo", "AICoreSpec"), key, value. A handle: copies share the tables. Calls on one that was neither
// filled by the framework nor initialised find nothing. The plain and the WithLock calls do the same: both lock.
class PlatFormInfos {
 public:
  bool Init();

  bool GetPlatformRes(const std::string &label, const std::string &key, std::string &val) const {
    ge::AscendString text;
    const bool found = Find(label.c_str(), key.c_str(), text);
    if (found) {
      val = text.GetString();
    }
    return found;
  }
  bool GetPlatformResWithLock(const std::string &label, const std::string &key, std::string &val) const {
    return GetPlatformRes(label, key, val);
  }
  bool GetPlatformRes(const std::string &label, std::map<std::string, std::string> &res) const {
    std::vector<std::pair<ge::AscendString, ge::AscendString>> table;
    const bool found = Table(label.c_str(), table);
    for (const auto &[key, value] : table) {
      res[key.GetString()] = value.GetString();
    }
    return found;
  }
  bool GetPlatformResWithLock(const std::string &label, std::map<std::string, std::string> &res) const {
    return GetPlatformRes(label, res);
  }
  // Adds the keys to the label's table; one that is there is replaced.
  void SetPlatformRes(const std::string &label, std::map<std::string, std::string> &res) {
    for (const auto &[key, value] : res) {
      Put(label.c_str(), key.c_str(), value.c_str());
    }
  }
  void SetPlatformResWithLock(const std::string &label, std::map<std::string, std::string> &res) { SetPlatformRes(label, res); }

  // "ai_core_cnt" of "SoCInfo"; 0 if it isn't there.
  uint32_t GetCoreNum() const;
  uint32_t GetCoreNumWithLock() const { return GetCoreNum(); }
  // Bytes of a memory of one core; 0 where the chip is described without it.
  void GetLocalMemSize(const LocalMemType &mem_type, uint64_t &size) const;

 private:
  bool Find(const char *label, const char *key, ge::AscendString &value) const;
  bool Table(const char *label, std::vector<std::pair<ge::AscendString, ge::AscendString>> &table) const;
  void Put(const char *label, const char *key, const char *value);

  std::shared_ptr<PlatFormInfosImpl> platform_infos_impl_;
};

class OptionalInfosImpl;

// The choices of one compilation: chip, core type, core number. A handle, as PlatFormInfos.
class OptionalInfos {
 public:
  bool Init();

  std::string GetSocVersion() const { return Get(0).GetString(); }
  std::string GetCoreType() const { return Get(1).GetString(); }
  uint32_t GetAICoreNum() const;
  void SetSocVersion(const std::string &soc_version) { Set(0, soc_version.c_str()); }
  void SetSocVersionWithLock(const std::string &soc_version) { SetSocVersion(soc_version); }
  void SetCoreType(const std::string &core_type) { Set(1, core_type.c_str()); }
  void SetAICoreNum(const uint32_t &ai_core_num);

 private:
  ge::AscendString Get(int which) const;
  void Set(int which, const char *value);

  std::shared_ptr<OptionalInfosImpl> optional_infos_impl_;
};

}  // namespace fe

#endif  // OPKIT_SIM_PLATFORM_PLATFORM_INFOS_DEF_H_
