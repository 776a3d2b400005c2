// What a callback can learn about its node besides tensors: names, how prototype ports map to instances, descriptions, attributes.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_COMPUTE_NODE_INFO_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_COMPUTE_NODE_INFO_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/storage_format.h"
#include "graph/types.h"

namespace gert {
/// The instances of one prototype port: none for an absent optional input, any number for a dynamic one.
class AnchorInstanceInfo {
 public:
  AnchorInstanceInfo() = default;
  AnchorInstanceInfo(const uint32_t instance_start, const uint32_t instantiation_num) : start_(instance_start), count_(instantiation_num) {}

  size_t GetInstanceNum() const { return count_; }
  size_t GetInstanceStart() const { return start_; }
  void SetInstanceStart(const uint32_t instance_start) { start_ = instance_start; }
  void SetInstantiationNum(const uint32_t instantiation_num) { count_ = instantiation_num; }

 private:
  uint32_t start_ = 0;
  uint32_t count_ = 0;
  uint8_t reserved_[40] = {};
};

static_assert(std::is_standard_layout<AnchorInstanceInfo>::value && sizeof(AnchorInstanceInfo) == 48, "part of the node buffer");

class CompileTimeTensorDesc {
 public:
  CompileTimeTensorDesc() = default;

  ge::DataType GetDataType() const { return data_type_; }
  void SetDataType(const ge::DataType data_type) { data_type_ = data_type; }
  const StorageFormat &GetFormat() const { return format_; }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  void SetOriginFormat(const ge::Format format) { format_.SetOriginFormat(format); }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
  void SetStorageFormat(const ge::Format format) { format_.SetStorageFormat(format); }
  ExpandDimsType GetExpandDimsType() const { return format_.GetExpandDimsType(); }
  void SetExpandDimsType(const ExpandDimsType &expand_dims_type) { format_.SetExpandDimsType(expand_dims_type); }
  bool IsExist() const { return absent_ != 1; }
  void SetExist(bool is_exist) { absent_ = is_exist ? 0 : 1; }

 private:
  ge::DataType data_type_ = ge::DT_UNDEFINED;
  StorageFormat format_;
  uint8_t absent_ = 0;
  uint8_t reserved_[39] = {};
};

static_assert(std::is_standard_layout<CompileTimeTensorDesc>::value && sizeof(CompileTimeTensorDesc) == 144, "part of the node buffer");

/// Head of one buffer. Behind it, in this order: an AnchorInstanceInfo per prototype input, a CompileTimeTensorDesc per input and per
/// output instance, the attributes, an AnchorInstanceInfo per prototype output.
class ComputeNodeInfo {
 public:
  ComputeNodeInfo() = delete;
  ComputeNodeInfo(const ComputeNodeInfo &) = delete;
  ComputeNodeInfo &operator=(const ComputeNodeInfo &) = delete;

  const ge::char_t *GetNodeType() const { return type_; }
  void SetNodeType(const ge::char_t *node_type) { type_ = node_type; }
  const ge::char_t *GetNodeName() const { return name_; }
  void SetNodeName(const ge::char_t *node_name) { name_ = node_name; }
  size_t GetIrInputsNum() const { return ir_inputs_; }
  size_t GetIrOutputsNum() const { return ir_outputs_; }
  size_t GetInputsNum() const { return inputs_; }
  size_t GetOutputsNum() const { return outputs_; }

  const AnchorInstanceInfo *GetInputInstanceInfo(const size_t ir_index) const {
    return ir_index < ir_inputs_ ? Behind<AnchorInstanceInfo>(0) + ir_index : nullptr;
  }
  const CompileTimeTensorDesc *GetInputTdInfo(const size_t index) const {
    return index < inputs_ ? Behind<CompileTimeTensorDesc>(DescsOffset()) + index : nullptr;
  }
  const CompileTimeTensorDesc *GetOutputTdInfo(const size_t index) const {
    return index < outputs_ ? Behind<CompileTimeTensorDesc>(DescsOffset()) + inputs_ + index : nullptr;
  }
  const RuntimeAttrs *GetAttrs() const { return Behind<RuntimeAttrs>(AttrsOffset()); }
  const AnchorInstanceInfo *GetOutputInstanceInfo(const size_t ir_index) const {
    return ir_index < ir_outputs_ ? Behind<AnchorInstanceInfo>(AttrsOffset() + attr_bytes_) + ir_index : nullptr;
  }

 private:
  size_t DescsOffset() const { return sizeof(AnchorInstanceInfo) * ir_inputs_; }
  size_t AttrsOffset() const { return DescsOffset() + sizeof(CompileTimeTensorDesc) * (inputs_ + outputs_); }
  template <typename T>
  const T *Behind(size_t offset) const {
    return reinterpret_cast<const T *>(reinterpret_cast<const uint8_t *>(this) + offsetof(ComputeNodeInfo, first_) + offset);
  }

  const ge::char_t *type_;
  const ge::char_t *name_;
  size_t ir_inputs_;
  size_t inputs_;
  size_t outputs_;
  size_t ir_outputs_;
  size_t attr_bytes_;
  uint8_t reserved_[24];
  uint64_t first_;
};

static_assert(std::is_standard_layout<ComputeNodeInfo>::value && sizeof(ComputeNodeInfo) == 88, "ComputeNodeInfo is the head of a buffer");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_COMPUTE_NODE_INFO_H_
