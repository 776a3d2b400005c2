// Builds the node buffer (ComputeNodeInfo) that every context of a node points to.
#ifndef OPKIT_SIM_SRC_LOWERING_NODE_INFO_H_
#define OPKIT_SIM_SRC_LOWERING_NODE_INFO_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exe_graph/runtime/compute_node_info.h"
#include "graph/graph_internal.h"

namespace opkit_sim::lowering {
/// The inputs of a node that exist, in order: an optional input without a source has no instance, so no index.
std::vector<size_t> PresentInputs(const graph::NodeDesc &node);

class NodeInfo {
 public:
  /// Takes dtypes, formats and attributes as they are now. The node's strings are copied.
  explicit NodeInfo(const graph::NodeDesc &node);
  NodeInfo(const NodeInfo &) = delete;
  NodeInfo &operator=(const NodeInfo &) = delete;

  const gert::ComputeNodeInfo *get() const { return reinterpret_cast<const gert::ComputeNodeInfo *>(buffer_.data()); }

 private:
  ge::AscendString name_;
  ge::AscendString type_;
  std::vector<uint64_t> buffer_;
};
}  // namespace opkit_sim::lowering

#endif  // OPKIT_SIM_SRC_LOWERING_NODE_INFO_H_
