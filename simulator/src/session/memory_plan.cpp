#include "session/memory_plan.h"

#include <string>
#include <utility>

#include "lowering/node_memory.h"

namespace opkit_sim::session {
namespace {
class Planner {
 public:
  explicit Planner(const CompiledGraph &graph) : graph_(graph), slot_of_value_(graph.values.size()) {}

  MemoryPlan Run() {
    for (const size_t value : graph_.inputs) {
      slot_of_value_[value] = AddSlot(Slot::Kind::kUserInput, value);
    }
    for (const size_t value : graph_.outputs) {
      (void)AddSlot(Slot::Kind::kUserOutput, value);
    }
    for (size_t value = 0; value < graph_.values.size(); ++value) {
      if (graph_.values[value].origin == CompiledValue::Origin::kConstant) {
        slot_of_value_[value] = AddSlot(Slot::Kind::kConstant, value);
      }
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      PlaceNode(n);
    }
    CopyRemainingOutputs();
    return std::move(plan_);
  }

 private:
  size_t AddSlot(Slot::Kind kind, size_t value) {
    plan_.slots.push_back({kind, value, graph_.values[value].bytes});
    return plan_.slots.size() - 1;
  }

  bool IsUserMemory(size_t slot) const {
    const Slot::Kind kind = plan_.slots[slot].kind;
    return kind == Slot::Kind::kUserInput || kind == Slot::Kind::kUserOutput;
  }

  size_t OutputSlot(size_t output) const { return graph_.inputs.size() + output; }

  // Names as GE gives them: which anchor of which node, and a running number.
  void AddCopy(size_t from, size_t to, size_t anchor, const ge::AscendString &node) {
    if (plan_.slots[to].bytes == 0) {
      return;
    }
    const std::string name =
        "identity_" + std::to_string(anchor) + "_" + node.GetString() + "_MemLayoutConflict_" + std::to_string(copies_++);
    Step step;
    step.from = from;
    step.to = to;
    step.name = ge::AscendString(name.c_str());
    plan_.steps.push_back(step);
  }

  void PlaceNode(size_t n) {
    const CompiledNode &node = graph_.nodes[n];
    NodeSlots slots;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      size_t slot = slot_of_value_[node.inputs[i]];
      if (!node.IsAddressRefreshable() && IsUserMemory(slot)) {
        const size_t buffer = AddSlot(Slot::Kind::kBuffer, node.inputs[i]);
        AddCopy(slot, buffer, i, node.name);
        slot = buffer;
      }
      slots.inputs.push_back(slot);
    }
    Step replay;
    replay.node = n;
    plan_.steps.push_back(replay);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const size_t shared = node.shared_input_of_output[i];
      const size_t slot = shared == lowering::kNotShared ? SlotForOutput(node, node.outputs[i]) : slots.inputs[shared];
      slot_of_value_[node.outputs[i]] = slot;
      slots.outputs.push_back(slot);
    }
    plan_.nodes.push_back(std::move(slots));
  }

  // A value that is a graph output more than once is written to the first and copied to the others.
  size_t SlotForOutput(const CompiledNode &node, size_t value) {
    if (node.IsAddressRefreshable()) {
      for (size_t output = 0; output < graph_.outputs.size(); ++output) {
        if (graph_.outputs[output] == value) {
          return OutputSlot(output);
        }
      }
    }
    return AddSlot(Slot::Kind::kBuffer, value);
  }

  // What no node wrote in place: outputs of unrefreshable nodes, and inputs or constants that are outputs too.
  void CopyRemainingOutputs() {
    for (size_t output = 0; output < graph_.outputs.size(); ++output) {
      const size_t value = graph_.outputs[output];
      const size_t from = slot_of_value_[value];
      if (from != OutputSlot(output)) {
        AddCopy(from, OutputSlot(output), output, NameOfProducer(value));
      }
    }
  }

  ge::AscendString NameOfProducer(size_t value) const {
    const CompiledValue &produced = graph_.values[value];
    return produced.origin == CompiledValue::Origin::kNode ? graph_.nodes[produced.node].name : graph_.name;
  }

  const CompiledGraph &graph_;
  std::vector<size_t> slot_of_value_;
  size_t copies_ = 0;
  MemoryPlan plan_;
};
}  // namespace

MemoryPlan PlanMemory(const CompiledGraph &graph) { return Planner(graph).Run(); }
}  // namespace opkit_sim::session
