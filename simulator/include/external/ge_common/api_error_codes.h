// ge::Status, how its codes are composed, and the process-wide table of their descriptions.
#ifndef OPKIT_SIM_GE_COMMON_API_ERROR_CODES_H_
#define OPKIT_SIM_GE_COMMON_API_ERROR_CODES_H_

#include <cstdint>
#include <string>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"

// A code: runtime in 2 bits, type 2, level 3, system 8, module 5, value 12, from the top.
#ifndef GE_ERRORNO_DEFINE
#define GE_ERRORNO_DEFINE(runtime, type, level, sysid, modid, name, value)                                                       \
  constexpr ge::Status name = ((static_cast<uint32_t>(runtime) & 0x3U) << 30U) | ((static_cast<uint32_t>(type) & 0x3U) << 28U) | \
                              ((static_cast<uint32_t>(level) & 0x7U) << 25U) | ((static_cast<uint32_t>(sysid) & 0xFFU) << 17U) | \
                              ((static_cast<uint32_t>(modid) & 0x1FU) << 12U) | (static_cast<uint32_t>(value) & 0xFFFU)
#endif

// In namespace ge: gives a code its description when the translation unit starts.
#ifndef GE_ERRORNO_EXTERNAL
#define GE_ERRORNO_EXTERNAL(name, desc) const ge::ErrorNoRegisterar g_errorno_##name((name), (desc))
#endif

#ifndef GE_ERRORNO
#define GE_ERRORNO(runtime, type, level, sysid, modid, name, value, desc) \
  GE_ERRORNO_DEFINE(runtime, type, level, sysid, modid, name, value);     \
  GE_ERRORNO_EXTERNAL(name, desc)
#endif

namespace ge {

using Status = uint32_t;

// The first description of a code stays.
class GE_FUNC_VISIBILITY StatusFactory {
 public:
  static StatusFactory *Instance();

  void RegisterErrorNo(const uint32_t err, const char *const desc);
  void RegisterErrorNo(const uint32_t err, const std::string &desc) { RegisterErrorNo(err, desc.c_str()); }

  // "" for a code that nobody described.
  AscendString GetErrDescV2(const uint32_t err);
  std::string GetErrDesc(const uint32_t err) { return GetErrDescV2(err).GetString(); }

  StatusFactory(const StatusFactory &) = delete;
  StatusFactory &operator=(const StatusFactory &) = delete;

 protected:
  StatusFactory() = default;
  ~StatusFactory() = default;
};

class GE_FUNC_VISIBILITY ErrorNoRegisterar {
 public:
  ErrorNoRegisterar(const uint32_t err, const char *const desc) noexcept { StatusFactory::Instance()->RegisterErrorNo(err, desc); }
  ErrorNoRegisterar(const uint32_t err, const std::string &desc) noexcept : ErrorNoRegisterar(err, desc.c_str()) {}
  ~ErrorNoRegisterar() = default;
};

GE_ERRORNO(0b00, 0b00, 0b000, 0x00U, 0b00000, SUCCESS, 0x000U, "success");
GE_ERRORNO(0b11, 0b11, 0b111, 0xFFU, 0b11111, FAILED, 0xFFFU, "failed");
GE_ERRORNO_DEFINE(0b01, 0b01, 0b000, 8U, 0U, END_OF_SEQUENCE, 7U);

}  // namespace ge

#endif  // OPKIT_SIM_GE_COMMON_API_ERROR_CODES_H_
