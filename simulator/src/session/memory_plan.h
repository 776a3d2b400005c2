// Decides which memory each tensor of a node is: the user's, a buffer of the graph, or a private one that is copied to or from. Pure, so
// that the rules can be tested without a device.
#ifndef OPKIT_SIM_SRC_SESSION_MEMORY_PLAN_H_
#define OPKIT_SIM_SRC_SESSION_MEMORY_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/ascend_string.h"
#include "session/compiled_graph.h"

namespace opkit_sim::session {
struct Slot {
  enum class Kind : uint32_t { kUserInput, kUserOutput, kConstant, kBuffer };

  Kind kind = Kind::kBuffer;
  size_t value = 0;  // of CompiledGraph::values: whose bytes the slot holds
  size_t bytes = 0;
};

/// Either a copy between two slots (an Identity) or the replay of a node.
struct Step {
  static constexpr size_t kNoNode = static_cast<size_t>(-1);

  size_t node = kNoNode;
  size_t from = 0;
  size_t to = 0;
  ge::AscendString name;  // of the Identity

  bool IsCopy() const { return node == kNoNode; }
};

struct NodeSlots {
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
};

struct MemoryPlan {
  std::vector<Slot> slots;  // first the graph's inputs, then its outputs, then the rest
  std::vector<NodeSlots> nodes;
  std::vector<Step> steps;
};

/// An op whose addresses can't be refreshed never sees user memory: each of its inputs that would be is copied into a buffer before it
/// runs, and its graph outputs are copied out at the end. Between ordinary ops nothing is copied, refreshable or not.
MemoryPlan PlanMemory(const CompiledGraph &graph);
}  // namespace opkit_sim::session

#endif  // OPKIT_SIM_SRC_SESSION_MEMORY_PLAN_H_
