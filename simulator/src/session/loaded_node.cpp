#include "session/loaded_node.h"

#include <utility>

#include "graph/custom_op.h"
#include "session/report.h"

namespace opkit_sim::session {
namespace {
using gert::EagerOpExecutionContext;
using lowering::DeclaredArg;
using lowering::DeclaredLaunch;

constexpr size_t kAdditionalInputs = static_cast<size_t>(EagerOpExecutionContext::AdditionalInputIndex::kNum);
constexpr size_t kAdditionalOutputs = static_cast<size_t>(EagerOpExecutionContext::AdditionalOutputIndex::kNum);
// Argument slots that a device reserves for an updater beside one for each tensor.
constexpr size_t kSpareArgs = 16;

// Ends a capture on every way out, an exception of the op included.
class Capture {
 public:
  explicit Capture(aclrtStream stream) : stream_(stream), status_(rt::BeginCapture(stream)) {}
  Capture(const Capture &) = delete;
  Capture &operator=(const Capture &) = delete;
  ~Capture() {
    if (status_ == ACL_SUCCESS && !is_ended_) {
      std::shared_ptr<const rt::TaskList> dropped;
      (void)rt::EndCapture(stream_, &dropped);
    }
  }

  aclError status() const { return status_; }
  aclError End(std::shared_ptr<const rt::TaskList> *tasks) {
    is_ended_ = true;
    return rt::EndCapture(stream_, tasks);
  }

 private:
  aclrtStream stream_;
  aclError status_;
  bool is_ended_ = false;
};

std::vector<gert::Tensor> TensorsOf(const CompiledGraph &graph, const std::vector<size_t> &values) {
  std::vector<gert::Tensor> tensors;
  for (const size_t v : values) {
    const CompiledValue &value = graph.values[v];
    gert::Tensor tensor(value.spec.shape, value.spec.format, value.spec.dtype);
    tensor.SetData(gert::TensorData(nullptr, nullptr, value.bytes, gert::kOnDeviceHbm));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}
}  // namespace

LoadedNode::LoadedNode(const CompiledGraph &graph, const CompiledNode &node, const NodeSlots &slots, lowering::DeviceBlocks &memory,
                       lowering::ArgsTable &args)
    : node_(node),
      slots_(slots),
      table_(args),
      memory_(memory, node.updater == nullptr ? nullptr : &args),
      inputs_(TensorsOf(graph, node.inputs)),
      outputs_(TensorsOf(graph, node.outputs)),
      frame_(inputs_.size() + kAdditionalInputs, outputs_.size() + kAdditionalOutputs, node.info->get()) {
  memory_.shared_input_of_output = node.shared_input_of_output;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    frame_.SetInput(i, &inputs_[i]);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    frame_.SetOutput(i, &outputs_[i]);
  }
  frame_.SetInput(inputs_.size() + static_cast<size_t>(EagerOpExecutionContext::AdditionalInputIndex::kDeviceAllocator), &memory_);
  frame_.SetOutput(outputs_.size() + static_cast<size_t>(EagerOpExecutionContext::AdditionalOutputIndex::kWorkSpace), &memory_.memory);
  frame_.SetOutput(outputs_.size() + static_cast<size_t>(EagerOpExecutionContext::AdditionalOutputIndex::kArgsHandler), &memory_.args);
}

LoadedNode::~LoadedNode() {
  for (aclrtBinHandle binary : binaries_) {
    (void)aclrtBinaryUnLoad(binary);
  }
}

size_t LoadedNode::ReservedArgsBytes(const CompiledNode &node) {
  if (node.updater != nullptr) {
    return (node.inputs.size() + node.outputs.size() + kSpareArgs) * sizeof(uint64_t);
  }
  size_t bytes = 0;
  for (const DeclaredLaunch &launch : node.declared.launches) {
    bytes += launch.args.size() * sizeof(uint64_t);
  }
  return bytes;
}

bool LoadedNode::Launch(aclrtStream stream, const std::vector<void *> &addresses) {
  BindTensors(addresses);
  frame_.SetInput(inputs_.size() + static_cast<size_t>(EagerOpExecutionContext::AdditionalInputIndex::kStream), stream);
  Capture capture(stream);
  if (capture.status() != ACL_SUCCESS) {
    report::Error("E19999", "op %s (type %s) can't launch on the stream of LoadGraph, ret %d", name(), type(), capture.status());
    return false;
  }
  if (!(node_.IsDeclared() ? LaunchDeclared(stream) : Execute())) {
    return false;
  }
  const aclError status = capture.End(&tasks_);
  if (status != ACL_SUCCESS) {
    report::Error("E19999", "the launches of op %s (type %s) can't be kept, ret %d", name(), type(), status);
  }
  return status == ACL_SUCCESS;
}

bool LoadedNode::Execute() {
  if (node_.eager == nullptr) {
    report::Error("E19999", "%s is custom op but did not implement EagerExecuteOp", type());
    return false;
  }
  const ge::graphStatus status = node_.eager->Execute(frame_.As<EagerOpExecutionContext>());
  if (status != ge::GRAPH_SUCCESS) {
    report::Error("E19999", "Execute failed, op_name:%s, op_type:%s, ret %u", name(), type(), status);
  }
  return status == ge::GRAPH_SUCCESS;
}

aclrtFuncHandle LoadedNode::FunctionOf(const DeclaredLaunch &launch) {
  for (const auto &known : functions_) {
    if (known.first == launch.kernel_name) {
      return known.second;
    }
  }
  aclrtBinaryLoadOption magic;
  magic.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
  magic.value.magic = ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
  const aclrtBinaryLoadOptions options = {&magic, 1};
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle function = nullptr;
  aclError status = aclrtBinaryLoadFromData(launch.binary.data(), launch.binary.size(), &options, &binary);
  if (status == ACL_SUCCESS) {
    binaries_.push_back(binary);
    status = aclrtBinaryGetFunction(binary, launch.kernel_name.GetString(), &function);
  }
  if (status != ACL_SUCCESS) {
    report::Error("E19999", "op %s (type %s): kernel %s can't be loaded, ret %d", name(), type(), launch.kernel_name.GetString(), status);
    return nullptr;
  }
  functions_.emplace_back(launch.kernel_name, function);
  return function;
}

bool LoadedNode::LaunchDeclared(aclrtStream stream) {
  std::vector<void *> workspaces;
  for (const size_t bytes : node_.declared.workspaces) {
    workspaces.push_back(memory_.memory.Allocate(bytes));
    if (workspaces.back() == nullptr) {
      return false;
    }
  }
  for (const DeclaredLaunch &launch : node_.declared.launches) {
    if (!LaunchOne(stream, launch, workspaces)) {
      return false;
    }
  }
  return true;
}

bool LoadedNode::LaunchOne(aclrtStream stream, const DeclaredLaunch &launch, const std::vector<void *> &workspaces) {
  aclrtFuncHandle function = FunctionOf(launch);
  const std::vector<uint64_t> empty(launch.args.size());
  const lowering::ArgsTable::Block block =
      function == nullptr ? lowering::ArgsTable::Block{nullptr, nullptr} : table_.Add(empty.data(), empty.size() * sizeof(uint64_t));
  if (block.host == nullptr) {
    return false;
  }
  auto *words = static_cast<uint64_t *>(block.host);
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const DeclaredArg &arg = launch.args[i];
    switch (arg.kind) {
      case DeclaredArg::Kind::kInput:
        address_fields_.push_back({&words[i], slots_.inputs[arg.index]});
        break;
      case DeclaredArg::Kind::kOutput:
        address_fields_.push_back({&words[i], slots_.outputs[arg.index]});
        break;
      case DeclaredArg::Kind::kWorkspace:
        words[i] = reinterpret_cast<uintptr_t>(workspaces[arg.index]);
        break;
      case DeclaredArg::Kind::kScalar:
        words[i] = arg.value;
        break;
    }
  }
  const aclError status =
      aclrtLaunchKernelV2(function, launch.block_dim, block.device, launch.args.size() * sizeof(uint64_t), nullptr, stream);
  if (status != ACL_SUCCESS) {
    report::Error("E19999", "op %s (type %s): launching kernel %s failed, ret %d", name(), type(), launch.kernel_name.GetString(), status);
  }
  return status == ACL_SUCCESS;
}

void LoadedNode::BindTensors(const std::vector<void *> &addresses) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    (void)inputs_[i].MutableTensorData().SetAddr(addresses[slots_.inputs[i]], nullptr);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    (void)outputs_[i].MutableTensorData().SetAddr(addresses[slots_.outputs[i]], nullptr);
  }
}

bool LoadedNode::RefreshArgs(const std::vector<void *> &addresses, size_t task_id) {
  if (node_.IsDeclared()) {
    for (const AddressField &field : address_fields_) {
      *field.host = reinterpret_cast<uintptr_t>(addresses[field.slot]);
    }
    return true;
  }
  const ge::graphStatus status = node_.updater->UpdateHostArgs(frame_.As<gert::UpdateArgsContext>());
  if (status != ge::GRAPH_SUCCESS) {
    report::Error("E19999", "Operator UpdateHostArgs failed, task_id=%zu, op_name:%s, op_type:%s, ret %u", task_id, name(), type(), status);
  }
  return status == ge::GRAPH_SUCCESS;
}
}  // namespace opkit_sim::session
