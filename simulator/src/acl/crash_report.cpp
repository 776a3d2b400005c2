// The fault handler: says what it knows, then hands over to the handler that was there before, or to the default.
#include "acl/crash_report.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>

namespace opkit_sim::rt {
namespace {

// Initial-exec, so that the handler's access can't allocate.
[[gnu::tls_model("initial-exec")]] thread_local RunningBlock running_block;

struct sigaction previous_segv;
struct sigaction previous_bus;

// How far behind a tensor's end a fault is still put down to that tensor.
constexpr uintptr_t kNear = uintptr_t{1} << 20;

// No memory lies so low: what faults there was reached through a null address.
constexpr uintptr_t kNull = uintptr_t{1} << 16;

void DescribeAddress(char *text, size_t bytes, const RunningBlock &running, uintptr_t address) {
  const BlockEnv &block = *running.block;
  if (address < kNull) {
    const int length = std::snprintf(text, bytes, "byte %llu of a null address: ", static_cast<unsigned long long>(address));
    if (length > 0 && static_cast<size_t>(length) < bytes) {
      DescribeNullArguments(text + length, bytes - static_cast<size_t>(length), *running.entry, running.args);
    }
    return;
  }
  const auto ub = reinterpret_cast<uintptr_t>(block.ub);
  if (address >= ub + block.launch->ub_bytes && address - (ub + block.launch->ub_bytes) < static_cast<uintptr_t>(sysconf(_SC_PAGESIZE))) {
    std::snprintf(text, bytes, "past the unified buffer of %u bytes", block.launch->ub_bytes);
    return;
  }
  const Region *nearest = nullptr;
  for (size_t i = 0; i < block.launch->region_count; ++i) {
    const Region &region = block.launch->regions[i];
    if (address >= region.begin && address - region.begin < region.bytes + kNear) nearest = &region;
  }
  if (nearest == nullptr) {
    std::snprintf(text, bytes, "not in or behind any device memory");
    return;
  }
  const uint64_t offset = address - nearest->begin;
  const bool has_name = nearest->name[0] != '\0';
  std::snprintf(text, bytes, "byte %llu of %s%s%s, which has %llu bytes", static_cast<unsigned long long>(offset), has_name ? "'" : "",
                has_name ? nearest->name : "an allocation", has_name ? "'" : "", static_cast<unsigned long long>(nearest->bytes));
}

void OnFault(int signal_number, siginfo_t *info, void *context) {
  const RunningBlock running = running_block;
  if (running.block != nullptr) {
    running_block = RunningBlock{};
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    char where[512];
    DescribeAddress(where, sizeof where, running, address);
    char text[896];
    const int length =
        std::snprintf(text, sizeof text, "opkit simulator: kernel %s, block %u: memory fault at 0x%llx: %s\n",
                      running.block->launch->kernel_name, running.block->block_idx, static_cast<unsigned long long>(address), where);
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

void SetRunningBlock(const RunningBlock &running) { running_block = running; }

void DescribeNullArguments(char *text, size_t bytes, const KernelEntry &entry, const uint8_t *args) {
  size_t used = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < entry.param_count; ++i) {
    uintptr_t pointer = 0;
    if (!entry.params[i].is_pointer) continue;
    std::memcpy(&pointer, args + entry.params[i].offset, sizeof pointer);
    if (pointer != 0) continue;
    const int length =
        std::snprintf(text + used, bytes - used, "%sargument %u, '%s'", count == 0 ? "" : ", and ", i + 1, entry.params[i].name);
    if (length < 0 || static_cast<size_t>(length) >= bytes - used) return;
    used += static_cast<size_t>(length);
    ++count;
  }
  const char *const end = count == 0   ? "none of the kernel's arguments is null"
                          : count == 1 ? ", is null, as the address of an absent optional input is"
                                       : ", are null, as the address of an absent optional input is";
  std::snprintf(text + used, bytes - used, "%s", end);
}

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
