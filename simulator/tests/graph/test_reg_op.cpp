// REG_OP: what its clauses declare, the calls that they give, and the registries.
#include <map>

#include "check.h"
#include "every_clause.h"
#include "graph/graph_internal.h"
#include "ops_proto_legacy.h"

using namespace ge;
using opkit_sim::graph::AttrDecl;
using opkit_sim::graph::FindProto;
using opkit_sim::graph::PortKind;
using opkit_sim::graph::Proto;

namespace ge {

IMPLEMT_INFERFUNC(OneInOneOut, InferLikeInput) {
  TensorDesc y = op.get_output_desc_y();
  y.SetShape(op.get_input_desc_x().GetShape());
  y.SetDataType(DT_INT8);
  return op.update_output_desc_y(y);
}
INFER_FUNC_REG(OneInOneOut, InferLikeInput);

IMPLEMT_VERIFIER(OneInOneOut, VerifyPositive) { return op.get_attr_needed() > 0 ? GRAPH_SUCCESS : GRAPH_PARAM_INVALID; }
VERIFY_FUNC_REG(OneInOneOut, VerifyPositive);

COMMON_INFER_FUNC_REG(Relu, ELMTWISE_INFER_SHAPEANDTYPE("x", "y"));

}  // namespace ge

namespace {

const Proto &EveryProto() {
  static const Proto proto = [] {
    Proto found;
    REQUIRE(FindProto("EveryClause", found));
    return found;
  }();
  return proto;
}

TensorDesc Desc(const std::vector<int64_t> &dims, DataType type = DT_FLOAT) { return TensorDesc(Shape(dims), FORMAT_ND, type); }

}  // namespace

TEST(ports_keep_their_order_kind_and_type_text) {
  const Proto &proto = EveryProto();
  REQUIRE_EQ(proto.inputs.size(), 3U);
  CHECK(proto.inputs[0].name == "x");
  CHECK(proto.inputs[0].kind == PortKind::kRequired);
  CHECK(proto.inputs[0].dtype == "T");
  CHECK(proto.inputs[0].is_symbol);
  CHECK(proto.inputs[1].kind == PortKind::kOptional);
  CHECK(proto.inputs[1].dtype == "TensorType({DT_FLOAT, DT_INT32})");
  CHECK(!proto.inputs[1].is_symbol);
  CHECK(proto.inputs[2].kind == PortKind::kDynamic);
  CHECK(proto.inputs[2].dtype == "TL");
  REQUIRE_EQ(proto.outputs.size(), 3U);
  CHECK(proto.outputs[1].name == "mask");
  CHECK(proto.outputs[2].kind == PortKind::kDynamic);
}

TEST(type_symbols_keep_types_lists_and_promotions) {
  const Proto &proto = EveryProto();
  REQUIRE_EQ(proto.symbols.size(), 3U);
  CHECK(proto.symbols[0].types == (std::vector<DataType>{DT_FLOAT, DT_FLOAT16}));
  CHECK(!proto.symbols[0].is_list);
  CHECK(proto.symbols[1].is_list);
  CHECK_EQ(proto.symbols[1].types.size(), 12U);
  CHECK(proto.symbols[2].types.empty());
  REQUIRE_EQ(proto.symbols[2].promotes.size(), 2U);
  CHECK(proto.symbols[2].promotes[1] == "TL");
}

TEST(attributes_keep_their_order_type_and_whether_they_are_required) {
  const Proto &proto = EveryProto();
  const std::vector<std::pair<const char *, const char *>> expected = {{"int_attr", "Int"},
                                                                       {"float_attr", "Float"},
                                                                       {"bool_attr", "Bool"},
                                                                       {"string_attr", "String"},
                                                                       {"ascend_attr", "String"},
                                                                       {"tensor_attr", "Tensor"},
                                                                       {"type_attr", "Type"},
                                                                       {"ints_attr", "ListInt"},
                                                                       {"no_ints_attr", "ListInt"},
                                                                       {"floats_attr", "ListFloat"},
                                                                       {"bools_attr", "ListBool"},
                                                                       {"strings_attr", "ListString"},
                                                                       {"no_strings_attr", "ListString"},
                                                                       {"ascends_attr", "ListString"},
                                                                       {"tensors_attr", "ListTensor"},
                                                                       {"bytes_attr", "Bytes"},
                                                                       {"int_lists_attr", "ListListInt"},
                                                                       {"no_int_lists_attr", "ListListInt"},
                                                                       {"types_attr", "ListType"},
                                                                       {"int_required", "Int"},
                                                                       {"float_required", "Float"},
                                                                       {"bool_required", "Bool"},
                                                                       {"string_required", "String"},
                                                                       {"ascend_required", "String"},
                                                                       {"tensor_required", "Tensor"},
                                                                       {"type_required", "Type"},
                                                                       {"ints_required", "ListInt"},
                                                                       {"floats_required", "ListFloat"},
                                                                       {"bools_required", "ListBool"},
                                                                       {"strings_required", "ListString"},
                                                                       {"ascends_required", "ListString"},
                                                                       {"tensors_required", "ListTensor"},
                                                                       {"bytes_required", "Bytes"},
                                                                       {"int_lists_required", "ListListInt"},
                                                                       {"types_required", "ListType"}};
  REQUIRE_EQ(proto.attrs.size(), expected.size());
  for (size_t i = 0U; i < expected.size(); ++i) {
    CHECK_EQ(std::string(proto.attrs[i].name.GetString()), std::string(expected[i].first));
    CHECK_EQ(std::string(proto.attrs[i].type.GetString()), std::string(expected[i].second));
    CHECK_EQ(proto.attrs[i].is_required, std::string(expected[i].first).find("_required") != std::string::npos);
    CHECK_EQ(proto.attrs[i].is_required, std::holds_alternative<std::monostate>(proto.attrs[i].default_value));
  }
  CHECK_EQ(proto.subgraphs.size(), 2U);
}

TEST(defaults_are_what_the_getters_give) {
  const op::EveryClause op("op");
  CHECK_EQ(op.get_attr_int_attr(), int64_t{3});
  CHECK_EQ(op.get_attr_float_attr(), 0.1F);
  CHECK_EQ(op.get_attr_bool_attr(), true);
  CHECK_EQ(op.get_attr_string_attr(), std::string("text"));
  CHECK(op.get_attr_ascend_attr() == "ascend");
  CHECK(op.get_attr_type_attr() == DT_INT8);
  CHECK(op.get_attr_ints_attr() == (std::vector<int64_t>{1, 2}));
  CHECK(op.get_attr_no_ints_attr().empty());
  CHECK(op.get_attr_floats_attr() == (std::vector<float>{0.5F, 1.5F}));
  CHECK(op.get_attr_bools_attr() == (std::vector<bool>{true, false}));
  CHECK(op.get_attr_strings_attr() == (std::vector<std::string>{"a", "b"}));
  CHECK(op.get_attr_no_strings_attr().empty());
  CHECK(op.get_attr_ascends_attr() == (std::vector<AscendString>{"c"}));
  CHECK(op.get_attr_tensors_attr().empty());
  CHECK(op.get_attr_bytes_attr() == (std::vector<uint8_t>{1, 2, 3}));
  CHECK(op.get_attr_int_lists_attr() == (std::vector<std::vector<int64_t>>{{1, 2}, {3}}));
  CHECK(op.get_attr_types_attr() == (std::vector<DataType>{DT_FLOAT, DT_BF16}));
  AscendString text;
  CHECK_EQ(op.get_attr_string_attr(text), GRAPH_SUCCESS);
  CHECK(text == "text");
  std::vector<AscendString> texts;
  CHECK_EQ(op.get_attr_strings_attr(texts), GRAPH_SUCCESS);
  CHECK_EQ(texts.size(), 2U);
}

TEST(every_setter_is_read_back_and_chains) {
  op::EveryClause op("op");
  Tensor tensor(Desc({1}, DT_UINT8), std::vector<uint8_t>{7});
  op.set_attr_int_attr(-9).set_attr_float_attr(2.5F).set_attr_bool_attr(false).set_attr_string_attr("new").set_attr_ascend_attr(
      AscendString("newer"));
  op.set_attr_tensor_attr(tensor).set_attr_type_attr(DT_BF16).set_attr_ints_attr({4}).set_attr_floats_attr({1.0F}).set_attr_bools_attr(
      {true});
  op.set_attr_strings_attr(std::vector<std::string>{"z"})
      .set_attr_ascends_attr({AscendString("y")})
      .set_attr_tensors_attr({tensor, tensor});
  op.set_attr_bytes_attr({255}).set_attr_int_lists_attr({{9}}).set_attr_types_attr({DT_INT4});
  CHECK_EQ(op.get_attr_int_attr(), int64_t{-9});
  CHECK_EQ(op.get_attr_float_attr(), 2.5F);
  CHECK_EQ(op.get_attr_bool_attr(), false);
  CHECK_EQ(op.get_attr_string_attr(), std::string("new"));
  CHECK(op.get_attr_ascend_attr() == "newer");
  CHECK_EQ(op.get_attr_tensor_attr().GetData()[0], 7U);
  CHECK(op.get_attr_type_attr() == DT_BF16);
  CHECK(op.get_attr_ints_attr() == (std::vector<int64_t>{4}));
  CHECK(op.get_attr_floats_attr() == (std::vector<float>{1.0F}));
  CHECK(op.get_attr_bools_attr() == (std::vector<bool>{true}));
  CHECK(op.get_attr_strings_attr() == (std::vector<std::string>{"z"}));
  CHECK(op.get_attr_ascends_attr() == (std::vector<AscendString>{"y"}));
  CHECK_EQ(op.get_attr_tensors_attr().size(), 2U);
  CHECK(op.get_attr_bytes_attr() == (std::vector<uint8_t>{255}));
  CHECK(op.get_attr_int_lists_attr() == (std::vector<std::vector<int64_t>>{{9}}));
  CHECK(op.get_attr_types_attr() == (std::vector<DataType>{DT_INT4}));
}

TEST(a_setter_that_takes_a_function_changes_nothing) {
  op::EveryClause op("op");
  op.set_attr_int_attr(std::function<int64_t()>([] { return int64_t{100}; }));
  op.set_attr_string_attr(std::function<AscendString()>([] { return AscendString("no"); }));
  CHECK_EQ(op.get_attr_int_attr(), int64_t{3});
  CHECK_EQ(op.get_attr_string_attr(), std::string("text"));
}

TEST(required_attributes_are_absent_until_they_are_set) {
  op::EveryClause op("op");
  int64_t number = 0;
  CHECK_EQ(op.GetAttr("int_required", number), GRAPH_FAILED);
  CHECK_EQ(op.get_attr_int_required(), int64_t{0});
  AscendString text;
  CHECK_EQ(op.get_attr_string_required(text), GRAPH_FAILED);
  op.set_attr_int_required(5).set_attr_string_required("now").set_attr_strings_required(std::vector<AscendString>{"p", "q"});
  CHECK_EQ(op.get_attr_int_required(), int64_t{5});
  CHECK_EQ(op.get_attr_string_required(), std::string("now"));
  CHECK_EQ(op.get_attr_strings_required().size(), 2U);
}

TEST(names_of_ports_and_attributes_are_callable) {
  AscendString name;
  op::EveryClause::name_in_x(name);
  CHECK(name == "x");
  op::EveryClause::name_out_mask(name);
  CHECK(name == "mask");
  op::EveryClause::name_attr_int_attr(name);
  CHECK(name == "int_attr");
  op::EveryClause::name_graph_body(name);
  CHECK(name == "body");
}

TEST(integers_narrow_only_if_they_fit) {
  op::EveryClause op("op");
  op.SetAttr("wide", int64_t{1} << 40);
  int32_t narrow = 0;
  CHECK_EQ(op.GetAttr("wide", narrow), GRAPH_FAILED);
  op.SetAttr("wide", -1);
  CHECK_EQ(op.GetAttr("wide", narrow), GRAPH_SUCCESS);
  CHECK_EQ(narrow, -1);
  uint32_t positive = 0U;
  CHECK_EQ(op.GetAttr("wide", positive), GRAPH_FAILED);
  op.SetAttr("list", {1, 2, 3});
  std::vector<uint32_t> list;
  CHECK_EQ(op.GetAttr("list", list), GRAPH_SUCCESS);
  CHECK_EQ(list.size(), 3U);
  float real = 0.0F;
  CHECK_EQ(op.GetAttr("wide", real), GRAPH_FAILED);
}

TEST(attribute_values_pass_through_unknown_types) {
  op::EveryClause op("op");
  AttrValue value;
  CHECK_EQ(op.GetAttr("types_attr", value), GRAPH_SUCCESS);
  op.SetAttr("copy", value);
  std::vector<DataType> types;
  CHECK_EQ(op.GetAttr("copy", types), GRAPH_SUCCESS);
  CHECK_EQ(types.size(), 2U);
  CHECK_EQ(op.GetAttr("no such", value), GRAPH_FAILED);
}

TEST(all_and_declared_attributes_are_listed_with_their_types) {
  op::OneInOneOut op("op");
  op.SetAttr("extra", 1.5F);
  std::map<AscendString, AscendString> declared;
  CHECK_EQ(op.GetAllIrAttrNamesAndTypes(declared), GRAPH_SUCCESS);
  CHECK_EQ(declared.size(), 1U);
  CHECK(declared["needed"] == "Int");
  std::map<AscendString, AscendString> all;
  CHECK_EQ(op.GetAllAttrNamesAndTypes(all), GRAPH_SUCCESS);
  CHECK_EQ(all.size(), 2U);
  CHECK(all["extra"] == "Float");
}

TEST(ports_have_attributes_of_their_own) {
  op::EveryClause op("op");
  op.SetInputAttr("x", "role", "weight").SetOutputAttr(1, "alignment", int64_t{32}).SetInputAttr("nowhere", "role", "lost");
  AscendString role;
  CHECK_EQ(op.GetInputAttr(0, "role", role), GRAPH_SUCCESS);
  CHECK(role == "weight");
  int32_t alignment = 0;
  CHECK_EQ(op.GetOutputAttr("mask", "alignment", alignment), GRAPH_SUCCESS);
  CHECK_EQ(alignment, 32);
  CHECK_EQ(op.GetInputAttr("nowhere", "role", role), GRAPH_FAILED);
  CHECK_EQ(op.GetInputAttr(-1, "role", role), GRAPH_FAILED);
}

TEST(descs_are_set_and_read_by_port) {
  op::EveryClause op("op");
  CHECK_EQ(op.update_input_desc_x(Desc({2, 3}, DT_FLOAT16)), GRAPH_SUCCESS);
  CHECK_EQ(op.update_output_desc_mask(Desc({2}, DT_BOOL)), GRAPH_SUCCESS);
  CHECK(op.get_input_desc_x().GetDataType() == DT_FLOAT16);
  CHECK(op.get_output_desc_mask().GetDataType() == DT_BOOL);
  CHECK(op.GetInputDesc(0U).GetShape().GetDims() == (std::vector<int64_t>{2, 3}));
  CHECK_EQ(op.UpdateInputDesc("nowhere", Desc({1})), GRAPH_FAILED);
  CHECK_EQ(op.UpdateInputDesc(9U, Desc({1})), GRAPH_FAILED);
}

TEST(a_desc_that_was_read_is_a_copy) {
  op::EveryClause op("op");
  (void)op.update_input_desc_x(Desc({2, 3}));
  CHECK_EQ(op.get_input_desc_x().GetShape().SetDim(0U, 99), GRAPH_SUCCESS);
  CHECK_EQ(op.get_input_desc_x().GetShape().GetDim(0U), 2);
}

TEST(an_optional_input_counts_once_it_is_described) {
  op::EveryClause op("op");
  TensorDesc desc;
  CHECK_EQ(op.GetInputsSize(), 1U);
  CHECK_EQ(op.TryGetInputDesc("bias", desc), GRAPH_FAILED);
  (void)op.update_input_desc_bias(Desc({3}));
  CHECK_EQ(op.GetInputsSize(), 2U);
  CHECK_EQ(op.TryGetInputDesc("bias", desc), GRAPH_SUCCESS);
}

TEST(dynamic_members_go_behind_unless_told_otherwise) {
  op::EveryClause behind("behind");
  behind.create_dynamic_input_parts(2U).create_dynamic_output_pieces(3U);
  CHECK_EQ(behind.GetDynamicInputNum("parts"), 2);
  CHECK_EQ(behind.GetDynamicOutputNum("pieces"), 3);
  CHECK_EQ(behind.GetOutputsSize(), 5U);
  CHECK_EQ(behind.update_dynamic_input_desc_parts(1U, Desc({8})), GRAPH_SUCCESS);
  CHECK_EQ(behind.update_dynamic_input_desc_parts(2U, Desc({8})), GRAPH_FAILED);
  CHECK_EQ(behind.get_dynamic_input_desc_parts(1U).GetShape().GetDim(0U), 8);
  CHECK_EQ(behind.update_dynamic_output_desc_pieces(2U, Desc({4})), GRAPH_SUCCESS);
  CHECK_EQ(behind.get_dynamic_output_desc_pieces(2U).GetShape().GetDim(0U), 4);
  CHECK_EQ(behind.GetInputDesc(3U).GetShape().GetDim(0U), 8);

  op::EveryClause front("front");
  front.create_dynamic_input_parts(1U, false);
  (void)front.update_dynamic_input_desc_parts(0U, Desc({8}));
  CHECK_EQ(front.GetInputDesc(0U).GetShape().GetDim(0U), 8);

  op::EveryClause middle("middle");
  middle.create_dynamic_input_byindex_parts(1U, 1U);
  (void)middle.update_dynamic_input_desc_parts(0U, Desc({8}));
  CHECK_EQ(middle.GetInputDesc(1U).GetShape().GetDim(0U), 8);
}

TEST(a_copy_is_the_same_operator) {
  op::EveryClause op("op");
  Operator copy = op;
  op.set_attr_int_attr(77);
  int64_t number = 0;
  CHECK_EQ(copy.GetAttr("int_attr", number), GRAPH_SUCCESS);
  CHECK_EQ(number, 77);
}

TEST(an_operator_without_a_name_gets_one_of_its_own) {
  AscendString first;
  AscendString second;
  CHECK_EQ(op::OneInOneOut().GetName(first), GRAPH_SUCCESS);
  CHECK_EQ(op::OneInOneOut().GetName(second), GRAPH_SUCCESS);
  CHECK_CONTAINS(first.GetString(), "OneInOneOut_");
  CHECK(first != second);
}

TEST(calls_on_an_empty_operator_fail) {
  Operator empty;
  AscendString text;
  Tensor tensor;
  CHECK(empty.IsEmpty());
  CHECK_EQ(empty.GetName(text), GRAPH_FAILED);
  CHECK_EQ(empty.UpdateInputDesc("x", Desc({1})), GRAPH_FAILED);
  CHECK_EQ(empty.GetAttr("a", text), GRAPH_FAILED);
  CHECK_EQ(empty.GetInputConstData("x", tensor), GRAPH_FAILED);
  CHECK_EQ(empty.InferShapeAndType(), GRAPH_FAILED);
  CHECK_EQ(empty.GetInputsSize(), 0U);
  CHECK(Operator(static_cast<const char *>(nullptr), "T").IsEmpty());
}

TEST(the_factory_makes_registered_types_and_nothing_else) {
  CHECK(OperatorFactory::IsExistOp("EveryClause"));
  const Operator made = OperatorFactory::CreateOperator("made", "EveryClause");
  AscendString type;
  CHECK_EQ(made.GetOpType(type), GRAPH_SUCCESS);
  CHECK(type == "EveryClause");
  CHECK(!OperatorFactory::IsExistOp("NobodyKnowsMe"));
  CHECK(OperatorFactory::CreateOperator("made", "NobodyKnowsMe").IsEmpty());
  std::vector<AscendString> types;
  CHECK_EQ(OperatorFactory::GetOpsTypeList(types), GRAPH_SUCCESS);
  CHECK(std::find(types.begin(), types.end(), AscendString("Data")) != types.end());
}

TEST(the_first_registration_of_a_type_stays) {
  const OperatorCreatorRegister first("Contested", [](const AscendString &name) { return op::OneInOneOut(name); });
  const OperatorCreatorRegister second("Contested", [](const AscendString &name) { return op::EveryClause(name); });
  AscendString type;
  CHECK_EQ(OperatorFactory::CreateOperator("op", "Contested").GetOpType(type), GRAPH_SUCCESS);
  CHECK(type == "OneInOneOut");
}

TEST(inference_runs_the_function_of_the_type) {
  op::OneInOneOut op("op");
  (void)op.update_input_desc_x(Desc({4, 5}));
  CHECK_EQ(op.InferShapeAndType(), GRAPH_SUCCESS);
  CHECK(op.get_output_desc_y().GetShape().GetDims() == (std::vector<int64_t>{4, 5}));
  CHECK(op.get_output_desc_y().GetDataType() == DT_INT8);
  op::Relu relu("relu");
  (void)relu.update_input_desc_x(Desc({6}, DT_FLOAT16));
  CHECK_EQ(relu.InferShapeAndType(), GRAPH_SUCCESS);
  CHECK(relu.get_output_desc_y().GetDataType() == DT_FLOAT16);
  CHECK_EQ(op::EveryClause("none").InferShapeAndType(), GRAPH_FAILED);
}

TEST(verification_asks_for_required_attributes_then_for_the_types_rule) {
  op::OneInOneOut op("op");
  CHECK_EQ(op.VerifyAllAttr(), GRAPH_FAILED);
  op.set_attr_needed(-1);
  CHECK_EQ(op.VerifyAllAttr(), GRAPH_PARAM_INVALID);
  op.set_attr_needed(1);
  CHECK_EQ(op.VerifyAllAttr(), GRAPH_SUCCESS);
}

TEST(subgraphs_are_built_when_they_are_asked_for) {
  op::EveryClause op("op");
  CHECK(!op.get_subgraph_body().IsValid());
  op.set_subgraph_builder_body([] { return Graph("inner"); });
  AscendString name;
  CHECK_EQ(op.get_subgraph_body().GetName(name), GRAPH_SUCCESS);
  CHECK(name == "inner");
  op.set_dynamic_subgraph_builder_branches(0U, [] { return Graph("lost"); });
  CHECK(!op.get_dynamic_subgraph_builder_branches(0U));
  op.create_dynamic_subgraph_branches(2U).set_dynamic_subgraph_builder_branches(1U, [] { return Graph("second"); });
  CHECK_EQ(op.get_dynamic_subgraph_branches(1U).GetName(name), GRAPH_SUCCESS);
  CHECK(name == "second");
  CHECK_EQ(op.GetSubgraphNamesCount(), 2U);
}

TEST(built_in_prototypes_have_the_toolkits_ports) {
  Proto proto;
  REQUIRE(FindProto("Const", proto));
  CHECK(proto.inputs.empty());
  CHECK(proto.attrs[0].name == "value");
  REQUIRE(FindProto("Add", proto));
  CHECK(proto.inputs[1].name == "x2");
  REQUIRE(FindProto("Data", proto));
  CHECK(proto.attrs[0].name == "index");
  CHECK(!FindProto("NobodyKnowsMe", proto));
}

// The deprecated calls that take std::string are part of the interface.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(std_string_calls_reach_the_same_state) {
  const std::string x = "x";
  op::EveryClause op(std::string("named"));
  CHECK_EQ(op.GetName(), std::string("named"));
  CHECK_EQ(op.GetOpType(), std::string("EveryClause"));
  CHECK_EQ(op::EveryClause::name_in_x(), x);
  op.SetAttr(std::string("int_attr"), int64_t{8}).SetAttr(std::string("s"), std::string("v"));
  op.SetAttr(std::string("l"), std::vector<std::string>{"v", "w"});
  std::string text;
  CHECK_EQ(op.GetAttr(std::string("s"), text), GRAPH_SUCCESS);
  CHECK_EQ(text, std::string("v"));
  std::vector<std::string> texts;
  CHECK_EQ(op.GetAttr(std::string("l"), texts), GRAPH_SUCCESS);
  CHECK_EQ(texts.size(), 2U);
  CHECK_EQ(op.UpdateInputDesc(x, Desc({3})), GRAPH_SUCCESS);
  CHECK_EQ(op.GetInputDesc(x).GetShape().GetDim(0U), 3);
  CHECK_EQ(op.GetAllAttrNamesAndTypes().at("s"), std::string("String"));
  op::OneInOneOut source("source");
  op.set_input_x(source, std::string("y"));
  CHECK(!OperatorFactory::CreateOperator(std::string("n"), std::string("Data")).IsEmpty());
  const OperatorCreatorRegister registered(std::string("ByString"),
                                           OpCreator([](const std::string &name) { return op::OneInOneOut(name.c_str()); }));
  CHECK(OperatorFactory::IsExistOp(std::string("ByString")));
  TensorDesc desc;
  desc.SetName(std::string("d"));
  CHECK_EQ(desc.GetName(), std::string("d"));
  Tensor tensor;
  CHECK_EQ(tensor.SetData(std::string("abc")), GRAPH_SUCCESS);
  CHECK_EQ(Graph(std::string("g")).GetName(), std::string("g"));
}
#pragma GCC diagnostic pop

TEST_MAIN()
