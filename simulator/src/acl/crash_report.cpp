// The fault handler: says what it knows, then hands over to the handler that was there before, or to the default.
#include "acl/crash_report.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>

namespace opkit_sim::rt {
namespace {

// Initial-exec, so that the handler's access can't allocate.
[[gnu::tls_model("initial-exec")]] thread_local const BlockEnv *running_block = nullptr;

struct sigaction previous_segv;
struct sigaction previous_bus;

// How far behind a tensor's end a fault is still put down to that tensor.
constexpr uintptr_t kNear = uintptr_t{1} << 20;

int DescribeAddress(char *text, size_t bytes, const BlockEnv &block, uintptr_t address) {
  const auto ub = reinterpret_cast<uintptr_t>(block.ub);
  if (address >= ub + block.launch->ub_bytes && address - (ub + block.launch->ub_bytes) < 4096) {
    return std::snprintf(text, bytes, "past the unified buffer of %u bytes", block.launch->ub_bytes);
  }
  const Region *nearest = nullptr;
  for (size_t i = 0; i < block.launch->region_count; ++i) {
    const Region &region = block.launch->regions[i];
    if (address >= region.begin && address - region.begin < region.bytes + kNear) nearest = &region;
  }
  if (nearest == nullptr) return std::snprintf(text, bytes, "not in or behind any device memory");
  const uint64_t offset = address - nearest->begin;
  const bool has_name = nearest->name[0] != '\0';
  return std::snprintf(text, bytes, "byte %llu of %s%s%s, which has %llu bytes", static_cast<unsigned long long>(offset),
                       has_name ? "'" : "", has_name ? nearest->name : "an allocation", has_name ? "'" : "",
                       static_cast<unsigned long long>(nearest->bytes));
}

void OnFault(int signal_number, siginfo_t *info, void *context) {
  if (const BlockEnv *block = running_block) {
    running_block = nullptr;
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    char where[256];
    DescribeAddress(where, sizeof where, *block, address);
    char text[640];
    const int length = std::snprintf(text, sizeof text, "opkit simulator: kernel %s, block %u: memory fault at %p: %s\n",
                                     block->launch->kernel_name, block->block_idx, info->si_addr, where);
    if (length > 0) {
      const ssize_t ignored =
          write(STDERR_FILENO, text, static_cast<size_t>(length) < sizeof text ? static_cast<size_t>(length) : sizeof text - 1);
      (void)ignored;
    }
  }
  const struct sigaction &previous = signal_number == SIGBUS ? previous_bus : previous_segv;
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal_number, info, context);
    return;
  }
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal_number);
    return;
  }
  // The faulting instruction runs again, without us.
  signal(signal_number, SIG_DFL);
}

}  // namespace

void SetRunningBlock(const BlockEnv *block) { running_block = block; }

void WatchForFaults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = &OnFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_segv);
    sigaction(SIGBUS, &action, &previous_bus);
  });
}

}  // namespace opkit_sim::rt
