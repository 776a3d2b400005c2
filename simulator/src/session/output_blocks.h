// Memory for the outputs of runs whose caller brought none: counted blocks that a gert::Tensor shares with the graph.
#ifndef OPKIT_SIM_SRC_SESSION_OUTPUT_BLOCKS_H_
#define OPKIT_SIM_SRC_SESSION_OUTPUT_BLOCKS_H_

#include <cstddef>
#include <vector>

#include "exe_graph/runtime/tensor_data.h"

namespace opkit_sim::session {
class OutputBlocks {
 public:
  OutputBlocks() = default;
  OutputBlocks(const OutputBlocks &) = delete;
  OutputBlocks &operator=(const OutputBlocks &) = delete;
  /// Frees the memory even of blocks that tensors still hold: their address reads as nullptr from then on.
  ~OutputBlocks();

  /// A block that no tensor holds any more is taken again. Without an address, with a report, if there is no memory.
  gert::TensorData Take(size_t bytes);

 private:
  struct Block;

  static ge::graphStatus Manage(gert::TensorAddress block, gert::TensorOperateType operate_type, void **out);

  std::vector<Block *> blocks_;
};
}  // namespace opkit_sim::session

#endif  // OPKIT_SIM_SRC_SESSION_OUTPUT_BLOCKS_H_
