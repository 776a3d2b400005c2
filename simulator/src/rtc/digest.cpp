// SHA-256 as the standard writes it; the cache hashes some hundred kilobytes, so nothing cleverer is needed.
#include "rtc/digest.h"

#include <algorithm>
#include <cstring>

namespace opkit_sim::rtc {
namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t Turn(uint32_t value, int bits) { return (value >> bits) | (value << (32 - bits)); }

}  // namespace

void Digest::Compress(const uint8_t *block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = static_cast<uint32_t>(block[4 * i]) << 24 | static_cast<uint32_t>(block[4 * i + 1]) << 16 |
           static_cast<uint32_t>(block[4 * i + 2]) << 8 | static_cast<uint32_t>(block[4 * i + 3]);
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t low = Turn(w[i - 15], 7) ^ Turn(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t high = Turn(w[i - 2], 17) ^ Turn(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int i = 0; i < 64; ++i) {
    const uint32_t first = h + (Turn(e, 6) ^ Turn(e, 11) ^ Turn(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t second = (Turn(a, 2) ^ Turn(a, 13) ^ Turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += added[i];
}

void Digest::Add(const void *data, size_t bytes) {
  const auto *from = static_cast<const uint8_t *>(data);
  total_ += bytes;
  while (bytes != 0) {
    const size_t count = std::min(bytes, rest_.size() - rest_bytes_);
    std::memcpy(rest_.data() + rest_bytes_, from, count);
    rest_bytes_ += count;
    from += count;
    bytes -= count;
    if (rest_bytes_ == rest_.size()) {
      Compress(rest_.data());
      rest_bytes_ = 0;
    }
  }
}

void Digest::AddField(const std::string &text) {
  const uint64_t bytes = text.size();
  Add(&bytes, sizeof bytes);
  Add(text.data(), text.size());
}

std::string Digest::Hex() {
  const uint64_t bits = total_ * 8;
  const uint8_t one = 0x80;
  Add(&one, 1);
  const uint8_t zero = 0;
  while (rest_bytes_ != 56) Add(&zero, 1);
  uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  Add(length, sizeof length);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += kDigits[(word >> shift) & 15U];
  }
  return hex;
}

std::string DigestOf(const std::string &text) {
  Digest digest;
  digest.Add(text.data(), text.size());
  return digest.Hex();
}

}  // namespace opkit_sim::rtc
