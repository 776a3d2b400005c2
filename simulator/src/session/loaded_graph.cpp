#include "session/loaded_graph.h"

#include <algorithm>
#include <utility>

#include "acl/runtime_internal.h"
#include "session/report.h"

namespace opkit_sim::session {
namespace {
constexpr size_t kAddressAlignment = 512;
constexpr const char *kArgsTaskName = "args_table";

size_t RoundUp(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

// A device pads every tensor to 32 bytes and adds 32, and lets a user's buffer be up to 64 bytes shorter than that. So a buffer that is a
// few bytes short passes here and is caught when the kernel reaches past it.
bool IsLargeEnough(size_t user_bytes, size_t tensor_bytes) {
  return tensor_bytes == 0 || user_bytes >= RoundUp(tensor_bytes, 32) + 32 - 64;
}

bool IsUserMemory(const Slot &slot) { return slot.kind == Slot::Kind::kUserInput || slot.kind == Slot::Kind::kUserOutput; }

bool IsOnHost(const gert::Tensor &tensor) { return gert::TensorPlacementUtils::IsOnHost(tensor.GetPlacement()); }

rt::RecordTag CopyTag(const char *name, uint32_t graph_id, uint64_t run) {
  rt::RecordTag tag;
  tag.kind = "MEMCPY_ASYNC";
  tag.name = name;
  tag.op = "Identity";
  tag.graph_id = graph_id;
  tag.run = run;
  return tag;
}
}  // namespace

LoadedGraph::LoadedGraph(std::shared_ptr<const CompiledGraph> graph, uint32_t graph_id)
    : graph_(std::move(graph)),
      graph_id_(graph_id),
      plan_(PlanMemory(*graph_)),
      args_(memory_),
      addresses_(plan_.slots.size()),
      host_shadows_(graph_->inputs.size() + graph_->outputs.size()) {}

LoadedGraph::~LoadedGraph() {
  for (aclrtStream stream : streams_) {
    rt::Drain(stream);
  }
}

std::unique_ptr<LoadedGraph> LoadedGraph::Load(std::shared_ptr<const CompiledGraph> graph, uint32_t graph_id, aclrtStream stream) {
  std::unique_ptr<LoadedGraph> loaded(new LoadedGraph(std::move(graph), graph_id));
  loaded->Remember(stream);
  return loaded->PlaceMemory() && loaded->ReserveArgs() && loaded->LoadNodes(stream) ? std::move(loaded) : nullptr;
}

bool LoadedGraph::PlaceMemory() {
  size_t logical_bytes = kAddressAlignment;
  for (const Slot &slot : plan_.slots) {
    logical_bytes += IsUserMemory(slot) ? RoundUp(slot.bytes + 1, kAddressAlignment) : 0;
  }
  if (!logical_.Reserve(logical_bytes)) {
    report::Error("E19999", "no address space for %zu bytes of graph %u", logical_bytes, graph_id_);
    return false;
  }
  size_t offset = 0;
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    const Slot &slot = plan_.slots[i];
    if (IsUserMemory(slot)) {
      addresses_[i] = logical_.At(offset);
      offset += RoundUp(slot.bytes + 1, kAddressAlignment);
      continue;
    }
    addresses_[i] = memory_.Allocate(slot.bytes);
    if (addresses_[i] == nullptr && slot.bytes > 0) {
      return false;
    }
    if (slot.kind == Slot::Kind::kConstant && slot.bytes > 0) {
      const ge::Tensor &constant = graph_->values[slot.value].constant;
      const aclError status = aclrtMemcpy(addresses_[i], slot.bytes, constant.GetData(), slot.bytes, ACL_MEMCPY_HOST_TO_DEVICE);
      if (status != ACL_SUCCESS) {
        return Failed("copying a constant to the device", status);
      }
    }
  }
  return true;
}

bool LoadedGraph::ReserveArgs() {
  size_t bytes = 0;
  for (const CompiledNode &node : graph_->nodes) {
    has_refreshed_nodes_ = has_refreshed_nodes_ || node.IsAddressRefreshable();
    bytes += LoadedNode::ReservedArgsBytes(node);
  }
  return bytes == 0 || args_.Reserve(bytes);
}

bool LoadedGraph::LoadNodes(aclrtStream stream) {
  for (size_t n = 0; n < graph_->nodes.size(); ++n) {
    nodes_.push_back(std::make_unique<LoadedNode>(*graph_, graph_->nodes[n], plan_.nodes[n], memory_, args_));
    if (!nodes_.back()->Launch(stream, addresses_)) {
      return false;
    }
  }
  // Device args are first written here, not by MallocReadOnlyDevArgs.
  return RefreshArgs(stream);
}

bool LoadedGraph::CheckCounts(const std::vector<gert::Tensor> &inputs, const std::vector<gert::Tensor> &outputs) const {
  if (inputs.size() == graph_->inputs.size() && outputs.size() == graph_->outputs.size()) {
    return true;
  }
  report::Error(
      "E13025",
      "Input tensor is invalid. Reason: The number of inputs or outputs provided by the user is inconsistent with that required by the "
      "model. (graph %u takes %zu inputs and %zu outputs, got %zu and %zu)",
      graph_id_, graph_->inputs.size(), graph_->outputs.size(), inputs.size(), outputs.size());
  return false;
}

void *LoadedGraph::HostShadow(size_t slot) {
  if (host_shadows_[slot] == nullptr) {
    host_shadows_[slot] = memory_.Allocate(plan_.slots[slot].bytes);
  }
  return host_shadows_[slot];
}

bool LoadedGraph::Bind(size_t slot, const gert::Tensor &tensor) {
  const size_t bytes = plan_.slots[slot].bytes;
  const bool is_input = slot < graph_->inputs.size();
  const char *side = is_input ? "input" : "output";
  const size_t index = is_input ? slot : slot - graph_->inputs.size();
  if (!IsLargeEnough(tensor.GetSize(), bytes)) {
    report::Error(
        "E13025",
        "Input tensor is invalid. Reason: The %s memory size set by the user is invalid. The provided %zu bytes of buffer size plus the "
        "aligned 64 bytes is less than the tensor size %zu bytes required by the model. (graph %u, %s %zu, %zu bytes without padding)",
        side, tensor.GetSize(), RoundUp(bytes, 32) + 32, graph_id_, side, index, bytes);
    return false;
  }
  void *address = const_cast<void *>(tensor.GetAddr());
  if (address == nullptr && bytes > 0) {
    report::Error("E13025", "Input tensor is invalid. Reason: %s %zu of graph %u has no address.", side, index, graph_id_);
    return false;
  }
  if (IsOnHost(tensor) && bytes > 0) {
    address = HostShadow(slot);
    if (address == nullptr) {
      return false;
    }
  }
  if (addresses_[slot] != address) {
    addresses_[slot] = address;
    is_refresh_due_ = true;
  }
  return true;
}

bool LoadedGraph::BindAll(const std::vector<gert::Tensor> &inputs, const std::vector<gert::Tensor> &outputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!Bind(i, inputs[i])) {
      return false;
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!Bind(inputs.size() + i, outputs[i])) {
      return false;
    }
  }
  return true;
}

// One changed address makes every op of the graph refresh its arguments, those included whose own tensors stayed (ge: update policy per
// model).
bool LoadedGraph::RefreshArgs(aclrtStream stream) {
  if (has_refreshed_nodes_) {
    for (const std::unique_ptr<LoadedNode> &node : nodes_) {
      if (node->IsRefreshed()) {
        node->BindTensors(addresses_);
      }
    }
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n]->IsRefreshed() && !nodes_[n]->RefreshArgs(addresses_, n)) {
        return false;
      }
    }
    const aclError status = args_.Upload(stream, kArgsTaskName, graph_id_, run_);
    if (status != ACL_SUCCESS) {
      return Failed("copying kernel arguments to the device", status);
    }
  }
  is_refresh_due_ = false;
  return true;
}

bool LoadedGraph::CopyHostInputs(aclrtStream stream, const std::vector<gert::Tensor> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t bytes = std::min(plan_.slots[i].bytes, inputs[i].GetSize());
    if (IsOnHost(inputs[i]) && bytes > 0) {
      // Taken over now: the caller's memory is only lent for the call.
      const aclError status =
          rt::EnqueueArgsUpdate(stream, addresses_[i], inputs[i].GetAddr(), bytes, CopyTag("host_input", graph_id_, run_));
      if (status != ACL_SUCCESS) {
        return Failed("copying an input from the host", status);
      }
    }
  }
  return true;
}

bool LoadedGraph::CopyHostOutputs(aclrtStream stream, std::vector<gert::Tensor> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t slot = graph_->inputs.size() + i;
    const size_t bytes = std::min(plan_.slots[slot].bytes, outputs[i].GetSize());
    if (IsOnHost(outputs[i]) && bytes > 0) {
      const aclError status = rt::EnqueueCopy(stream, outputs[i].GetAddr(), addresses_[slot], bytes, ACL_MEMCPY_DEVICE_TO_HOST,
                                              CopyTag("host_output", graph_id_, run_));
      if (status != ACL_SUCCESS) {
        return Failed("copying an output to the host", status);
      }
    }
  }
  return true;
}

bool LoadedGraph::Replay(aclrtStream stream) {
  rt::RecordTag tag;
  tag.graph_id = graph_id_;
  tag.run = run_;
  for (const Step &step : plan_.steps) {
    aclError status = ACL_SUCCESS;
    if (step.IsCopy()) {
      status = rt::EnqueueCopy(stream, addresses_[step.to], addresses_[step.from], plan_.slots[step.to].bytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                               CopyTag(step.name.GetString(), graph_id_, run_));
    } else {
      tag.name = nodes_[step.node]->name();
      tag.op = nodes_[step.node]->type();
      status = rt::EnqueueReplay(stream, nodes_[step.node]->tasks(), tag);
    }
    if (status != ACL_SUCCESS) {
      return Failed(step.IsCopy() ? step.name.GetString() : tag.name, status);
    }
  }
  return true;
}

bool LoadedGraph::AllocateOutputs(std::vector<gert::Tensor> &outputs) {
  for (const size_t v : graph_->outputs) {
    const CompiledValue &value = graph_->values[v];
    gert::Tensor &tensor = outputs.emplace_back(value.spec.shape, value.spec.format, value.spec.dtype);
    if (value.bytes > 0) {
      tensor.SetData(output_blocks_.Take(value.bytes));
    } else {
      tensor.SetPlacement(gert::kOnDeviceHbm);
    }
    if (value.bytes > 0 && tensor.GetAddr() == nullptr) {
      outputs.clear();
      return false;
    }
  }
  return true;
}

// By the stream's own handle: what the default stream is depends on the thread that asks.
void LoadedGraph::Remember(aclrtStream stream) {
  aclrtStream handle = stream == nullptr ? rt::DefaultStream() : stream;
  if (handle != nullptr && std::find(streams_.begin(), streams_.end(), handle) == streams_.end()) {
    streams_.push_back(handle);
  }
}

bool LoadedGraph::Failed(const char *what, aclError status) const {
  const char *text = aclGetRecentErrMsg();
  report::Error("E19999", "graph %u, run %llu: %s failed, ret %d. %s", graph_id_, static_cast<unsigned long long>(run_), what, status,
                text == nullptr ? "" : text);
  return false;
}

bool LoadedGraph::Run(aclrtStream stream, const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs) {
  if (outputs.empty() && inputs.size() == graph_->inputs.size() && !AllocateOutputs(outputs)) {
    return false;
  }
  if (!CheckCounts(inputs, outputs) || !BindAll(inputs, outputs)) {
    return false;
  }
  Remember(stream);
  ++run_;
  return (!is_refresh_due_ || RefreshArgs(stream)) && CopyHostInputs(stream, inputs) && Replay(stream) && CopyHostOutputs(stream, outputs);
}
}  // namespace opkit_sim::session
