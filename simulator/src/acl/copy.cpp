// Large copies use non-temporal stores: the destination isn't read into the cache first, which saves a third of the traffic.
#include "acl/copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "acl/block_pool.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace opkit_sim::rt {
namespace {

constexpr size_t kStreamFrom = size_t{2} << 20;
constexpr size_t kPiece = size_t{1} << 20;

#if defined(__SSE2__)

// `dst` and `bytes` are multiples of 64.
void StreamLines(uint8_t *dst, const uint8_t *src, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) {
    _mm_prefetch(reinterpret_cast<const char *>(src + at + 1024), _MM_HINT_NTA);
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i *>(src + at));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i *>(src + at + 16));
    const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i *>(src + at + 32));
    const __m128i d = _mm_loadu_si128(reinterpret_cast<const __m128i *>(src + at + 48));
    auto *to = reinterpret_cast<__m128i *>(dst + at);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
}

void StreamCopy(uint8_t *dst, const uint8_t *src, size_t bytes) {
  const size_t head = std::min(bytes, (64 - reinterpret_cast<uintptr_t>(dst) % 64) % 64);
  std::memcpy(dst, src, head);
  const size_t lines = (bytes - head) / 64 * 64;
  StreamLines(dst + head, src + head, lines);
  std::memcpy(dst + head + lines, src + head + lines, bytes - head - lines);
  _mm_sfence();
}

#else

void StreamCopy(uint8_t *dst, const uint8_t *src, size_t bytes) { std::memcpy(dst, src, bytes); }

#endif

struct Job {
  uint8_t *dst;
  const uint8_t *src;
  int value;
  size_t bytes;
};

void CopyPieces(void *context, uint32_t begin, uint32_t end) {
  const Job &job = *static_cast<const Job *>(context);
  const size_t from = begin * kPiece;
  StreamCopy(job.dst + from, job.src + from, std::min(end * kPiece, job.bytes) - from);
}

void FillPieces(void *context, uint32_t begin, uint32_t end) {
  const Job &job = *static_cast<const Job *>(context);
  const size_t from = begin * kPiece;
  std::memset(job.dst + from, job.value, std::min(end * kPiece, job.bytes) - from);
}

uint32_t PieceCount(size_t bytes) { return static_cast<uint32_t>((bytes + kPiece - 1) / kPiece); }

}  // namespace

void CopyBytes(void *dst, const void *src, size_t bytes) {
  auto *to = static_cast<uint8_t *>(dst);
  const auto *from = static_cast<const uint8_t *>(src);
  if (to < from + bytes && from < to + bytes) {
    std::memmove(dst, src, bytes);
    return;
  }
  if (bytes < kStreamFrom) {
    std::memcpy(dst, src, bytes);
    return;
  }
  Job job{to, from, 0, bytes};
  BlockPool::Get().Run(PieceCount(bytes), &CopyPieces, &job);
}

void FillBytes(void *dst, int value, size_t bytes) {
  if (bytes < kStreamFrom) {
    std::memset(dst, value, bytes);
    return;
  }
  Job job{static_cast<uint8_t *>(dst), nullptr, value, bytes};
  BlockPool::Get().Run(PieceCount(bytes), &FillPieces, &job);
}

}  // namespace opkit_sim::rt
