#include "session/output_blocks.h"

#include <atomic>

#include "acl/runtime_internal.h"
#include "session/report.h"

namespace opkit_sim::session {
struct OutputBlocks::Block {
  std::atomic<void *> address;
  size_t bytes;
  std::atomic<size_t> owners;  // the graph counts as one
};

OutputBlocks::~OutputBlocks() {
  for (Block *block : blocks_) {
    (void)rt::DeviceFree(block->address.exchange(nullptr));
    (void)Manage(block, gert::kFreeTensor, nullptr);
  }
}

ge::graphStatus OutputBlocks::Manage(gert::TensorAddress address, gert::TensorOperateType operate_type, void **out) {
  auto *block = static_cast<Block *>(address);
  switch (operate_type) {
    case gert::kGetTensorAddress:
      *out = block->address.load();
      return ge::GRAPH_SUCCESS;
    case gert::kPlusShareCount:
      ++block->owners;
      return ge::GRAPH_SUCCESS;
    case gert::kFreeTensor:
      if (--block->owners == 0) {
        delete block;
      }
      return ge::GRAPH_SUCCESS;
    case gert::kTensorOperateType:
      break;
  }
  return ge::GRAPH_PARAM_INVALID;
}

gert::TensorData OutputBlocks::Take(size_t bytes) {
  for (Block *block : blocks_) {
    size_t only_the_graph = 1;
    if (block->bytes == bytes && block->owners.compare_exchange_strong(only_the_graph, 2)) {
      return gert::TensorData(block, &Manage, bytes, gert::kOnDeviceHbm);
    }
  }
  void *memory = nullptr;
  const aclError status = rt::DeviceMalloc(bytes, rt::Owner::kGraph, &memory);
  if (status != ACL_SUCCESS) {
    report::Error("E19999", "no device memory for an output of %zu bytes, ret %d", bytes, status);
    return gert::TensorData();
  }
  blocks_.push_back(new Block{{memory}, bytes, {2}});
  return gert::TensorData(blocks_.back(), &Manage, bytes, gert::kOnDeviceHbm);
}
}  // namespace opkit_sim::session
