// Times a 64 MB device-to-device copy of the runtime and memcpy of as many bytes, in turns; prints the median microseconds of each.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "acl/acl_rt.h"

namespace {

constexpr size_t kBytes = size_t{64} << 20;
constexpr int kRounds = 25;

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) { return std::chrono::duration<double, std::micro>(Clock::now() - start).count(); }

double MedianOf(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

}  // namespace

int main() {
  aclrtStream stream = nullptr;
  void *from = nullptr;
  void *to = nullptr;
  if (aclrtSetDevice(0) != ACL_SUCCESS || aclrtCreateStream(&stream) != ACL_SUCCESS ||
      aclrtMalloc(&from, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS || aclrtMalloc(&to, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
    std::fprintf(stderr, "the runtime gives no stream or memory\n");
    return 1;
  }
  if (aclrtMemset(from, kBytes, 1, kBytes) != ACL_SUCCESS || aclrtMemset(to, kBytes, 2, kBytes) != ACL_SUCCESS) {
    return 1;
  }
  std::vector<char> host_from(kBytes, 1);
  std::vector<char> host_to(kBytes, 2);
  std::vector<double> device_times;
  std::vector<double> host_times;
  for (int round = 0; round < kRounds; ++round) {
    auto start = Clock::now();
    if (aclrtMemcpyAsync(to, kBytes, from, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream) != ACL_SUCCESS || aclrtSynchronizeStream(stream) != ACL_SUCCESS) {
      std::fprintf(stderr, "a copy failed\n");
      return 1;
    }
    device_times.push_back(MicrosecondsSince(start));
    start = Clock::now();
    std::memcpy(host_to.data(), host_from.data(), kBytes);
    host_times.push_back(MicrosecondsSince(start));
  }
  // Reads both results, so that neither copy can be left out by a compiler.
  char last = 0;
  if (aclrtMemcpy(&last, 1, static_cast<char *>(to) + kBytes - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS || last != host_to.back()) {
    std::fprintf(stderr, "the copies differ\n");
    return 1;
  }
  std::printf("%.3f %.3f\n", MedianOf(device_times), MedianOf(host_times));
  return aclrtFree(from) != ACL_SUCCESS || aclrtFree(to) != ACL_SUCCESS || aclrtDestroyStream(stream) != ACL_SUCCESS || aclrtResetDevice(0) != ACL_SUCCESS;
}
