#include "lowering/node_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "acl/runtime_internal.h"
#include "session/report.h"

namespace opkit_sim::lowering {
namespace {
// Blocks of different nodes don't share a cache line, and a block begins where any member of an argument struct may lie.
constexpr size_t kBlockAlignment = 64;

size_t RoundUp(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

gert::KernelArgs MakeArgs(void *data, size_t bytes, gert::Placement placement) {
  gert::KernelArgs args;
  args.args_data = data;
  args.args_size = bytes;
  args.placement = placement;
  return args;
}
}  // namespace

DeviceBlocks::~DeviceBlocks() {
  for (void *block : blocks_) {
    (void)rt::DeviceFree(block);
  }
}

void *DeviceBlocks::Allocate(size_t bytes) {
  if (bytes == 0) {
    return nullptr;
  }
  void *block = nullptr;
  const aclError status = rt::DeviceMalloc(bytes, rt::Owner::kGraph, &block);
  if (status != ACL_SUCCESS) {
    report::Error("E19999", "no device memory for %zu bytes of the graph, ret %d", bytes, status);
    return nullptr;
  }
  blocks_.push_back(block);
  return block;
}

ArgsTable::Table *ArgsTable::NewTable(size_t bytes) {
  void *device = memory_.Allocate(bytes);
  if (device == nullptr) {
    return nullptr;
  }
  Table &table = tables_.emplace_back();
  table.host = std::make_unique<uint64_t[]>(bytes / sizeof(uint64_t) + 1);
  table.device = device;
  table.size = bytes;
  return &table;
}

bool ArgsTable::Reserve(size_t bytes) { return NewTable(RoundUp(bytes, kBlockAlignment)) != nullptr; }

ArgsTable::Block ArgsTable::Add(const void *data, size_t bytes) {
  const size_t rounded = RoundUp(bytes, kBlockAlignment);
  Table *table = tables_.empty() || tables_.front().size - tables_.front().used < rounded ? NewTable(rounded) : &tables_.front();
  if (table == nullptr) {
    return {nullptr, nullptr};
  }
  auto *host = reinterpret_cast<uint8_t *>(table->host.get()) + table->used;
  auto *device = static_cast<uint8_t *>(table->device) + table->used;
  std::memcpy(host, data, bytes);
  table->used += rounded;
  return {host, device};
}

aclError ArgsTable::Upload(aclrtStream stream, const char *name, uint32_t graph_id, uint64_t run) const {
  rt::RecordTag tag;
  tag.name = name;
  tag.graph_id = graph_id;
  tag.run = run;
  for (const Table &table : tables_) {
    if (table.used > 0) {
      const aclError status = rt::EnqueueArgsUpdate(stream, table.device, table.host.get(), table.used, tag);
      if (status != ACL_SUCCESS) {
        return status;
      }
    }
  }
  return ACL_SUCCESS;
}

const gert::KernelArgs *NodeArgs::Register(const void *data, size_t bytes) {
  if (table_ == nullptr) {
    return CopyOnce(data, bytes);
  }
  const ArgsTable::Block block = table_->Add(data, bytes);
  if (block.host == nullptr) {
    return nullptr;
  }
  host_.push_back(MakeArgs(block.host, bytes, ge::kPlacementHost));
  return &device_.emplace_back(MakeArgs(block.device, bytes, ge::kPlacementDevice));
}

const gert::KernelArgs *NodeArgs::CopyOnce(const void *data, size_t bytes) {
  void *device = memory_.Allocate(bytes);
  if (device == nullptr) {
    return nullptr;
  }
  const aclError status = aclrtMemcpy(device, bytes, data, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  if (status != ACL_SUCCESS) {
    report::Error("E19999", "[MallocReadOnlyDevArgs] copying %zu bytes to the device failed, ret %d", bytes, status);
    return nullptr;
  }
  return &device_.emplace_back(MakeArgs(device, bytes, ge::kPlacementDevice));
}

const gert::KernelArgs *NodeArgs::Find(gert::Placement placement, size_t index) const {
  const std::deque<gert::KernelArgs> &entries = placement == ge::kPlacementHost ? host_ : device_;
  const bool is_known = placement == ge::kPlacementHost || placement == ge::kPlacementDevice;
  return is_known && index < entries.size() ? &entries[index] : nullptr;
}
}  // namespace opkit_sim::lowering
