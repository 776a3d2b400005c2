// A KernelContext that knows its node: access by prototype index, descriptions and attributes. Base of every context a custom op is given.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_EXTENDED_KERNEL_CONTEXT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_EXTENDED_KERNEL_CONTEXT_H_

#include <type_traits>

#include "exe_graph/runtime/context_extend.h"
#include "exe_graph/runtime/kernel_context.h"

namespace gert {
/// Everything is nullptr, or 0, where there is no such node, index or instance.
class ExtendedKernelContext : protected KernelContext {
 public:
  const ComputeNodeInfo *GetComputeNodeInfo() const { return static_cast<const ComputeNodeInfo *>(GetComputeNodeExtend()); }
  const ge::char_t *GetNodeType() const { return HasNode() ? GetComputeNodeInfo()->GetNodeType() : nullptr; }
  const ge::char_t *GetNodeName() const { return HasNode() ? GetComputeNodeInfo()->GetNodeName() : nullptr; }
  size_t GetComputeNodeInputNum() const { return HasNode() ? GetComputeNodeInfo()->GetInputsNum() : 0; }
  size_t GetComputeNodeOutputNum() const { return HasNode() ? GetComputeNodeInfo()->GetOutputsNum() : 0; }
  const RuntimeAttrs *GetAttrs() const { return HasNode() ? GetComputeNodeInfo()->GetAttrs() : nullptr; }

  const AnchorInstanceInfo *GetIrInputInstanceInfo(const size_t ir_index) const {
    return HasNode() ? GetComputeNodeInfo()->GetInputInstanceInfo(ir_index) : nullptr;
  }
  const AnchorInstanceInfo *GetIrOutputInstanceInfo(const size_t ir_index) const {
    return HasNode() ? GetComputeNodeInfo()->GetOutputInstanceInfo(ir_index) : nullptr;
  }

  const CompileTimeTensorDesc *GetInputDesc(const size_t index) const {
    return HasNode() ? GetComputeNodeInfo()->GetInputTdInfo(index) : nullptr;
  }
  const CompileTimeTensorDesc *GetRequiredInputDesc(const size_t ir_index) const { return GetDynamicInputDesc(ir_index, 0); }
  const CompileTimeTensorDesc *GetOptionalInputDesc(const size_t ir_index) const { return GetDynamicInputDesc(ir_index, 0); }
  const CompileTimeTensorDesc *GetDynamicInputDesc(const size_t ir_index, const size_t relative_index) const {
    const AnchorInstanceInfo *port = GetIrInputInstanceInfo(ir_index);
    return Has(port, relative_index) ? GetInputDesc(port->GetInstanceStart() + relative_index) : nullptr;
  }
  const CompileTimeTensorDesc *GetOutputDesc(const size_t index) const {
    return HasNode() ? GetComputeNodeInfo()->GetOutputTdInfo(index) : nullptr;
  }

  const KernelExtendInfo *GetExtendInfo() const { return static_cast<const KernelExtendInfo *>(GetKernelExtend()); }
  const ge::char_t *GetKernelName() const { return GetExtendInfo() == nullptr ? nullptr : GetExtendInfo()->GetKernelName(); }
  const ge::char_t *GetKernelType() const { return GetExtendInfo() == nullptr ? nullptr : GetExtendInfo()->GetKernelType(); }

 protected:
  static bool Has(const AnchorInstanceInfo *port, const size_t relative_index) {
    return port != nullptr && relative_index < port->GetInstanceNum();
  }
  template <typename T, size_t Offset = 0>
  const T *GetDynamicInputPointer(size_t ir_index, size_t relative_index) const {
    const AnchorInstanceInfo *port = GetIrInputInstanceInfo(ir_index);
    return Has(port, relative_index) ? GetInputPointer<T>(Offset + port->GetInstanceStart() + relative_index) : nullptr;
  }

 private:
  bool HasNode() const { return GetComputeNodeExtend() != nullptr; }
};

static_assert(std::is_standard_layout<ExtendedKernelContext>::value && sizeof(ExtendedKernelContext) == sizeof(KernelContext),
              "contexts add no members");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_EXTENDED_KERNEL_CONTEXT_H_
