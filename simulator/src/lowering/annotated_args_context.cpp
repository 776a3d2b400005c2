// AnnotatedKernelArgs and AnnotatedArgsContext: collect what an op declares, and refuse what can't be launched.
#include "exe_graph/runtime/annotated_args_context.h"

#include <limits>
#include <utility>
#include <vector>

#include "lowering/declared_launches.h"
#include "lowering/workspace.h"
#include "session/report.h"

namespace gert {
namespace {
namespace report = opkit_sim::report;
using opkit_sim::lowering::DeclaredArg;
using opkit_sim::lowering::DeclaredLaunch;
using opkit_sim::lowering::DeclaredLaunches;

// Where an argument may begin: its offset travels in 16 bits.
constexpr size_t kMaxArgs = 65536 / sizeof(uint64_t);
// Workspaces have no address before the graph is loaded; a logical one tells success from failure.
constexpr uintptr_t kLogicalWorkspace = uintptr_t{1} << 40;

using Collected = std::vector<DeclaredArg>;

Collected *From(void *impl) { return static_cast<Collected *>(impl); }

ge::graphStatus Append(void *impl, const DeclaredArg &arg) {
  Collected *collected = From(impl);
  if (collected == nullptr || collected->size() >= kMaxArgs) {
    report::Error("E19999", "[AppendArg] the kernel arguments were moved from, or there are more than %zu", kMaxArgs);
    return ge::GRAPH_FAILED;
  }
  collected->push_back(arg);
  return ge::GRAPH_SUCCESS;
}

// The addresses that came with the indices aren't kept: they are logical, and a load has its own.
bool IsInRange(const DeclaredArg &arg, size_t inputs, size_t outputs, size_t workspaces) {
  switch (arg.kind) {
    case DeclaredArg::Kind::kInput:
      return arg.index < inputs;
    case DeclaredArg::Kind::kOutput:
      return arg.index < outputs;
    case DeclaredArg::Kind::kWorkspace:
      return arg.index < workspaces;
    case DeclaredArg::Kind::kScalar:
      return true;
  }
  return false;
}
}  // namespace

AnnotatedKernelArgs::AnnotatedKernelArgs() : impl_(new Collected) {}
AnnotatedKernelArgs::AnnotatedKernelArgs(const AnnotatedKernelArgs &other)
    : impl_(other.impl_ == nullptr ? nullptr : new Collected(*From(other.impl_))) {}
AnnotatedKernelArgs::AnnotatedKernelArgs(AnnotatedKernelArgs &&other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
AnnotatedKernelArgs &AnnotatedKernelArgs::operator=(const AnnotatedKernelArgs &other) {
  AnnotatedKernelArgs copy(other);
  std::swap(impl_, copy.impl_);
  return *this;
}
AnnotatedKernelArgs &AnnotatedKernelArgs::operator=(AnnotatedKernelArgs &&other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
AnnotatedKernelArgs::~AnnotatedKernelArgs() { delete From(impl_); }

ge::graphStatus AnnotatedKernelArgs::AppendArg(const InputAddr &addr) { return Append(impl_, {DeclaredArg::Kind::kInput, addr.index, 0}); }
ge::graphStatus AnnotatedKernelArgs::AppendArg(const OutputAddr &addr) {
  return Append(impl_, {DeclaredArg::Kind::kOutput, addr.index, 0});
}
ge::graphStatus AnnotatedKernelArgs::AppendArg(const WorkspaceAddr &addr) {
  return Append(impl_, {DeclaredArg::Kind::kWorkspace, addr.index, 0});
}
ge::graphStatus AnnotatedKernelArgs::AppendArg(uint64_t value) { return Append(impl_, {DeclaredArg::Kind::kScalar, 0, value}); }

WorkspaceAddr AnnotatedArgsContext::MallocWorkSpace(size_t size) {
  auto *declared = MutableInputPointer<DeclaredLaunches>(GetComputeNodeInputNum());
  const size_t rounded = opkit_sim::lowering::RoundedWorkspace(size);
  if (rounded == 0) {
    report::Error("E19999", "[MallocWorkSpace] op %s asks for %zu bytes", GetNodeName(), size);
    return {0, nullptr};
  }
  const auto index = static_cast<uint32_t>(declared->workspaces.size());
  declared->workspaces.push_back(rounded);
  return {index, reinterpret_cast<const void *>(kLogicalWorkspace + index * opkit_sim::lowering::kWorkspaceAlignment)};
}

uint32_t AnnotatedArgsContext::GetStreamId() const { return GetComputeNodeInfo() == nullptr ? std::numeric_limits<uint32_t>::max() : 0; }

ge::graphStatus AnnotatedArgsContext::AddLaunch(const AnnotatedKernelLaunchInfo &launch_info, AnnotatedKernelArgs &&args) {
  const AnnotatedKernelArgs taken = std::move(args);
  const Collected *collected = From(taken.impl_);
  auto *declared = MutableInputPointer<DeclaredLaunches>(GetComputeNodeInputNum());
  const auto refuse = [this](const char *reason) {
    report::Error("E19999", "[AddLaunch] op %s: %s", GetNodeName(), reason);
    return ge::GRAPH_FAILED;
  };
  if (launch_info.kernel_name == nullptr || *launch_info.kernel_name == '\0') {
    return refuse("kernel name is empty");
  }
  if (launch_info.kernel_bin == nullptr || launch_info.kernel_bin_size == 0) {
    return refuse("kernel binary is empty");
  }
  if (launch_info.block_dim == 0) {
    return refuse("block_dim is 0");
  }
  if (launch_info.stream_id != GetStreamId()) {
    return refuse("stream_id isn't the logical stream of the node");
  }
  if (collected == nullptr || collected->empty()) {
    return refuse("args are empty");
  }
  for (const DeclaredArg &arg : *collected) {
    if (!IsInRange(arg, GetComputeNodeInputNum(), GetComputeNodeOutputNum(), declared->workspaces.size())) {
      return refuse("an argument names a tensor or a workspace that the node doesn't have");
    }
  }
  const auto *binary = static_cast<const uint8_t *>(launch_info.kernel_bin);
  DeclaredLaunch launch;
  launch.kernel_name = ge::AscendString(launch_info.kernel_name);
  launch.binary.assign(binary, binary + launch_info.kernel_bin_size);
  launch.block_dim = launch_info.block_dim;
  launch.args = *collected;
  for (const DeclaredLaunch &other : declared->launches) {
    if (other.kernel_name == launch.kernel_name && other.binary != launch.binary) {
      return refuse("two launches give one kernel name different binaries");
    }
  }
  declared->launches.push_back(std::move(launch));
  return ge::GRAPH_SUCCESS;
}
}  // namespace gert
