// Where tensors are put and what is copied, as a rule on its own: no device, no kernels.
#include <string>
#include <vector>

#include "check.h"
#include "lowering/node_memory.h"
#include "session/memory_plan.h"

using opkit_sim::session::CompiledGraph;
using opkit_sim::session::CompiledNode;
using opkit_sim::session::CompiledValue;
using opkit_sim::session::MemoryPlan;
using opkit_sim::session::PlanMemory;
using opkit_sim::session::Slot;
using opkit_sim::session::Step;

namespace {
class Updater : public ge::ArgsUpdater {
 public:
  ge::graphStatus UpdateHostArgs(gert::UpdateArgsContext *) override { return ge::GRAPH_SUCCESS; }
};

class Annotated : public ge::AnnotatedArgsOp {
 public:
  ge::graphStatus DeclareLaunchArgs(gert::AnnotatedArgsContext &) override { return ge::GRAPH_SUCCESS; }
};

Updater updater;
Annotated annotated;

// Builds graphs of nodes with one output each.
struct Builder {
  CompiledGraph graph;

  size_t Input(size_t bytes = 64) {
    CompiledValue value;
    value.origin = CompiledValue::Origin::kGraphInput;
    value.index = graph.inputs.size();
    value.bytes = bytes;
    graph.values.push_back(value);
    graph.inputs.push_back(graph.values.size() - 1);
    return graph.values.size() - 1;
  }
  size_t Constant() {
    CompiledValue value;
    value.origin = CompiledValue::Origin::kConstant;
    value.bytes = 64;
    graph.values.push_back(value);
    return graph.values.size() - 1;
  }
  size_t Node(const char *name, std::vector<size_t> inputs, bool is_refreshable, size_t shared = opkit_sim::lowering::kNotShared) {
    CompiledValue value;
    value.node = graph.nodes.size();
    value.bytes = graph.values[inputs.front()].bytes;
    graph.values.push_back(value);
    CompiledNode node;
    node.name = ge::AscendString(name);
    node.updater = is_refreshable ? &updater : nullptr;
    node.inputs = std::move(inputs);
    node.outputs = {graph.values.size() - 1};
    node.shared_input_of_output = {shared};
    graph.nodes.push_back(node);
    return graph.values.size() - 1;
  }
};

std::vector<std::string> Shown(const MemoryPlan &plan) {
  std::vector<std::string> steps;
  for (const Step &step : plan.steps) {
    steps.push_back(step.IsCopy() ? std::to_string(step.from) + ">" + std::to_string(step.to) : "node " + std::to_string(step.node));
  }
  return steps;
}

using Steps = std::vector<std::string>;
}  // namespace

TEST(refreshable_node_binds_user_memory_directly) {
  Builder b;
  const size_t x = b.Input();
  const size_t y = b.Input();
  b.graph.outputs = {b.Node("add", {x, y}, true)};
  const MemoryPlan plan = PlanMemory(b.graph);
  CHECK((Shown(plan) == Steps{"node 0"}));
  CHECK_EQ(plan.slots.size(), 3);
  CHECK((plan.nodes[0].inputs == std::vector<size_t>{0, 1}));
  CHECK((plan.nodes[0].outputs == std::vector<size_t>{2}));
}

TEST(unrefreshable_node_is_surrounded_by_identities_with_their_names) {
  Builder b;
  const size_t x = b.Input();
  const size_t y = b.Input();
  b.graph.outputs = {b.Node("add", {x, y}, false)};
  const MemoryPlan plan = PlanMemory(b.graph);
  CHECK((Shown(plan) == Steps{"0>3", "1>4", "node 0", "5>2"}));
  CHECK_EQ(std::string(plan.steps[0].name.GetString()), "identity_0_add_MemLayoutConflict_0");
  CHECK_EQ(std::string(plan.steps[1].name.GetString()), "identity_1_add_MemLayoutConflict_1");
  CHECK_EQ(std::string(plan.steps[3].name.GetString()), "identity_0_add_MemLayoutConflict_2");
}

TEST(annotated_node_counts_as_refreshable) {
  Builder b;
  const size_t x = b.Input();
  b.graph.outputs = {b.Node("declared", {x}, false)};
  b.graph.nodes[0].annotated = &annotated;
  CHECK((Shown(PlanMemory(b.graph)) == Steps{"node 0"}));
}

TEST(one_input_into_two_anchors_is_copied_for_each) {
  Builder b;
  const size_t x = b.Input();
  b.graph.outputs = {b.Node("twice", {x, x}, false)};
  CHECK((Shown(PlanMemory(b.graph)) == Steps{"0>2", "0>3", "node 0", "4>1"}));
}

TEST(constants_and_intermediates_need_no_identity) {
  Builder b;
  const size_t x = b.Input();
  const size_t constant = b.Constant();
  const size_t first = b.Node("first", {x}, true);
  const size_t second = b.Node("second", {first, constant}, false);
  b.graph.outputs = {b.Node("third", {second}, true)};
  CHECK((Shown(PlanMemory(b.graph)) == Steps{"node 0", "node 1", "node 2"}));
}

TEST(graph_output_that_an_unrefreshable_node_reads_is_copied_after_it_was_made) {
  Builder b;
  const size_t x = b.Input();
  const size_t first = b.Node("first", {x}, true);
  const size_t second = b.Node("second", {first}, false);
  b.graph.outputs = {first, second};
  CHECK((Shown(PlanMemory(b.graph)) == Steps{"node 0", "1>3", "node 1", "4>2"}));
}

TEST(shared_output_is_the_memory_of_its_input) {
  Builder b;
  const size_t x = b.Input();
  b.graph.outputs = {b.Node("accumulate", {x}, true, 0)};
  const MemoryPlan plan = PlanMemory(b.graph);
  CHECK((plan.nodes[0].outputs == std::vector<size_t>{0}));
  CHECK((Shown(plan) == Steps{"node 0", "0>1"}));
}

TEST(input_that_is_an_output_is_copied_through) {
  Builder b;
  const size_t x = b.Input();
  b.graph.outputs = {x};
  CHECK((Shown(PlanMemory(b.graph)) == Steps{"0>1"}));
}

TEST(nothing_is_copied_for_empty_tensors) {
  Builder b;
  const size_t x = b.Input(0);
  b.graph.outputs = {b.Node("empty", {x}, false)};
  CHECK((Shown(PlanMemory(b.graph)) == Steps{"node 0"}));
}

TEST_MAIN()
