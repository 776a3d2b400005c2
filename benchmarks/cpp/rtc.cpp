// Compiles the kernel named on the command line once through the run-time compiler and prints the microseconds it took.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "acl/acl_rt.h"
#include "acl/acl_rt_compile.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: rtc KERNEL\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (source.empty() || aclrtSetDevice(0) != ACL_SUCCESS) {
    std::fprintf(stderr, "no kernel or no device\n");
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  aclrtcProg program = nullptr;
  const char *options[] = {"--npu-arch=dav-2201"};
  if (aclrtcCreateProg(&program, source.c_str(), "kernel.asc", 0, nullptr, nullptr) != ACL_SUCCESS ||
      aclrtcCompileProg(program, 1, options) != ACL_SUCCESS) {
    std::fprintf(stderr, "the kernel doesn't compile\n");
    return 1;
  }
  const double taken = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  std::printf("%.3f\n", taken);
  return aclrtcDestroyProg(&program) != ACL_SUCCESS || aclrtResetDevice(0) != ACL_SUCCESS;
}
