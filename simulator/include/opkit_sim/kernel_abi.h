// The border between a compiled kernel and the host runtime: what a simulated device binary exports and what a block is given.
//
// A device binary is an ELF shared object made from one Ascend C source. It exports `opkit_sim_kernel_table`; the runtime reads the table
// once after loading and calls `run_block` for every block, from any of its threads. Both sides are compiled from this header;
// `kAbiVersion` guards a cached binary against a newer runtime.
#ifndef OPKIT_SIM_KERNEL_ABI_H_
#define OPKIT_SIM_KERNEL_ABI_H_

#include <cstddef>
#include <cstdint>

namespace opkit_sim {

constexpr uint32_t kAbiVersion = 1;

// A parameter of a kernel entry, at its offset in the argument bytes (every member at the alignment of its type, at least 4).
struct KernelParam {
  const char *name;
  uint32_t offset;
  uint32_t bytes;
  bool is_pointer;
};

enum class Severity : uint32_t { kWarning = 0, kError = 1 };

// A violated rule, found while a block runs. Strings live until the callback returns.
struct Finding {
  Severity severity;
  const char *rule;     // stable id, e.g. "GM-OOB"
  const char *message;  // one sentence: what, which tensor, which bytes
  const char *file;     // the kernel's own source position
  uint32_t line;
};

// A device allocation that the launch can reach, sorted by address; `name` is the parameter that pointed into it, or "" if none did.
struct Region {
  uintptr_t begin;
  uint64_t bytes;
  const char *name;
};

// What all blocks of one launch share. Owned by the runtime for the time of the launch.
struct LaunchEnv {
  const char *kernel_name;
  uint32_t block_num;
  uint32_t ub_bytes;
  const Region *regions;
  size_t region_count;
  bool strict;
  void *sink;
  // Thread-safe. After an error the block is abandoned: run_block returns false.
  void (*report)(void *sink, uint32_t block_idx, const Finding &finding);
};

// What one block is given. `ub` belongs to the calling thread, is 4096-byte aligned and keeps its bytes from the block before.
struct BlockEnv {
  const LaunchEnv *launch;
  uint32_t block_idx;
  uint8_t *ub;
};

// Blocks may leave writes behind that go past the caches. A thread calls this after the last block of a run, before it tells anyone that
// they are done; after every single block it would cost a fifth of a streaming kernel's time.
inline void FinishBlocks() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}

struct KernelEntry {
  const char *name;
  const KernelParam *params;
  uint32_t param_count;
  uint32_t args_bytes;
  void (*call)(const uint8_t *args);
  // "aiv", "aic" or "mix": from KERNEL_TASK_TYPE_DEFAULT if the source says so, else "aiv".
  const char *core_type;
};

struct KernelTable {
  uint32_t abi_version;
  uint32_t entry_count;
  const KernelEntry *entries;
  // Runs one block to its end; false if a finding of severity error abandoned it.
  bool (*run_block)(const KernelEntry &entry, const uint8_t *args, const BlockEnv &block);
};

using KernelTableFn = const KernelTable *(*)();

}  // namespace opkit_sim

#endif  // OPKIT_SIM_KERNEL_ABI_H_
