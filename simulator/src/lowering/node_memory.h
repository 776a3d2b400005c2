// The memory that a node's context hands out, and the argument blocks that are refreshed when a graph's addresses change.
#ifndef OPKIT_SIM_SRC_LOWERING_NODE_MEMORY_H_
#define OPKIT_SIM_SRC_LOWERING_NODE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"
#include "exe_graph/runtime/kernel_args.h"

namespace opkit_sim::lowering {
/// Device memory of one loaded graph; freed with the object. Blocks are apart from each other, so that an access past one can be seen.
class DeviceBlocks {
 public:
  DeviceBlocks() = default;
  DeviceBlocks(const DeviceBlocks &) = delete;
  DeviceBlocks &operator=(const DeviceBlocks &) = delete;
  ~DeviceBlocks();

  /// nullptr for 0 bytes, and, with a report, if there is no memory.
  void *Allocate(size_t bytes);

 private:
  std::vector<void *> blocks_;
};

/// The refreshed argument blocks of a graph: one table on the host, one of the same layout on the device, copied by a single task. Space is
/// reserved before any op runs, because addresses into both tables are given out; what doesn't fit gets a table of its own.
class ArgsTable {
 public:
  struct Block {
    void *host;
    void *device;
  };

  explicit ArgsTable(DeviceBlocks &memory) : memory_(memory) {}

  /// Once, before the first Add. false, with a report, if there is no memory.
  bool Reserve(size_t bytes);
  /// A block whose host side holds a copy of `data`; its device side stays as it is until Upload. Both nullptr on failure.
  Block Add(const void *data, size_t bytes);
  /// Enqueues the copies of all tables to the device, in the order of the stream. `name` labels the tasks and must outlive them.
  aclError Upload(aclrtStream stream, const char *name, uint32_t graph_id, uint64_t run) const;

 private:
  struct Table {
    std::unique_ptr<uint64_t[]> host;
    void *device = nullptr;
    size_t size = 0;
    size_t used = 0;
  };

  Table *NewTable(size_t bytes);

  DeviceBlocks &memory_;
  std::deque<Table> tables_;
};

/// What one node registered with MallocReadOnlyDevArgs, in the order of the calls. Entries stay where they are: callers keep their
/// addresses.
class NodeArgs {
 public:
  /// `table` is nullptr for a node whose arguments nobody refreshes: its blocks are copied to the device at once and have no host side.
  NodeArgs(DeviceBlocks &memory, ArgsTable *table) : memory_(memory), table_(table) {}

  const gert::KernelArgs *Register(const void *data, size_t bytes);
  /// nullptr past the end.
  const gert::KernelArgs *Find(gert::Placement placement, size_t index) const;

 private:
  const gert::KernelArgs *CopyOnce(const void *data, size_t bytes);

  DeviceBlocks &memory_;
  ArgsTable *table_;
  std::deque<gert::KernelArgs> host_;
  std::deque<gert::KernelArgs> device_;
};

/// Stands in a context's allocator cell.
struct NodeMemory {
  NodeMemory(DeviceBlocks &memory_of_graph, ArgsTable *table) : memory(memory_of_graph), args(memory_of_graph, table) {}

  DeviceBlocks &memory;
  NodeArgs args;
  /// Per output: the prototype has an input of the same name, so it must be made by MakeOutputRefInput, and the only input it may share
  /// with.
  std::vector<size_t> shared_input_of_output;
};

constexpr size_t kNotShared = static_cast<size_t>(-1);
}  // namespace opkit_sim::lowering

#endif  // OPKIT_SIM_SRC_LOWERING_NODE_MEMORY_H_
