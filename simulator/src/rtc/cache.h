// The compile cache: compiled kernels on disk, keyed by everything that made them.
//
// Direct mode: the key is source, options, compiler, toolkit and processor; the entry lists what was included, with content hashes, and
// what wasn't there to be included first, so a hit needs no process. An entry is one file with a checksum, written beside and renamed: a
// reader sees a whole entry or none, and ignores a damaged one.
#ifndef OPKIT_SIM_SRC_RTC_CACHE_H_
#define OPKIT_SIM_SRC_RTC_CACHE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace opkit_sim::rtc {

struct Include {
  std::string path;  // absolute
  uint64_t bytes = 0;
  int64_t changed_ns = 0;  // the later of modification and status change
  std::string digest;
};

struct CachedBinary {
  std::string binary;
  std::string log;
  std::string folder;       // the working folder, if an include was found relative to it; else empty
  int64_t compiled_ns = 0;  // when the compilation began
  std::vector<Include> includes;
  std::vector<std::string> absent;  // absolute paths that would be included instead if they existed
};

// False on a miss. Nothing here is ever an error: without a usable folder there is no cache.
bool LoadFromCache(const std::string &key, const std::string &working_folder, CachedBinary *found);
void StoreInCache(const std::string &key, const CachedBinary &entry);

// Reads and hashes a file. False if it can't be read, or changed after `before_ns` (then its hash may not be what the compiler saw).
bool DescribeInclude(const std::string &path, int64_t before_ns, Include *include);

int64_t WallClockNs();

}  // namespace opkit_sim::rtc

#endif  // OPKIT_SIM_SRC_RTC_CACHE_H_
