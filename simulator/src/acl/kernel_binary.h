// Device binaries: loaded once, kept until the last task that uses them has run, and known to be unloaded from the moment the program says
// so.
#ifndef OPKIT_SIM_SRC_ACL_KERNEL_BINARY_H_
#define OPKIT_SIM_SRC_ACL_KERNEL_BINARY_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "opkit_sim/kernel_abi.h"

namespace opkit_sim::rt {

class Binary;

// What an aclrtFuncHandle points to; owned by its binary.
struct Function {
  const KernelEntry *entry;
  const KernelTable *table;
  Binary *binary;
  uint32_t args_align;  // of the strictest parameter: a host struct may be padded to it
};

class Binary : public std::enable_shared_from_this<Binary> {
 public:
  ~Binary();

  const Function *Find(const char *name) const;
  std::string Names() const;
  bool IsUnloaded() const { return is_unloaded_.load(std::memory_order_acquire); }

 private:
  friend aclError LoadBinary(const char *who, const void *data, size_t bytes, aclrtBinHandle *handle);
  friend aclError UnloadBinary(aclrtBinHandle handle);

  void *library_ = nullptr;
  int file_ = -1;
  std::vector<Function> functions_;
  std::atomic<bool> is_unloaded_{false};
};

aclError LoadBinary(const char *who, const void *data, size_t bytes, aclrtBinHandle *handle);
aclError UnloadBinary(aclrtBinHandle handle);

// The binary that holds the function; null, with a recent text and `*code` set, if the handle is none or its binary is gone.
std::shared_ptr<Binary> BinaryOf(const char *who, const void *function, aclError *code);

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_KERNEL_BINARY_H_
