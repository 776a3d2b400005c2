// SHA-256 (FIPS 180-4), for the keys and the checks of the compile cache.
#ifndef OPKIT_SIM_SRC_RTC_DIGEST_H_
#define OPKIT_SIM_SRC_RTC_DIGEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace opkit_sim::rtc {

class Digest {
 public:
  void Add(const void *data, size_t bytes);
  // Text with its length, so that no two lists of texts give the same bytes.
  void AddField(const std::string &text);
  // Lower-case hexadecimal; the digest can't be added to afterwards.
  std::string Hex();

 private:
  void Compress(const uint8_t *block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> rest_{};
  size_t rest_bytes_ = 0;
  uint64_t total_ = 0;
};

std::string DigestOf(const std::string &text);

}  // namespace opkit_sim::rtc

#endif  // OPKIT_SIM_SRC_RTC_DIGEST_H_
