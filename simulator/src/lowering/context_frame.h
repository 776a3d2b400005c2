// Builds the argument list behind a context: cells, and the pointers to them.
#ifndef OPKIT_SIM_SRC_LOWERING_CONTEXT_FRAME_H_
#define OPKIT_SIM_SRC_LOWERING_CONTEXT_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/kernel_run_context.h"

namespace opkit_sim::lowering {
class ContextFrame {
 public:
  ContextFrame(size_t inputs, size_t outputs, const gert::ComputeNodeInfo *node);
  ContextFrame(const ContextFrame &) = delete;
  ContextFrame &operator=(const ContextFrame &) = delete;

  void SetInput(size_t index, void *value) { cells_[index].data.pointer = value; }
  void SetOutput(size_t index, void *value) { cells_[inputs_ + index].data.pointer = value; }
  AsyncAnyValue &Input(size_t index) { return cells_[index]; }
  AsyncAnyValue &Output(size_t index) { return cells_[inputs_ + index]; }

  /// The frame as a context class; valid as long as the frame.
  template <typename Context>
  Context *As() {
    return reinterpret_cast<Context *>(run_context_.data());
  }

 private:
  size_t inputs_;
  std::vector<AsyncAnyValue> cells_;
  std::vector<uint64_t> run_context_;
};
}  // namespace opkit_sim::lowering

#endif  // OPKIT_SIM_SRC_LOWERING_CONTEXT_FRAME_H_
