// Name and type of the runtime kernel that a context was made for.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_CONTEXT_EXTEND_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_CONTEXT_EXTEND_H_

#include <cstdint>
#include <memory>
#include <type_traits>

#include "exe_graph/runtime/compute_node_info.h"

namespace gert {
class KernelExtendInfo {
 public:
  KernelExtendInfo() = delete;
  KernelExtendInfo(const KernelExtendInfo &) = delete;
  KernelExtendInfo &operator=(const KernelExtendInfo &) = delete;

  const ge::char_t *GetKernelName() const { return name_; }
  void SetKernelName(const ge::char_t *kernel_name) { name_ = kernel_name; }
  const ge::char_t *GetKernelType() const { return type_; }
  void SetKernelType(const ge::char_t *const kernel_type) { type_ = kernel_type; }

 private:
  const ge::char_t *name_;
  const ge::char_t *type_;
  uint8_t reserved_[56];
};

static_assert(std::is_standard_layout<KernelExtendInfo>::value && sizeof(KernelExtendInfo) == 72,
              "KernelExtendInfo crosses library borders");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_CONTEXT_EXTEND_H_
