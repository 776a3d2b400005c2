// OpCompileContext, all of it calls into liblowering.so: tensors without data, options, the simulated chip.
#include "exe_graph/runtime/op_compile_context.h"

#include "acl/acl_rt.h"
#include "lowering/compile_options.h"
#include "platform/platform_internal.h"
#include "session/report.h"

namespace gert {
const Tensor *OpCompileContext::GetInputTensor(size_t index) const {
  return index < GetComputeNodeInputNum() ? GetInputPointer<Tensor>(index) : nullptr;
}
const Tensor *OpCompileContext::GetRequiredInputTensor(size_t ir_index) const { return GetDynamicInputTensor(ir_index, 0); }
const Tensor *OpCompileContext::GetOptionalInputTensor(size_t ir_index) const { return GetDynamicInputTensor(ir_index, 0); }
const Tensor *OpCompileContext::GetDynamicInputTensor(size_t ir_index, size_t relative_index) const {
  return GetDynamicInputPointer<Tensor>(ir_index, relative_index);
}

const Tensor *OpCompileContext::GetOutputTensor(size_t index) const {
  return index < GetComputeNodeOutputNum() ? GetOutputPointer<Tensor>(index) : nullptr;
}
const Tensor *OpCompileContext::GetRequiredOutputTensor(size_t ir_index) const { return GetDynamicOutputTensor(ir_index, 0); }
const Tensor *OpCompileContext::GetDynamicOutputTensor(size_t ir_index, size_t relative_index) const {
  const AnchorInstanceInfo *port = GetIrOutputInstanceInfo(ir_index);
  return Has(port, relative_index) ? GetOutputPointer<Tensor>(port->GetInstanceStart() + relative_index) : nullptr;
}

ge::graphStatus OpCompileContext::GetOption(const ge::AscendString &option_key, ge::AscendString &option) const {
  const auto *options = GetInputPointer<opkit_sim::lowering::CompileOptions>(GetComputeNodeInputNum());
  const ge::AscendString *found = options->Find(option_key);
  if (found == nullptr) {
    return ge::GRAPH_FAILED;
  }
  option = *found;
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus OpCompileContext::GetPlatformInfos(fe::PlatFormInfos &platform_info, fe::OptionalInfos &optional_infos) const {
  int32_t device = 0;
  int64_t ai_cores = 0;
  int64_t vector_cores = 0;
  if (aclrtGetDevice(&device) != ACL_SUCCESS ||
      aclrtGetDeviceInfo(static_cast<uint32_t>(device), ACL_DEV_ATTR_AICORE_CORE_NUM, &ai_cores) != ACL_SUCCESS ||
      aclrtGetDeviceInfo(static_cast<uint32_t>(device), ACL_DEV_ATTR_VECTOR_CORE_NUM, &vector_cores) != ACL_SUCCESS) {
    opkit_sim::report::Error("E19999", "[GetPlatformInfos] no device is set on this thread, op %s", GetNodeName());
    return ge::GRAPH_FAILED;
  }
  opkit_sim::platform::DescribeSimulatedChip(static_cast<uint32_t>(ai_cores), static_cast<uint32_t>(vector_cores), platform_info,
                                             optional_infos);
  return ge::GRAPH_SUCCESS;
}
}  // namespace gert
