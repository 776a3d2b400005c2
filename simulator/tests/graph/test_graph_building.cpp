// Graph building: wiring, what SetInputs takes in, orders, mistakes, and what the session is given.
#include <string>

#include "check.h"
#include "every_clause.h"
#include "graph/graph_internal.h"
#include "ops_proto_legacy.h"

using namespace ge;
using opkit_sim::graph::Describe;
using opkit_sim::graph::GraphDesc;
using opkit_sim::graph::InputDesc;
using opkit_sim::graph::MarkAdded;
using opkit_sim::graph::NodeDesc;

namespace {

TensorDesc Desc(const std::vector<int64_t> &dims, DataType type = DT_FLOAT) { return TensorDesc(Shape(dims), FORMAT_ND, type); }

op::Data MakeData(const char *name, const std::vector<int64_t> &dims = {4, 4}) {
  op::Data data(name);
  (void)data.update_input_desc_x(Desc(dims));
  (void)data.update_output_desc_y(Desc(dims));
  return data;
}

GraphDesc Described(const Graph &graph) {
  GraphDesc desc;
  AscendString error;
  if (Describe(graph, desc, error) != GRAPH_SUCCESS) {
    throw std::runtime_error(error.GetString());
  }
  return desc;
}

std::string WhyNot(const Graph &graph) {
  GraphDesc desc;
  AscendString error;
  CHECK_EQ(Describe(graph, desc, error), GRAPH_FAILED);
  return error.GetString();
}

std::string Names(const GraphDesc &graph) {
  std::string names;
  for (const NodeDesc &node : graph.nodes) {
    names += std::string(names.empty() ? "" : " ") + node.name.GetString();
  }
  return names;
}

const NodeDesc &Node(const GraphDesc &graph, const char *name) {
  for (const NodeDesc &node : graph.nodes) {
    if (node.name == name) {
      return node;
    }
  }
  throw std::runtime_error(std::string("no node ") + name);
}

std::string SourceOf(const GraphDesc &graph, const InputDesc &input) {
  return input.source.IsConnected()
             ? std::string(graph.nodes[input.source.node].name.GetString()) + ":" + std::to_string(input.source.output)
             : "";
}

// (a, b) -> add
struct AddGraph {
  op::Data a = MakeData("a");
  op::Data b = MakeData("b");
  op::Add add{"add"};
  Graph graph{"g"};

  AddGraph() {
    add.set_input_x1(a).set_input_x2(b);
    graph.SetInputs({a, b}).SetOutputs({add});
  }
};

}  // namespace

TEST(a_graph_holds_what_is_reachable_from_its_inputs) {
  const AddGraph made;
  CHECK(made.graph.IsValid());
  const GraphDesc desc = Described(made.graph);
  CHECK(desc.name == "g");
  CHECK_EQ(Names(desc), std::string("a b add"));
  const NodeDesc &add = Node(desc, "add");
  CHECK(add.type == "Add");
  REQUIRE_EQ(add.inputs.size(), 2U);
  CHECK(add.inputs[1].name == "x2");
  CHECK_EQ(SourceOf(desc, add.inputs[0]), std::string("a:0"));
  CHECK_EQ(SourceOf(desc, add.inputs[1]), std::string("b:0"));
  CHECK(add.inputs[0].desc.GetShape().GetDims() == (std::vector<int64_t>{4, 4}));
  REQUIRE_EQ(desc.outputs.size(), 1U);
  CHECK(desc.nodes[desc.outputs[0].node].name == "add");
}

TEST(the_setters_of_a_temporary_build_the_same_graph) {
  op::Data a = MakeData("a");
  op::Data b = MakeData("b");
  std::vector<Operator> outputs;
  {
    auto add = op::Add("add").set_input_x1(a).set_input_x2(b);
    outputs.push_back(add);
  }
  Graph graph("g");
  graph.SetInputs({a, b}).SetOutputs(outputs);
  CHECK_EQ(Names(Described(graph)), std::string("a b add"));
}

TEST(the_order_of_inputs_is_that_of_set_inputs) {
  AddGraph made;
  Graph reversed("r");
  made.b.set_attr_index(0);
  reversed.SetInputs({made.b, made.a}).SetOutputs({made.add});
  const GraphDesc desc = Described(reversed);
  REQUIRE_EQ(desc.inputs.size(), 2U);
  CHECK(desc.nodes[desc.inputs[0]].name == "b");
  CHECK(desc.nodes[desc.inputs[1]].name == "a");
  CHECK_EQ(std::get<int64_t>(Node(desc, "a").attrs.at("index")), int64_t{1});
  CHECK_EQ(std::get<int64_t>(Node(desc, "b").attrs.at("index")), int64_t{0});
}

TEST(data_that_set_inputs_doesnt_name_comes_behind) {
  AddGraph made;
  Graph graph("partial");
  graph.SetInputs({made.b}).SetOutputs({made.add});
  const GraphDesc desc = Described(graph);
  REQUIRE_EQ(desc.inputs.size(), 2U);
  CHECK(desc.nodes[desc.inputs[0]].name == "b");
  CHECK(desc.nodes[desc.inputs[1]].name == "a");
}

TEST(nodes_run_after_their_sources_whatever_the_order_of_wiring) {
  op::Data a = MakeData("a");
  op::Relu first("first");
  op::Relu second("second");
  op::Add last("last");
  last.set_input_x2(second).set_input_x1(a);
  second.set_input_x(first);
  first.set_input_x(a);
  Graph graph("g");
  graph.SetInputs({a}).SetOutputs({last});
  CHECK_EQ(Names(Described(graph)), std::string("a first second last"));
}

TEST(a_constant_is_met_by_walking_backwards) {
  op::Data a = MakeData("a");
  op::Const constant("c");
  constant.set_attr_value(Tensor(Desc({1}, DT_INT8), std::vector<uint8_t>{3}));
  op::Add add("add");
  add.set_input_x1(a).set_input_x2(constant);
  Graph graph("g");
  graph.SetInputs({a}).SetOutputs({add});
  const GraphDesc desc = Described(graph);
  CHECK_EQ(desc.inputs.size(), 1U);
  CHECK_EQ(std::get<Tensor>(Node(desc, "c").attrs.at("value")).GetData()[0], 3U);
  Tensor value;
  CHECK_EQ(add.GetInputConstData("x2", value), GRAPH_SUCCESS);
  CHECK_EQ(value.GetSize(), 1U);
  CHECK_EQ(add.GetInputConstData("x1", value), GRAPH_FAILED);
}

TEST(what_no_output_needs_is_not_described_but_is_in_the_graph) {
  AddGraph made;
  op::Relu unused("unused");
  unused.set_input_x(made.a);
  op::Data lonely = MakeData("lonely");
  Graph graph("g2");
  graph.SetInputs({made.a, made.b, lonely}).SetOutputs({made.add});
  CHECK_EQ(graph.GetAllNodes().size(), 5U);
  CHECK_EQ(Names(Described(graph)), std::string("a b lonely add"));
  graph.SetTargets({unused});
  const GraphDesc desc = Described(graph);
  CHECK_EQ(desc.nodes.size(), 5U);
  REQUIRE_EQ(desc.targets.size(), 1U);
  CHECK(desc.nodes[desc.targets[0]].name == "unused");
}

TEST(outputs_can_be_chosen_by_position_and_name) {
  op::Data a = MakeData("a");
  op::EveryClause many("many");
  many.create_dynamic_input_parts(1U).create_dynamic_output_pieces(2U);
  many.set_input_x(a).set_dynamic_input_parts(0U, a);
  const std::vector<Operator> inputs = {a};
  Graph all("all");
  all.SetInputs(inputs).SetOutputs(std::vector<Operator>{many});
  CHECK_EQ(Described(all).outputs.size(), 4U);
  Graph positions("positions");
  positions.SetInputs(inputs).SetOutputs(std::vector<std::pair<Operator, std::vector<size_t>>>{{many, {3U, 1U, 9U}}});
  const GraphDesc by_position = Described(positions);
  REQUIRE_EQ(by_position.outputs.size(), 2U);
  CHECK_EQ(by_position.outputs[0].output, 3U);
  CHECK_EQ(by_position.outputs[1].output, 1U);
  Graph names("names");
  names.SetInputs(inputs).SetOutputs(std::vector<std::pair<Operator, AscendString>>{{many, "pieces1"}, {many, "nowhere"}});
  const GraphDesc by_name = Described(names);
  REQUIRE_EQ(by_name.outputs.size(), 1U);
  CHECK_EQ(by_name.outputs[0].output, 3U);
}

TEST(dynamic_members_tell_their_port_and_number) {
  op::Data a = MakeData("a");
  op::Data b = MakeData("b");
  op::EveryClause op("op");
  op.create_dynamic_input_parts(2U);
  op.set_input_x(a).set_dynamic_input_parts(0U, a).set_dynamic_input_parts(1U, b, "y");
  Graph graph("g");
  graph.SetInputs({a, b}).SetOutputs({op});
  const GraphDesc desc = Described(graph);
  const NodeDesc &node = Node(desc, "op");
  REQUIRE_EQ(node.inputs.size(), 4U);
  CHECK(!node.inputs[1].source.IsConnected());
  CHECK(node.inputs[3].name == "parts1");
  CHECK_EQ(node.inputs[3].port, 2U);
  CHECK_EQ(node.inputs[3].member, 1U);
  CHECK_EQ(SourceOf(desc, node.inputs[3]), std::string("b:0"));
}

TEST(an_input_can_be_wired_by_every_spelling) {
  op::Data a = MakeData("a");
  op::EveryClause many("many");
  many.set_input_x(a);
  op::Add by_index("by_index");
  by_index.set_input_x1(many, 1U).set_input_x2_by_name(many, "y");
  op::Add by_position("by_position");
  by_position.SetInput(0U, many, 0U);
  by_position.SetInput(1U, many, 1U);
  many.create_dynamic_input_parts(1U).set_dynamic_input_parts(0U, a);
  Graph graph("g");
  graph.SetInputs({a}).SetOutputs({by_index, by_position});
  const GraphDesc desc = Described(graph);
  CHECK_EQ(SourceOf(desc, Node(desc, "by_index").inputs[0]), std::string("many:1"));
  CHECK_EQ(SourceOf(desc, Node(desc, "by_index").inputs[1]), std::string("many:0"));
  CHECK_EQ(SourceOf(desc, Node(desc, "by_position").inputs[1]), std::string("many:1"));
}

TEST(a_control_input_orders_two_nodes) {
  op::Data a = MakeData("a");
  op::Relu late("late");
  op::Relu early("early");
  late.set_input_x(a);
  early.set_input_x(a);
  late.AddControlInput(early).AddControlInput(early);
  Graph graph("g");
  graph.SetInputs({a}).SetOutputs({late});
  const GraphDesc desc = Described(graph);
  CHECK_EQ(Names(desc), std::string("a early late"));
  CHECK_EQ(Node(desc, "late").control_inputs.size(), 1U);
}

TEST(the_input_takes_the_sources_desc_and_follows_it) {
  op::Data a = MakeData("a");
  op::Relu relu("relu");
  (void)relu.update_input_desc_x(TensorDesc(Shape({9}), FORMAT_NCHW, DT_INT8));
  relu.set_input_x(a);
  CHECK(relu.get_input_desc_x().GetShape().GetDims() == (std::vector<int64_t>{4, 4}));
  CHECK(relu.get_input_desc_x().GetDataType() == DT_FLOAT);
  CHECK(relu.get_input_desc_x().GetFormat() == FORMAT_NCHW);
  (void)a.update_output_desc_y(Desc({8}, DT_BF16));
  CHECK(relu.get_input_desc_x().GetShape().GetDims() == (std::vector<int64_t>{8}));
  CHECK(relu.get_input_desc_x().GetDataType() == DT_BF16);
}

TEST(a_description_shares_nothing_with_the_operators) {
  AddGraph made;
  const GraphDesc desc = Described(made.graph);
  (void)made.a.update_output_desc_y(Desc({7}));
  made.a.set_attr_index(5);
  CHECK_EQ(Node(desc, "add").inputs[0].desc.GetShape().GetDim(0U), 4);
  CHECK_EQ(std::get<int64_t>(Node(desc, "a").attrs.at("index")), int64_t{0});
  CHECK_EQ(Node(desc, "a").outputs[0].desc.GetShape().SetDim(0U, 1), GRAPH_SUCCESS);
  CHECK_EQ(made.a.get_output_desc_y().GetShape().GetDim(0U), 7);
}

TEST(wiring_after_set_inputs_doesnt_change_the_graph) {
  AddGraph made;
  op::Relu later("later");
  later.set_input_x(made.add);
  CHECK_EQ(made.graph.GetAllNodes().size(), 3U);
  made.graph.SetOutputs({made.add, later});
  CHECK_EQ(Described(made.graph).outputs.size(), 1U);
}

TEST(two_nodes_of_one_name_make_the_graph_invalid) {
  op::Data a = MakeData("same");
  op::Relu relu("same");
  relu.set_input_x(a);
  Graph graph("g");
  graph.SetInputs({a}).SetOutputs({relu});
  CHECK(!graph.IsValid());
  CHECK_CONTAINS(WhyNot(graph), "two nodes are named [same]");
}

TEST(an_input_that_is_wired_twice_makes_the_graph_invalid) {
  op::Data a = MakeData("a");
  op::Data b = MakeData("b");
  op::Relu relu("relu");
  relu.set_input_x(a).set_input_x(b);
  Graph graph("g");
  graph.SetInputs({a, b}).SetOutputs({relu});
  CHECK_CONTAINS(WhyNot(graph), "[x] of op [relu] was wired twice, to [a] and then to [b]");
}

TEST(wiring_mistakes_are_kept_for_the_graph) {
  op::Data a = MakeData("a");
  op::Relu relu("relu");
  relu.set_input_x(a);
  relu.SetInput("nowhere", a);
  Graph graph("g");
  graph.SetInputs({a}).SetOutputs({relu});
  CHECK_CONTAINS(WhyNot(graph), "op [relu] (Relu) has no input [nowhere]");

  op::Data c = MakeData("c");
  op::Relu no_output("no_output");
  no_output.set_input_x(c, 3U);
  Graph other("other");
  other.SetInputs({c});
  CHECK(other.IsValid());
  Graph backwards("backwards");
  op::Add add("add");
  add.set_input_x1(c).set_input_x2(no_output);
  backwards.SetInputs({c});
  CHECK_CONTAINS(WhyNot(backwards), "has no output [#3]");
}

TEST(a_source_with_several_outputs_must_be_named) {
  op::Data a = MakeData("a");
  op::EveryClause many("many");
  many.set_input_x(a);
  op::Relu relu("relu");
  relu.set_input_x(many).set_input_x(a);
  Graph graph("g");
  graph.SetInputs({a}).SetOutputs({relu});
  CHECK_CONTAINS(WhyNot(graph), "must be a single output operator");
}

TEST(a_required_input_without_a_source_is_an_error) {
  op::Data a = MakeData("a");
  op::Add add("add");
  add.set_input_x1(a);
  Graph graph("g");
  graph.SetInputs({a}).SetOutputs({add});
  CHECK(graph.IsValid());
  CHECK_CONTAINS(WhyNot(graph), "input [x2] of node [add] (Add) has no source");
}

TEST(a_cycle_is_an_error) {
  op::Data a = MakeData("a");
  op::Add one("one");
  op::Relu two("two");
  one.set_input_x1(a).set_input_x2(two);
  two.set_input_x(one);
  Graph graph("g");
  graph.SetInputs({a}).SetOutputs({two});
  CHECK_CONTAINS(WhyNot(graph), "cycle");
  one.BreakConnect();
  CHECK(!one.GetInputsSize() == false);
}

TEST(only_operators_without_inputs_can_be_graph_inputs) {
  AddGraph made;
  Graph graph("g2");
  graph.SetInputs({made.a, made.add});
  CHECK_EQ(Described(graph).inputs.size(), 2U);
  Graph none("none");
  none.SetInputs({made.add});
  CHECK(!none.IsValid());
  CHECK_CONTAINS(WhyNot(none), "no Data");
  Graph empty("empty");
  empty.SetInputs({made.a, Operator()});
  CHECK_CONTAINS(WhyNot(empty), "empty operator");
}

TEST(a_graph_is_built_once_and_outputs_come_after_inputs) {
  AddGraph made;
  made.graph.SetInputs({made.a});
  CHECK_EQ(Described(made.graph).inputs.size(), 2U);
  Graph early("early");
  early.SetOutputs({made.add});
  CHECK_CONTAINS(WhyNot(early), "SetInputs was never called");
  early.SetInputs({made.a, made.b});
  CHECK_EQ(Described(early).outputs.size(), 0U);
}

TEST(a_graph_without_a_name_is_told_apart) {
  AddGraph made;
  Graph unnamed("");
  unnamed.SetInputs({made.a, made.b}).SetOutputs({made.add});
  CHECK_EQ(Described(unnamed).name.GetLength(), 0U);
  Graph nothing;
  CHECK(!nothing.IsValid());
  CHECK_CONTAINS(WhyNot(nothing), "without a name");
  AscendString name;
  CHECK_EQ(nothing.GetName(name), GRAPH_FAILED);
}

TEST(copies_of_a_graph_are_one_graph) {
  AddGraph made;
  const Graph copy = made.graph;
  CHECK(MarkAdded(made.graph));
  CHECK(!MarkAdded(copy));
  CHECK(!MarkAdded(Graph()));
}

TEST(the_list_of_operators_doesnt_change_the_graph) {
  AddGraph made;
  op::Relu relu("listed");
  CHECK_EQ(made.graph.AddOp(relu), GRAPH_SUCCESS);
  CHECK_EQ(made.graph.AddOp(Operator()), GRAPH_FAILED);
  Operator found;
  CHECK_EQ(made.graph.FindOpByName("listed", found), GRAPH_SUCCESS);
  CHECK_EQ(made.graph.FindOpByName("other", found), GRAPH_FAILED);
  std::vector<Operator> of_type;
  CHECK_EQ(made.graph.FindOpByType("Relu", of_type), GRAPH_SUCCESS);
  CHECK_EQ(of_type.size(), 1U);
  std::vector<AscendString> names;
  CHECK_EQ(made.graph.GetAllOpName(names), GRAPH_SUCCESS);
  CHECK_EQ(names.size(), 1U);
  CHECK_EQ(Described(made.graph).nodes.size(), 3U);
}

TEST(nodes_know_their_neighbours) {
  AddGraph made;
  const GNodePtr add = made.graph.FindNodeByName("add");
  REQUIRE(add != nullptr);
  CHECK(made.graph.FindNodeByName("nobody") == nullptr);
  const auto [source, port] = add->GetInDataNodesAndPortIndexs(1);
  REQUIRE(source != nullptr);
  AscendString name;
  CHECK_EQ(source->GetName(name), GRAPH_SUCCESS);
  CHECK(name == "b");
  CHECK_EQ(port, 0);
  const auto consumers = source->GetOutDataNodesAndPortIndexs(0);
  REQUIRE_EQ(consumers.size(), 1U);
  CHECK_EQ(consumers[0].second, 1);
  CHECK(add->GetInDataNodesAndPortIndexs(7).first == nullptr);
  int32_t index = -1;
  CHECK_EQ(add->GetInputIndexByName("x2", index), GRAPH_SUCCESS);
  CHECK_EQ(index, 1);
  CHECK_EQ(add->GetOutputIndexByName("nowhere", index), GRAPH_FAILED);
  CHECK_EQ(add->GetInputsSize(), 2U);
  CHECK_EQ(add->GetOutputsSize(), 1U);
  TensorDesc desc;
  CHECK_EQ(add->UpdateOutputDesc(0, Desc({5})), GRAPH_SUCCESS);
  CHECK_EQ(add->GetOutputDesc(0, desc), GRAPH_SUCCESS);
  CHECK_EQ(desc.GetShape().GetDim(0U), 5);
  CHECK_EQ(add->GetInputDesc(2, desc), GRAPH_FAILED);
}

TEST(nodes_have_the_attributes_of_their_operators) {
  AddGraph made;
  const GNodePtr data = made.graph.FindNodeByName("a");
  REQUIRE(data != nullptr);
  int64_t index = 4;
  CHECK_EQ(data->SetAttr("index", index), GRAPH_SUCCESS);
  CHECK_EQ(made.a.get_attr_index(), int64_t{4});
  CHECK(data->HasAttr("index"));
  CHECK(!data->HasAttr("other"));
  AttrValue value;
  CHECK_EQ(data->GetAttr("index", value), GRAPH_SUCCESS);
  CHECK_EQ(data->SetOutputAttr("a", 0U, value), GRAPH_SUCCESS);
  CHECK_EQ(data->GetOutputAttr("a", 0U, value), GRAPH_SUCCESS);
  CHECK_EQ(data->GetInputAttr("a", 9U, value), GRAPH_FAILED);
  GNode empty;
  AscendString name;
  CHECK_EQ(empty.GetName(name), GRAPH_FAILED);
  CHECK_EQ(empty.GetAttr("index", index), GRAPH_FAILED);
}

TEST(a_graph_can_be_built_node_by_node) {
  Graph graph("g");
  GNode a = graph.AddNodeByOp(MakeData("a"));
  GNode b = graph.AddNodeByOp(MakeData("b"));
  GNode add = graph.AddNodeByOp(op::Add("add"));
  CHECK_EQ(graph.AddDataEdge(a, 0, add, 0), GRAPH_SUCCESS);
  CHECK_EQ(graph.AddDataEdge(b, 0, add, 1), GRAPH_SUCCESS);
  CHECK_EQ(graph.AddDataEdge(b, 0, add, 1), GRAPH_FAILED);
  CHECK_EQ(graph.AddDataEdge(b, 3, add, 1), GRAPH_FAILED);
  CHECK_EQ(graph.SetOutputs({std::pair<GNode, int32_t>{add, 0}}), GRAPH_SUCCESS);
  const GraphDesc desc = Described(graph);
  CHECK_EQ(Names(desc), std::string("a b add"));
  CHECK_EQ(Node(desc, "add").inputs[0].desc.GetShape().GetDim(0U), 4);
  CHECK_EQ(graph.RemoveEdge(b, 0, add, 1), GRAPH_SUCCESS);
  CHECK_EQ(graph.RemoveEdge(b, 0, add, 1), GRAPH_FAILED);
  CHECK_EQ(graph.AddDataEdge(a, 0, add, 1), GRAPH_SUCCESS);
  CHECK_EQ(graph.AddControlEdge(b, add), GRAPH_SUCCESS);
  CHECK_EQ(add.GetInControlNodes().size(), 1U);
  CHECK_EQ(b.GetOutControlNodes().size(), 1U);
  CHECK_EQ(graph.RemoveEdge(b, -1, add, -1), GRAPH_SUCCESS);
  CHECK_EQ(graph.RemoveNode(b), GRAPH_SUCCESS);
  CHECK_EQ(graph.RemoveNode(b), GRAPH_FAILED);
  CHECK_EQ(Names(Described(graph)), std::string("a add"));
}

TEST(graphs_have_attributes) {
  Graph graph("g");
  AttrValue value;
  CHECK_EQ(graph.GetAttr("a", value), GRAPH_FAILED);
  (void)value.SetAttrValue(int64_t{2});
  CHECK_EQ(graph.SetAttr("a", value), GRAPH_SUCCESS);
  AttrValue read;
  int64_t number = 0;
  CHECK_EQ(graph.GetAttr("a", read), GRAPH_SUCCESS);
  CHECK_EQ(read.GetAttrValue(number), GRAPH_SUCCESS);
  CHECK_EQ(number, 2);
}

TEST(a_graph_from_inputs_is_null_if_it_cant_be_built) {
  AddGraph made;
  const GraphPtr graph = Graph::ConstructFromInputs({made.a, made.b}, "made");
  REQUIRE(graph != nullptr);
  CHECK_EQ(Names(Described(*graph)), std::string("a b add"));
  CHECK(Graph::ConstructFromInputs({made.add}, "none") == nullptr);
}

TEST(breaking_the_wiring_frees_an_input_for_another_source) {
  AddGraph made;
  op::Relu relu("relu");
  relu.set_input_x(made.a);
  made.a.BreakConnect();
  relu.set_input_x(made.b);
  Graph graph("g2");
  graph.SetInputs({made.b}).SetOutputs({relu});
  const GraphDesc desc = Described(graph);
  CHECK_EQ(SourceOf(desc, Node(desc, "relu").inputs[0]), std::string("b:0"));
}

TEST_MAIN()
