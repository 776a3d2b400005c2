// Graphs of more than one op, and every way in which values enter and leave them.
#include <cstring>
#include <numeric>

#include "session/counting_ops.h"
#include "session/session_fixture.h"

using session_test::CallsOf;
using session_test::DataOf;
using session_test::Errors;
using session_test::Floats;
using session_test::kElements;
using session_test::kPoison;
using session_test::Loaded;
using session_test::MemorySet;
using session_test::OneOpGraph;
using session_test::Options;
using session_test::RecordedTasks;

namespace ge {
REG_OP(AccumulatedAdd).INPUT(x, "T").INPUT(y, "T").OUTPUT(x, "T").DATATYPE(T, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(AccumulatedAdd);

REG_OP(ManyPorts)
    .INPUT(first, TensorType({DT_FLOAT}))
    .OPTIONAL_INPUT(bias, TensorType({DT_FLOAT}))
    .DYNAMIC_INPUT(rest, TensorType({DT_FLOAT}))
    .OUTPUT(z, TensorType({DT_FLOAT}))
    .ATTR(count, Int, 3)
    .ATTR(scale, Float, 0.5)
    .ATTR(mode, String, "plain")
    .ATTR(flag, Bool, true)
    .ATTR(axes, ListInt, {1, 2})
    .ATTR(weights, ListFloat, {0.25f})
    .ATTR(pairs, ListListInt, {{1}, {2, 3}})
    .REQUIRED_ATTR(kind, Type)
    .OP_END_FACTORY_REG(ManyPorts);

REG_OP(Workspaced)
    .INPUT(x, TensorType({DT_FLOAT}))
    .INPUT(y, TensorType({DT_FLOAT}))
    .OUTPUT(z, TensorType({DT_FLOAT}))
    .OP_END_FACTORY_REG(Workspaced);

// x += y: its output shares the memory of its input.
class AccumulatedAdd : public EagerExecuteOp, public ArgsUpdater, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    const gert::Tensor *x = ctx->GetInputTensor(0);
    was_malloc_refused = ctx->MallocOutputTensor(0, x->GetShape(), x->GetFormat(), x->GetDataType()) == nullptr;
    was_other_input_refused = ctx->MakeOutputRefInput(0, 1) == nullptr;
    const gert::Tensor *shared = ctx->MakeOutputRefInput(0, 0);
    if (shared == nullptr || shared->GetAddr() != x->GetAddr()) {
      return GRAPH_FAILED;
    }
    session_test::AddArgs args = session_test::ArgsOf(*ctx);
    return session_test::Launch(*ctx, ctx->MallocReadOnlyDevArgs(&args, sizeof(args)));
  }
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *ctx) override {
    *static_cast<session_test::AddArgs *>(ctx->GetKernelArgs(gert::Placement::kPlacementHost, 0)->args_data) = session_test::ArgsOf(*ctx);
    return GRAPH_SUCCESS;
  }
  static inline bool was_malloc_refused = false;
  static inline bool was_other_input_refused = false;
};
REG_AUTO_MAPPING_OP(AccumulatedAdd);

// Notes what it can see of its ports and attributes, and launches nothing.
class ManyPorts : public EagerExecuteOp, public ArgsUpdater, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    inputs = ctx->GetComputeNodeInputNum();
    bias = ctx->GetOptionalInputTensor(1);
    rest = ctx->GetIrInputInstanceInfo(2)->GetInstanceNum();
    is_rest_in_order =
        ctx->GetDynamicInputTensor(2, 0) == ctx->GetInputTensor(inputs - rest) && ctx->GetDynamicInputTensor(2, rest) == nullptr;
    past_the_end = ctx->GetInputTensor(inputs);
    const gert::RuntimeAttrs &attrs = *ctx->GetAttrs();
    attr_num = attrs.GetAttrNum();
    count = *attrs.GetInt(0);
    scale = *attrs.GetFloat(1);
    mode = attrs.GetStr(2);
    flag = *attrs.GetBool(3);
    axes.assign(attrs.GetListInt(4)->GetData(), attrs.GetListInt(4)->GetData() + attrs.GetListInt(4)->GetSize());
    weight = attrs.GetListFloat(5)->GetData()[0];
    const gert::ContinuousVector *last_pair = attrs.GetListListInt(6)->Get(1);
    pairs = attrs.GetListListInt(6)->GetSize();
    last_of_pairs = static_cast<const int64_t *>(last_pair->GetData())[last_pair->GetSize() - 1];
    kind = *attrs.GetAttrPointer<DataType>(7);
    no_attr = attrs.GetInt(8);
    dtype = ctx->GetInputDesc(0)->GetDataType();
    return session_test::BindOutput(ctx) ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *) override { return GRAPH_SUCCESS; }

  static inline size_t inputs, rest, attr_num, pairs;
  static inline const gert::Tensor *bias, *past_the_end;
  static inline bool is_rest_in_order, flag;
  static inline int64_t count, last_of_pairs;
  static inline const int64_t *no_attr;
  static inline float scale, weight;
  static inline std::string mode;
  static inline std::vector<int64_t> axes;
  static inline DataType kind, dtype;
};
REG_AUTO_MAPPING_OP(ManyPorts);

// Writes x + y to a workspace, then adds y again into z: two launches, two argument blocks.
class Workspaced : public EagerExecuteOp, public ArgsUpdater, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    workspace = ctx->MallocWorkSpace(ctx->GetInputTensor(0)->GetSize());
    was_nothing_refused = ctx->MallocWorkSpace(0) == nullptr;
    if (!session_test::BindOutput(ctx) || workspace == nullptr) {
      return GRAPH_FAILED;
    }
    session_test::AddArgs args[2];
    Fill(*ctx, args[0], args[1]);
    for (session_test::AddArgs &block : args) {
      if (session_test::Launch(*ctx, ctx->MallocReadOnlyDevArgs(&block, sizeof(block))) != GRAPH_SUCCESS) {
        return GRAPH_FAILED;
      }
    }
    return GRAPH_SUCCESS;
  }
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *ctx) override {
    Fill(*ctx, *Block(*ctx, 0), *Block(*ctx, 1));
    return ctx->GetKernelArgs(gert::Placement::kPlacementHost, 2) == nullptr ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  static inline void *workspace = nullptr;
  static inline bool was_nothing_refused = false;

 private:
  static session_test::AddArgs *Block(const gert::UpdateArgsContext &ctx, size_t index) {
    return static_cast<session_test::AddArgs *>(ctx.GetKernelArgs(gert::Placement::kPlacementHost, index)->args_data);
  }
  static void Fill(const gert::EagerOpExecutionContext &ctx, session_test::AddArgs &first, session_test::AddArgs &second) {
    first = session_test::ArgsOf(ctx);
    second = first;
    first.z = workspace;
    second.x = workspace;
  }
};
REG_AUTO_MAPPING_OP(Workspaced);
}  // namespace ge

namespace {
ge::Operator AddOf(const char *type, const char *name, const ge::Operator &x, const ge::Operator &y) {
  ge::Operator add = ge::OperatorFactory::CreateOperator(name, type);
  (void)add.SetInput("x", x);
  (void)add.SetInput("y", y);
  return add;
}

ge::op::Const ConstOf(const char *name, float value) {
  const std::vector<float> elements(kElements, value);
  const ge::TensorDesc desc(ge::Shape({kElements}), ge::FORMAT_ND, ge::DT_FLOAT);
  ge::op::Const constant(name);
  constant.set_attr_value(ge::Tensor(desc, reinterpret_cast<const uint8_t *>(elements.data()), elements.size() * sizeof(float)));
  return constant;
}

// (x + y) + x, then + y: the first and last op of `outer`, the middle one of `inner`.
ge::Graph Chain(const char *name, const char *outer, const char *inner) {
  ge::op::Data x = DataOf("x");
  ge::op::Data y = DataOf("y");
  const ge::Operator first = AddOf(outer, "first", x, y);
  const ge::Operator second = AddOf(inner, "second", first, first);
  const ge::Operator third = AddOf(outer, "third", second, y);
  ge::Graph graph(name);
  graph.SetInputs({x, y}).SetOutputs({third});
  return graph;
}

int Copies(uint32_t graph_id) {
  return RecordedTasks({"\"kind\": \"MEMCPY_ASYNC\"", "\"graph_id\": " + std::to_string(graph_id) + ",", "_MemLayoutConflict_"});
}
}  // namespace

TEST(intermediates_flow_through_the_graphs_own_memory) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(201, Chain("chain", "UpdatedAdd", "UpdatedAdd"));
  loaded.RunAndWait(201, first);
  loaded.RunAndWait(201, second);
  CHECK(first.z.IsAll(2 * 3 + 2));
  CHECK(second.z.IsAll(2 * 30 + 20));
  CHECK_EQ(Copies(201), 0);
}

TEST(unrefreshable_op_between_ordinary_ones_is_not_copied_around) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(202, Chain("inner_fixed", "UpdatedAdd", "FixedAdd"));
  loaded.RunAndWait(202, set);
  CHECK(set.z.IsAll(8));
  CHECK_EQ(Copies(202), 0);
}

TEST(unrefreshable_op_at_the_border_is_copied_only_there) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(203, Chain("outer_fixed", "FixedAdd", "UpdatedAdd"));
  loaded.RunAndWait(203, first);
  CHECK_EQ(Copies(203), 2 + 1 + 1);
  loaded.RunAndWait(203, second);
  CHECK_EQ(Copies(203), 8);
  CHECK(first.z.IsAll(8));
  CHECK(second.z.IsAll(80));
}

TEST(every_op_of_a_graph_is_updated_when_one_address_moved) {
  Loaded loaded;
  MemorySet set(1, 2);
  Floats other_z(kPoison);
  loaded.Add(1, Chain("all_updated", "UpdatedAdd", "UpdatedAdd"));
  loaded.RunAndWait(1, set);
  const int before = CallsOf("UpdatedAdd").update;
  set.outputs[0] = other_z.tensor();
  loaded.RunAndWait(1, set);
  CHECK_EQ(CallsOf("UpdatedAdd").update, before + 3);
  CHECK(other_z.IsAll(8));
}

TEST(execute_is_called_for_every_node_in_the_order_of_the_data) {
  Loaded loaded;
  CallsOf("UpdatedAdd").nodes.clear();
  loaded.Add(1, Chain("order", "UpdatedAdd", "UpdatedAdd"));
  CHECK((CallsOf("UpdatedAdd").nodes == std::vector<std::string>{"first", "second", "third"}));
}

TEST(constants_feed_ops_without_a_copy_a_run) {
  Loaded loaded;
  Floats x(1);
  Floats z(kPoison);
  ge::op::Data data = DataOf("x");
  const ge::op::Const constant = ConstOf("two", 2);
  const ge::Operator add = AddOf("FixedAdd", "add", data, constant);
  ge::Graph graph("constant");
  graph.SetInputs({data}).SetOutputs({add});
  loaded.Add(204, graph);
  std::vector<gert::Tensor> inputs;
  std::vector<gert::Tensor> outputs;
  inputs.push_back(x.tensor());
  outputs.push_back(z.tensor());
  REQUIRE_EQ(loaded.session().ExecuteGraphWithStreamAsync(204, loaded.stream().get(), inputs, outputs), ge::SUCCESS);
  REQUIRE_EQ(loaded.stream().Wait(), ACL_SUCCESS);
  CHECK(z.IsAll(3));
  CHECK_EQ(Copies(204), 2);
}

TEST(value_that_is_an_output_twice_or_an_input_too_reaches_all_of_them) {
  Loaded loaded;
  MemorySet set(1, 2);
  Floats again(kPoison);
  Floats x_out(kPoison);
  ge::op::Data x = DataOf("x");
  ge::op::Data y = DataOf("y");
  const ge::Operator sum = AddOf("UpdatedAdd", "sum", x, y);
  ge::Graph graph("outputs");
  graph.SetInputs({x, y}).SetOutputs({sum, sum, x});
  loaded.Add(1, graph);
  set.outputs.push_back(again.tensor());
  set.outputs.push_back(x_out.tensor());
  loaded.RunAndWait(1, set);
  CHECK(set.z.IsAll(3));
  CHECK(again.IsAll(3));
  CHECK(x_out.IsAll(1));
}

TEST(output_that_other_ops_read_is_read_where_it_is) {
  Loaded loaded;
  MemorySet set(1, 2);
  Floats last(kPoison);
  ge::op::Data x = DataOf("x");
  ge::op::Data y = DataOf("y");
  const ge::Operator sum = AddOf("UpdatedAdd", "sum", x, y);
  const ge::Operator doubled = AddOf("FixedAdd", "doubled", sum, sum);
  ge::Graph graph("inner_output");
  graph.SetInputs({x, y}).SetOutputs({sum, doubled});
  loaded.Add(205, graph);
  set.outputs.push_back(last.tensor());
  loaded.RunAndWait(205, set);
  CHECK(set.z.IsAll(3));
  CHECK(last.IsAll(6));
  CHECK_EQ(Copies(205), 2 + 1);
}

TEST(output_that_shares_its_input_is_made_by_reference_only) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("AccumulatedAdd"));
  CHECK(ge::AccumulatedAdd::was_malloc_refused);
  CHECK(ge::AccumulatedAdd::was_other_input_refused);
  const std::string errors = Errors();
  CHECK_CONTAINS(errors, "[MallocOutputTensor] output name exists in input");
  CHECK_CONTAINS(errors, "[MakeOutputRefInput] output name does not exist in input");
  loaded.RunAndWait(1, set);
  CHECK(set.x.IsAll(3));
  CHECK(set.z.IsAll(3));
}

TEST(op_without_a_shared_name_can_not_refer_to_its_input) {
  class Refers : public ge::UpdatedAdd {
   public:
    ge::graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
      return ctx->MakeOutputRefInput(0, 0) == nullptr && ctx->MallocOutputTensor(1, {}, {}, ge::DT_FLOAT) == nullptr ? ge::GRAPH_SUCCESS
                                                                                                                     : ge::GRAPH_FAILED;
    }
  };
  const ge::CustomOpCreatorRegister registration("Workspaced", [] { return std::make_unique<Refers>(); });
  // A second registration doesn't count: Workspaced stays what it was.
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("Workspaced"));
  loaded.RunAndWait(1, set);
  CHECK(set.z.IsAll(5));
}

TEST(workspace_and_several_argument_blocks_serve_several_launches) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(1, OneOpGraph("Workspaced"));
  CHECK(ge::Workspaced::was_nothing_refused);
  CHECK_EQ(reinterpret_cast<uintptr_t>(ge::Workspaced::workspace) % 32, 0);
  loaded.RunAndWait(1, first);
  loaded.RunAndWait(1, second);
  CHECK(first.z.IsAll(5));
  CHECK(second.z.IsAll(50));
}

TEST(ports_and_attributes_reach_the_op_by_their_prototype_index) {
  Loaded loaded;
  ge::op::Data x = DataOf("x");
  ge::op::Data y = DataOf("y");
  ge::op::ManyPorts many("many");
  many.create_dynamic_input_rest(2);
  many.set_input_first(x).set_dynamic_input_rest(0, y).set_dynamic_input_rest(1, x).set_attr_kind(ge::DT_BF16).set_attr_count(7);
  ge::Graph graph("ports");
  graph.SetInputs({x, y}).SetOutputs({many});
  loaded.Add(1, graph);
  CHECK_EQ(ge::ManyPorts::inputs, 3);
  CHECK(ge::ManyPorts::bias == nullptr);
  CHECK_EQ(ge::ManyPorts::rest, 2);
  CHECK(ge::ManyPorts::is_rest_in_order);
  CHECK(ge::ManyPorts::past_the_end == nullptr);
  CHECK_EQ(ge::ManyPorts::attr_num, 8);
  CHECK_EQ(ge::ManyPorts::count, 7);
  CHECK_EQ(ge::ManyPorts::scale, 0.5F);
  CHECK_EQ(ge::ManyPorts::mode, "plain");
  CHECK(ge::ManyPorts::flag);
  CHECK((ge::ManyPorts::axes == std::vector<int64_t>{1, 2}));
  CHECK_EQ(ge::ManyPorts::weight, 0.25F);
  CHECK_EQ(ge::ManyPorts::pairs, 2);
  CHECK_EQ(ge::ManyPorts::last_of_pairs, 3);
  CHECK_EQ(ge::ManyPorts::kind, ge::DT_BF16);
  CHECK(ge::ManyPorts::no_attr == nullptr);
  CHECK_EQ(ge::ManyPorts::dtype, ge::DT_FLOAT);
}

TEST(optional_input_that_is_connected_has_an_instance) {
  Loaded loaded;
  ge::op::Data x = DataOf("x");
  ge::op::ManyPorts many("many");
  many.create_dynamic_input_rest(1);
  many.set_input_first(x).set_input_bias(x).set_dynamic_input_rest(0, x).set_attr_kind(ge::DT_FLOAT);
  ge::Graph graph("optional");
  graph.SetInputs({x}).SetOutputs({many});
  loaded.Add(1, graph);
  CHECK_EQ(ge::ManyPorts::inputs, 3);
  CHECK(ge::ManyPorts::bias != nullptr);
  CHECK(ge::ManyPorts::is_rest_in_order);
}

TEST(required_attr_that_is_not_set_is_named) {
  Loaded loaded;
  ge::op::Data x = DataOf("x");
  ge::op::ManyPorts many("many");
  many.create_dynamic_input_rest(1);
  many.set_input_first(x).set_dynamic_input_rest(0, x);
  ge::Graph graph("required");
  graph.SetInputs({x}).SetOutputs({many});
  REQUIRE_EQ(loaded.session().AddGraph(1, graph), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(1), ge::FAILED);
  CHECK_CONTAINS(Errors(), "node many (type ManyPorts): the required attr kind isn't set");
}

TEST(empty_outputs_are_allocated_by_the_graph_and_reused) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  const void *first_address = nullptr;
  for (int i = 0; i < 2; ++i) {
    std::vector<gert::Tensor> outputs;
    REQUIRE_EQ(loaded.session().ExecuteGraphWithStreamAsync(1, loaded.stream().get(), set.inputs, outputs), ge::SUCCESS);
    REQUIRE_EQ(loaded.stream().Wait(), ACL_SUCCESS);
    REQUIRE_EQ(outputs.size(), 1);
    CHECK_EQ(outputs[0].GetSize(), set.z.bytes());
    CHECK(outputs[0].GetStorageShape() == gert::Shape({kElements}));
    std::vector<float> host(kElements);
    REQUIRE_EQ(aclrtMemcpy(host.data(), set.z.bytes(), outputs[0].GetAddr(), set.z.bytes(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    CHECK_EQ(host[0], 3.0F);
    CHECK(i == 0 || outputs[0].GetAddr() == first_address);
    first_address = outputs[0].GetAddr();
  }
}

TEST(outputs_kept_past_remove_graph_lose_their_address_and_leak_nothing) {
  Loaded loaded;
  MemorySet set(1, 2);
  const size_t before = opkit_sim::rt::OutstandingAllocations(opkit_sim::rt::Owner::kGraph);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  std::vector<gert::Tensor> outputs;
  REQUIRE_EQ(loaded.session().ExecuteGraphWithStreamAsync(1, loaded.stream().get(), set.inputs, outputs), ge::SUCCESS);
  CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
  CHECK(outputs[0].GetAddr() == nullptr);
  CHECK_EQ(opkit_sim::rt::OutstandingAllocations(opkit_sim::rt::Owner::kGraph), before);
}

TEST(host_tensors_are_copied_in_and_out) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  std::vector<float> x(kElements, 5);
  std::vector<float> z(kElements, kPoison);
  set.inputs[0] = {{{kElements}, {kElements}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, gert::kOnHost, ge::DT_FLOAT, x.data()};
  set.outputs[0] = {{{kElements}, {kElements}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, gert::kOnHost, ge::DT_FLOAT, z.data()};
  REQUIRE_EQ(loaded.Run(1, set), ge::SUCCESS);
  std::fill(x.begin(), x.end(), 100.0F);
  REQUIRE_EQ(loaded.stream().Wait(), ACL_SUCCESS);
  CHECK_EQ(z.front(), 7.0F);
  CHECK_EQ(z.back(), 7.0F);
}

TEST(run_graph_takes_and_gives_host_tensors) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd")), ge::SUCCESS);
  const ge::TensorDesc desc(ge::Shape({kElements}), ge::FORMAT_ND, ge::DT_FLOAT);
  const auto tensor_of = [&desc](float value) {
    const std::vector<float> elements(kElements, value);
    return ge::Tensor(desc, reinterpret_cast<const uint8_t *>(elements.data()), elements.size() * sizeof(float));
  };
  for (float x = 1; x < 4; ++x) {
    std::vector<ge::Tensor> outputs;
    REQUIRE_EQ(loaded.session().RunGraph(1, {tensor_of(x), tensor_of(2)}, outputs), ge::SUCCESS);
    REQUIRE_EQ(outputs.size(), 1);
    REQUIRE_EQ(outputs[0].GetSize(), kElements * sizeof(float));
    float last = 0;
    std::memcpy(&last, outputs[0].GetData() + (kElements - 1) * sizeof(float), sizeof(last));
    CHECK_EQ(last, x + 2);
    CHECK((outputs[0].GetTensorDesc().GetShape().GetDims() == std::vector<int64_t>{kElements}));
  }
  std::vector<ge::Tensor> outputs;
  CHECK_EQ(loaded.session().RunGraph(1, {tensor_of(1)}, outputs), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E13025");
}

TEST(run_graph_with_stream_needs_the_outputs_memory) {
  Loaded loaded;
  MemorySet set(1, 2);
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd")), ge::SUCCESS);
  ge::TensorDesc desc(ge::Shape({kElements}), ge::FORMAT_ND, ge::DT_FLOAT);
  desc.SetPlacement(ge::kPlacementDevice);
  const auto on_device = [&desc](const Floats &floats) {
    ge::Tensor tensor(desc);
    (void)tensor.SetData(static_cast<uint8_t *>(floats.address()), floats.bytes(), [](uint8_t *) {});
    return tensor;
  };
  std::vector<ge::Tensor> outputs;
  const std::vector<ge::Tensor> inputs = {on_device(set.x), on_device(set.y)};
  CHECK_EQ(loaded.session().RunGraphWithStreamAsync(1, loaded.stream().get(), inputs, outputs), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E13025");
  outputs.push_back(on_device(set.z));
  REQUIRE_EQ(loaded.session().RunGraphWithStreamAsync(1, loaded.stream().get(), inputs, outputs), ge::SUCCESS);
  REQUIRE_EQ(loaded.stream().Wait(), ACL_SUCCESS);
  CHECK(set.z.IsAll(3));
}

TEST(empty_tensor_has_no_output_memory_in_a_static_graph) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd", {0, 4})), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  CHECK_EQ(loaded.session().LoadGraph(1, Options{}, loaded.stream().get()), ge::FAILED);
  CHECK_CONTAINS(Errors(), "[MallocOutputTensor] not supported temporarily: output 0 of op UpdatedAdd_node has no bytes");
}

TEST(graphs_of_one_session_do_not_disturb_each_other) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  loaded.Add(2, OneOpGraph("FixedAdd"));
  for (int i = 0; i < 10; ++i) {
    REQUIRE_EQ(loaded.Run(1, first), ge::SUCCESS);
    REQUIRE_EQ(loaded.Run(2, second), ge::SUCCESS);
  }
  REQUIRE_EQ(loaded.stream().Wait(), ACL_SUCCESS);
  CHECK(first.z.IsAll(3));
  CHECK(second.z.IsAll(30));
  CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
  second.z.Fill(kPoison);
  loaded.RunAndWait(2, second);
  CHECK(second.z.IsAll(30));
}

TEST_MAIN()
