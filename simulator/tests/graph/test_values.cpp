// Values of the graph side: numbers that travel, sizes, strings, shapes, descs, tensors, status codes.
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "check.h"
#include "external/ge_common/api_error_codes.h"
#include "graph/ascend_string.h"
#include "graph/attr_value.h"
#include "graph/inference_context.h"
#include "graph/tensor.h"
#include "graph/types.h"
#include "metadef/tensor_internal.h"
#include "metadef/type_sets.h"
#include "utils/extern_math_util.h"

using namespace ge;

namespace {

std::vector<int64_t> Dims(std::initializer_list<int64_t> dims) { return dims; }

}  // namespace

TEST(data_types_have_the_toolkits_numbers) {
  const std::vector<std::pair<DataType, int>> expected = {
      {DT_FLOAT, 0},          {DT_FLOAT16, 1},      {DT_INT8, 2},         {DT_INT32, 3},          {DT_UINT8, 4},
      {DT_INT16, 6},          {DT_UINT16, 7},       {DT_UINT32, 8},       {DT_INT64, 9},          {DT_UINT64, 10},
      {DT_DOUBLE, 11},        {DT_BOOL, 12},        {DT_STRING, 13},      {DT_DUAL_SUB_INT8, 14}, {DT_DUAL_SUB_UINT8, 15},
      {DT_COMPLEX64, 16},     {DT_COMPLEX128, 17},  {DT_QINT8, 18},       {DT_QINT16, 19},        {DT_QINT32, 20},
      {DT_QUINT8, 21},        {DT_QUINT16, 22},     {DT_RESOURCE, 23},    {DT_STRING_REF, 24},    {DT_DUAL, 25},
      {DT_VARIANT, 26},       {DT_BF16, 27},        {DT_UNDEFINED, 28},   {DT_INT4, 29},          {DT_UINT1, 30},
      {DT_INT2, 31},          {DT_UINT2, 32},       {DT_COMPLEX32, 33},   {DT_HIFLOAT8, 34},      {DT_FLOAT8_E5M2, 35},
      {DT_FLOAT8_E4M3FN, 36}, {DT_FLOAT8_E8M0, 37}, {DT_FLOAT6_E3M2, 38}, {DT_FLOAT6_E2M3, 39},   {DT_FLOAT4_E2M1, 40},
      {DT_FLOAT4_E1M2, 41},   {DT_HIFLOAT4, 42},    {DT_MAX, 43}};
  for (const auto &[type, number] : expected) {
    CHECK_EQ(static_cast<int>(type), number);
  }
  CHECK_EQ(static_cast<int>(C_DT_BF16), 27);
}

TEST(formats_have_the_toolkits_numbers_and_names) {
  const std::vector<std::pair<Format, std::pair<int, const char *>>> expected = {{FORMAT_NCHW, {0, "NCHW"}},
                                                                                 {FORMAT_NHWC, {1, "NHWC"}},
                                                                                 {FORMAT_ND, {2, "ND"}},
                                                                                 {FORMAT_NC1HWC0, {3, "NC1HWC0"}},
                                                                                 {FORMAT_FRACTAL_Z, {4, "FRACTAL_Z"}},
                                                                                 {FORMAT_NC1C0HWPAD, {5, "NC1C0HWPAD"}},
                                                                                 {FORMAT_C1HWNC0, {9, "C1HWNC0"}},
                                                                                 {FORMAT_NC1HWC0_C04, {12, "NC1HWC0_C04"}},
                                                                                 {FORMAT_HWCN, {16, "HWCN"}},
                                                                                 {FORMAT_C1HWNCoC0, {25, "C1HWNCoC0"}},
                                                                                 {FORMAT_MD, {26, "MD"}},
                                                                                 {FORMAT_NDHWC, {27, "NDHWC"}},
                                                                                 {FORMAT_FRACTAL_NZ, {29, "FRACTAL_NZ"}},
                                                                                 {FORMAT_NCDHW, {30, "NCDHW"}},
                                                                                 {FORMAT_NDC1HWC0, {32, "NDC1HWC0"}},
                                                                                 {FORMAT_FRACTAL_Z_3D, {33, "FRACTAL_Z_3D"}},
                                                                                 {FORMAT_NC, {35, "NC"}},
                                                                                 {FORMAT_FRACTAL_ZN_LSTM, {38, "FRACTAL_ZN_LSTM"}},
                                                                                 {FORMAT_RESERVED, {40, "RESERVED"}},
                                                                                 {FORMAT_ALL, {41, "ALL"}},
                                                                                 {FORMAT_NULL, {42, "NULL"}},
                                                                                 {FORMAT_NCL, {47, "NCL"}},
                                                                                 {FORMAT_C1HWC0, {49, "C1HWC0"}},
                                                                                 {FORMAT_FRACTAL_NZ_C0_16, {50, "FRACTAL_NZ_C0_16"}},
                                                                                 {FORMAT_FRACTAL_NZ_C0_32, {51, "FRACTAL_NZ_C0_32"}},
                                                                                 {FORMAT_FRACTAL_NZ_C0_2, {52, "FRACTAL_NZ_C0_2"}},
                                                                                 {FORMAT_FRACTAL_NZ_C0_4, {53, "FRACTAL_NZ_C0_4"}},
                                                                                 {FORMAT_FRACTAL_NZ_C0_8, {54, "FRACTAL_NZ_C0_8"}}};
  for (const auto &[format, number_and_name] : expected) {
    CHECK_EQ(static_cast<int>(format), number_and_name.first);
    CHECK_EQ(std::string(GetFormatName(format)), std::string(number_and_name.second));
  }
  CHECK_EQ(static_cast<int>(FORMAT_END), 55);
  CHECK_EQ(static_cast<int>(FORMAT_MAX), 0xFF);
  CHECK_EQ(std::string(GetFormatName(static_cast<Format>(200))), std::string("RESERVED"));
}

TEST(format_words_carry_sub_format_and_c0) {
  const int32_t word = GetFormatFromSubAndC0(FORMAT_FRACTAL_Z, 240, 4);
  CHECK_EQ(word, 0x400F004);
  CHECK_EQ(GetPrimaryFormat(word), static_cast<int32_t>(FORMAT_FRACTAL_Z));
  CHECK_EQ(GetSubFormat(word), 240);
  CHECK_EQ(GetC0Format(word), 4);
  CHECK_EQ(GetC0Value(word), 8);
  CHECK(HasSubFormat(word));
  CHECK(HasC0Format(word));
  CHECK_EQ(GetFormatFromC0(GetFormatFromSub(FORMAT_FRACTAL_Z, 240), 4), word);
  CHECK(!HasSubFormat(FORMAT_ND));
  CHECK_EQ(GetC0Value(FORMAT_ND), -1);
  CHECK_EQ(std::string(GetFormatName(static_cast<Format>(word))), std::string("FRACTAL_Z"));
}

TEST(element_sizes_count_bytes_or_bits) {
  const std::map<DataType, int> expected = {
      {DT_FLOAT, 4},          {DT_FLOAT16, 2},        {DT_INT8, 1},           {DT_INT32, 4},         {DT_UINT8, 1},
      {DT_INT16, 2},          {DT_UINT16, 2},         {DT_UINT32, 4},         {DT_INT64, 8},         {DT_UINT64, 8},
      {DT_DOUBLE, 8},         {DT_BOOL, 1},           {DT_STRING, -1},        {DT_DUAL_SUB_INT8, 1}, {DT_COMPLEX64, 8},
      {DT_COMPLEX128, 16},    {DT_QINT16, 2},         {DT_QINT32, 4},         {DT_QUINT16, 2},       {DT_RESOURCE, 8},
      {DT_STRING_REF, -1},    {DT_DUAL, 5},           {DT_VARIANT, 8},        {DT_BF16, 2},          {DT_UNDEFINED, -1},
      {DT_INT4, 1004},        {DT_UINT1, 1001},       {DT_INT2, 1002},        {DT_UINT2, 1002},      {DT_COMPLEX32, 4},
      {DT_HIFLOAT8, 1},       {DT_FLOAT8_E5M2, 1},    {DT_FLOAT8_E4M3FN, 1},  {DT_FLOAT8_E8M0, 1},   {DT_FLOAT6_E3M2, 1006},
      {DT_FLOAT6_E2M3, 1006}, {DT_FLOAT4_E2M1, 1004}, {DT_FLOAT4_E1M2, 1004}, {DT_HIFLOAT4, 1004}};
  for (const auto &[type, size] : expected) {
    CHECK_EQ(GetSizeByDataType(type), size);
  }
  CHECK_EQ(GetSizeByDataType(DT_MAX), -1);
  CHECK_EQ(GetSizeByDataType(static_cast<DataType>(5)), -1);
  CHECK_EQ(GetSizeByDataType(static_cast<DataType>(63)), -1);
}

TEST(byte_sizes_fill_up_the_last_byte_and_refuse_overflow) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  CHECK_EQ(GetSizeInBytes(0, DT_FLOAT), 0);
  CHECK_EQ(GetSizeInBytes(16777216, DT_FLOAT), 67108864);
  CHECK_EQ(GetSizeInBytes(3, DT_INT4), 2);
  CHECK_EQ(GetSizeInBytes(2, DT_INT4), 1);
  CHECK_EQ(GetSizeInBytes(9, DT_UINT1), 2);
  CHECK_EQ(GetSizeInBytes(3, DT_FLOAT6_E3M2), 3);
  CHECK_EQ(GetSizeInBytes(-1, DT_FLOAT), -1);
  CHECK_EQ(GetSizeInBytes(1, DT_STRING), -1);
  CHECK_EQ(GetSizeInBytes(1, DT_UNDEFINED), -1);
  CHECK_EQ(GetSizeInBytes(1, DT_MAX), -1);
  CHECK_EQ(GetSizeInBytes(kMax / 4, DT_FLOAT), kMax / 4 * 4);
  CHECK_EQ(GetSizeInBytes(kMax / 4 + 1, DT_FLOAT), -1);
  CHECK_EQ(GetSizeInBytes(kMax, DT_UINT1), kMax / 8 + 1);
  CHECK_EQ(GetSizeInBytes(kMax / 4 + 1, DT_INT4), -1);
}

TEST(graph_statuses_have_the_toolkits_numbers) {
  CHECK_EQ(GRAPH_SUCCESS, 0U);
  CHECK_EQ(GRAPH_FAILED, 0xFFFFFFFFU);
  CHECK_EQ(GRAPH_NOT_CHANGED, 1343242304U);
  CHECK_EQ(GRAPH_PARAM_INVALID, 50331649U);
  CHECK_EQ(GRAPH_NODE_WITHOUT_CONST_INPUT, 50331648U);
  CHECK_EQ(GRAPH_NODE_NEED_REPASS, 50331647U);
  CHECK_EQ(GRAPH_INVALID_IR_DEF, 50331646U);
  CHECK_EQ(OP_WITHOUT_IR_DATATYPE_INFER_RULE, 50331645U);
  CHECK_EQ(GRAPH_PARAM_OUT_OF_RANGE, 50331644U);
  CHECK_EQ(GRAPH_MEM_OPERATE_FAILED, 50331539U);
  CHECK_EQ(GRAPH_NULL_PTR, 50331538U);
  CHECK_EQ(GRAPH_MEMCPY_FAILED, 50331537U);
  CHECK_EQ(GRAPH_MEMSET_FAILED, 50331536U);
  CHECK_EQ(GRAPH_MATH_CAL_FAILED, 50331429U);
  CHECK_EQ(GRAPH_ADD_OVERFLOW, 50331428U);
  CHECK_EQ(GRAPH_MUL_OVERFLOW, 50331427U);
  CHECK_EQ(GRAPH_RoundUp_Overflow, 50331426U);
}

namespace ge {
GE_ERRORNO(0b01, 0b01, 0b000, 8U, 1U, TEST_CODE, 0x23U, "a code of the test");
}  // namespace ge

TEST(status_codes_are_composed_and_described) {
  CHECK_EQ(SUCCESS, 0U);
  CHECK_EQ(FAILED, 0xFFFFFFFFU);
  CHECK_EQ(END_OF_SEQUENCE, 0x50100007U);
  CHECK_EQ(TEST_CODE, 0x50101023U);
  StatusFactory *factory = StatusFactory::Instance();
  CHECK_EQ(factory->GetErrDesc(SUCCESS), std::string("success"));
  CHECK_EQ(factory->GetErrDesc(FAILED), std::string("failed"));
  CHECK_EQ(factory->GetErrDesc(TEST_CODE), std::string("a code of the test"));
  CHECK_EQ(factory->GetErrDesc(4711U), std::string(""));
}

TEST(the_first_description_of_a_code_stays) {
  StatusFactory::Instance()->RegisterErrorNo(TEST_CODE, "another text");
  StatusFactory::Instance()->RegisterErrorNo(TEST_CODE, std::string("another text"));
  StatusFactory::Instance()->RegisterErrorNo(TEST_CODE, static_cast<const char *>(nullptr));
  CHECK(StatusFactory::Instance()->GetErrDescV2(TEST_CODE) == "a code of the test");
}

TEST(an_empty_string_reads_as_no_characters) {
  CHECK_EQ(std::string(AscendString().GetString()), std::string(""));
  CHECK_EQ(std::string(AscendString(static_cast<const char *>(nullptr)).GetString()), std::string(""));
  CHECK_EQ(AscendString().GetLength(), 0U);
  CHECK(AscendString() == "");
  CHECK(AscendString() == AscendString(""));
}

TEST(strings_compare_by_characters) {
  const AscendString a("abc");
  const AscendString b("abd");
  CHECK(a < b);
  CHECK(b > a);
  CHECK(a <= a);
  CHECK(a >= a);
  CHECK(a != b);
  CHECK(a == "abc");
  CHECK(a != "abd");
  CHECK_EQ(a.Hash(), std::hash<AscendString>()(AscendString("abc")));
  CHECK_EQ(a.Find("bc"), 1U);
  CHECK_EQ(a.Find("x"), static_cast<size_t>(-1));
  CHECK_EQ(AscendString("ab\0cd", 5U).GetLength(), 5U);
  CHECK(AscendString("ab\0cd", 5U) != AscendString("ab"));
  CHECK(AscendString("abcdef", 3U) == "abc");
}

TEST(shape_sizes_tell_unknown_from_empty) {
  CHECK_EQ(Shape({4096, 4096}).GetShapeSize(), 16777216);
  CHECK_EQ(Shape({4, -1}).GetShapeSize(), -1);
  CHECK_EQ(Shape({-2}).GetShapeSize(), -1);
  CHECK_EQ(Shape({4, 0}).GetShapeSize(), 0);
  CHECK_EQ(Shape().GetShapeSize(), 0);
  CHECK_EQ(Shape({std::numeric_limits<int64_t>::max(), 2}).GetShapeSize(), 0);
  CHECK_EQ(Shape({-2}).GetDimNum(), 0U);
  CHECK_EQ(Shape({-2}).GetDims().size(), 1U);
  CHECK_EQ(Shape({2, 3}).GetDim(2), 0);
  CHECK_EQ(Shape({2, 3}).SetDim(2, 1), GRAPH_FAILED);
}

TEST(copies_of_a_shape_share_their_dims) {
  Shape shape({2, 3});
  Shape copy = shape;
  CHECK_EQ(copy.SetDim(0, 7), GRAPH_SUCCESS);
  CHECK_EQ(shape.GetDim(0), 7);
  TensorDesc desc(shape);
  CHECK_EQ(desc.GetShape().SetDim(1, 9), GRAPH_SUCCESS);
  CHECK_EQ(shape.GetDim(1), 9);
  const TensorDesc detached = TensorAdapter::Detach(desc);
  CHECK_EQ(detached.GetShape().SetDim(0, 1), GRAPH_SUCCESS);
  CHECK_EQ(shape.GetDim(0), 7);
}

TEST(a_desc_has_the_toolkits_defaults) {
  const TensorDesc desc(Shape({2, 3}));
  CHECK(desc.GetFormat() == FORMAT_ND);
  CHECK(desc.GetDataType() == DT_FLOAT);
  CHECK_EQ(desc.GetRealDimCnt(), 2);
  CHECK(desc.GetPlacement() == kPlacementHost);
}

TEST(a_desc_is_a_value) {
  TensorDesc desc(Shape({2, 3}), FORMAT_NCHW, DT_INT32);
  desc.SetName("x");
  TensorDesc copy = desc;
  copy.SetFormat(FORMAT_NHWC);
  copy.SetName("y");
  AscendString name;
  CHECK_EQ(desc.GetName(name), GRAPH_SUCCESS);
  CHECK(name == "x");
  CHECK(desc.GetFormat() == FORMAT_NCHW);
  const TensorDesc moved = std::move(copy);
  CHECK(moved.GetFormat() == FORMAT_NHWC);
  copy = desc;
  CHECK(copy.GetDataType() == DT_INT32);
}

TEST(a_desc_keeps_all_it_is_told) {
  TensorDesc desc;
  desc.Update(Shape({1}), FORMAT_NC1HWC0, DT_BF16);
  desc.SetOriginShape(Shape({5}));
  desc.SetOriginFormat(FORMAT_NCHW);
  desc.SetSize(64);
  desc.SetPlacement(kPlacementDevice);
  desc.SetExpandDimsRule("0110");
  CHECK_EQ(desc.SetShapeRange({{1, 8}}), GRAPH_SUCCESS);
  std::vector<std::pair<int64_t, int64_t>> range;
  CHECK_EQ(desc.GetShapeRange(range), GRAPH_SUCCESS);
  REQUIRE_EQ(range.size(), 1U);
  CHECK_EQ(range[0].second, 8);
  AscendString rule;
  CHECK_EQ(desc.GetExpandDimsRule(rule), GRAPH_SUCCESS);
  CHECK(rule == "0110");
  CHECK_EQ(desc.GetSize(), 64);
  CHECK_EQ(desc.GetOriginShape().GetDim(0), 5);
  CHECK(desc.GetOriginFormat() == FORMAT_NCHW);
  CHECK(desc.GetPlacement() == kPlacementDevice);
  CHECK_EQ(desc.SetUnknownDimNumShape(), GRAPH_SUCCESS);
  CHECK(desc.GetShape().GetDims() == UNKNOWN_RANK);
}

TEST(constant_data_of_a_desc_is_lent) {
  TensorDesc desc;
  uint8_t *bytes = nullptr;
  size_t size = 0U;
  CHECK(!desc.GetConstData(&bytes, size));
  auto buffer = std::make_unique<uint8_t[]>(3U);
  buffer[2] = 9U;
  desc.SetConstData(std::move(buffer), 3U);
  const TensorDesc copy = desc;
  REQUIRE(copy.GetConstData(&bytes, size));
  CHECK_EQ(size, 3U);
  CHECK_EQ(bytes[2], 9U);
}

TEST(detaching_fills_origin_from_storage) {
  const TensorDesc plain = TensorAdapter::Detach(TensorDesc(Shape({2, 3}), FORMAT_NCHW));
  CHECK(plain.GetOriginShape().GetDims() == Dims({2, 3}));
  CHECK(plain.GetOriginFormat() == FORMAT_NCHW);
  TensorDesc with_origin(Shape({2, 3}), FORMAT_NCHW);
  with_origin.SetOriginShape(Shape({6}));
  with_origin.SetOriginFormat(FORMAT_ND);
  CHECK(TensorAdapter::Detach(with_origin).GetOriginShape().GetDims() == Dims({6}));
  CHECK(TensorAdapter::Detach(with_origin).GetOriginFormat() == FORMAT_ND);
}

TEST(a_tensor_is_a_handle_until_it_is_cloned) {
  const std::vector<uint8_t> bytes = {1, 2, 3, 4};
  Tensor tensor(TensorDesc(Shape({4}), FORMAT_ND, DT_UINT8), bytes);
  Tensor shared = tensor;
  Tensor clone = tensor.Clone();
  shared.GetData()[0] = 9U;
  CHECK_EQ(tensor.GetData()[0], 9U);
  CHECK_EQ(clone.GetData()[0], 1U);
  CHECK_EQ(clone.GetSize(), 4U);
  CHECK_EQ(tensor.IsValid(), GRAPH_SUCCESS);
}

TEST(a_tensor_is_valid_if_its_bytes_are_as_many_as_the_shape_asks_for) {
  const uint8_t bytes[8] = {};
  CHECK_EQ(Tensor(TensorDesc(Shape({2}), FORMAT_ND, DT_FLOAT), bytes, 8U).IsValid(), GRAPH_SUCCESS);
  CHECK_EQ(Tensor(TensorDesc(Shape({3}), FORMAT_ND, DT_FLOAT), bytes, 8U).IsValid(), GRAPH_FAILED);
  CHECK_EQ(Tensor(TensorDesc(Shape(), FORMAT_ND, DT_INT64), bytes, 8U).IsValid(), GRAPH_SUCCESS);
  CHECK_EQ(Tensor(TensorDesc(Shape({-1}), FORMAT_ND, DT_FLOAT), bytes, 8U).IsValid(), GRAPH_SUCCESS);
  CHECK_EQ(Tensor(TensorDesc(Shape({8}), FORMAT_ND, DT_UNDEFINED), bytes, 8U).IsValid(), GRAPH_FAILED);
}

TEST(a_tensor_frees_what_it_was_given_once) {
  int freed = 0;
  uint8_t bytes[4] = {5U, 6U, 7U, 8U};
  {
    Tensor tensor;
    CHECK_EQ(tensor.SetData(bytes, sizeof(bytes), [&freed](uint8_t *) { ++freed; }), GRAPH_SUCCESS);
    CHECK(tensor.GetData() == bytes);
    {
      const auto out = tensor.ResetData();
      CHECK(out.get() == bytes);
      CHECK_EQ(tensor.GetSize(), 0U);
      CHECK_EQ(freed, 0);
    }
    CHECK_EQ(freed, 1);
  }
  CHECK_EQ(freed, 1);
  CHECK_EQ(Tensor().SetData(static_cast<const uint8_t *>(nullptr), 4U), GRAPH_FAILED);
}

TEST(strings_in_a_tensor_have_heads_that_count_from_its_start) {
  Tensor tensor;
  CHECK_EQ(tensor.SetData(std::vector<AscendString>{"ab", "cde"}), GRAPH_SUCCESS);
  StringHead heads[2];
  REQUIRE_EQ(tensor.GetSize(), sizeof(heads) + 3U + 4U);
  std::memcpy(heads, tensor.GetData(), sizeof(heads));
  CHECK_EQ(heads[0].len, 2);
  CHECK_EQ(heads[1].len, 3);
  CHECK_EQ(std::string(reinterpret_cast<const char *>(tensor.GetData()) + heads[1].addr), std::string("cde"));
  CHECK_EQ(tensor.SetData("hello"), GRAPH_SUCCESS);
  CHECK_EQ(tensor.GetSize(), sizeof(StringHead) + 6U);
}

TEST(the_parts_of_a_tensors_desc_can_be_set_alone) {
  Tensor tensor(TensorDesc(Shape({2}), FORMAT_ND, DT_FLOAT));
  CHECK_EQ(tensor.SetShapeDimNum(3U), GRAPH_SUCCESS);
  CHECK_EQ(tensor.SetShapeDim(2U, 5), GRAPH_SUCCESS);
  CHECK(tensor.GetTensorDesc().GetShape().GetDims() == Dims({2, 0, 5}));
  CHECK_EQ(tensor.SetShapeDimNum(26U), GRAPH_FAILED);
  CHECK_EQ(tensor.SetShapeDim(3U, 5), GRAPH_FAILED);
  CHECK_EQ(tensor.SetOriginShapeDimNum(1U), GRAPH_SUCCESS);
  CHECK_EQ(tensor.SetOriginShapeDim(0U, 10), GRAPH_SUCCESS);
  CHECK_EQ(tensor.GetOriginShapeDim(0U), 10);
  CHECK_EQ(tensor.SetDataType(DT_INT8), GRAPH_SUCCESS);
  CHECK_EQ(tensor.SetFormat(FORMAT_NCHW), GRAPH_SUCCESS);
  CHECK_EQ(tensor.SetPlacement(kPlacementDevice), GRAPH_SUCCESS);
  CHECK(tensor.GetDataType() == DT_INT8);
  CHECK(tensor.GetFormat() == FORMAT_NCHW);
  CHECK(tensor.GetPlacement() == kPlacementDevice);
}

TEST(type_groups_hold_the_toolkits_types) {
  const auto types = [](const TensorType &type) { return type.tensor_type_impl_->types; };
  CHECK_EQ(types(TensorType::ALL()).size(), 23U);
  CHECK_EQ(types(TensorType::OrdinaryType()).size(), 16U);
  CHECK_EQ(types(TensorType::BasicType()).size(), 20U);
  CHECK_EQ(types(TensorType::NumberType()).size(), 18U);
  CHECK_EQ(types(TensorType::RealNumberType()).size(), 12U);
  CHECK_EQ(types(TensorType::UnaryDataType()).size(), 7U);
  CHECK_EQ(types(TensorType::QuantifiedType()).size(), 5U);
  CHECK(types(TensorType::FloatingDataType()) == (std::vector<DataType>{DT_DOUBLE, DT_FLOAT, DT_FLOAT16}));
  CHECK(types(TensorType::FLOAT()) == (std::vector<DataType>{DT_FLOAT, DT_FLOAT16, DT_BF16}));
  CHECK(types(TensorType::IndexNumberType()) == (std::vector<DataType>{DT_INT32, DT_INT64}));
  CHECK(types(TensorType(DT_BOOL)) == (std::vector<DataType>{DT_BOOL}));
  CHECK_EQ(types(TensorType::IntegerDataType()).size(), 8U);
  CHECK_EQ(types(TensorType::SignedDataType()).size(), 4U);
  CHECK_EQ(types(TensorType::UnsignedDataType()).size(), 4U);
  CHECK_EQ(types(TensorType::ComplexDataType()).size(), 3U);
}

TEST(a_promotion_names_its_symbols_after_it_was_moved) {
  Promote promote({"T1", "T2"});
  Promote moved(std::move(promote));
  REQUIRE_EQ(moved.Syms().size(), 2U);
  CHECK_EQ(std::string(moved.Syms()[1]), std::string("T2"));
}

TEST(attribute_values_keep_their_type) {
  AttrValue value;
  int64_t number = 0;
  CHECK_EQ(value.GetAttrValue(number), GRAPH_FAILED);
  CHECK_EQ(value.SetAttrValue(int64_t{7}), GRAPH_SUCCESS);
  CHECK_EQ(value.GetAttrValue(number), GRAPH_SUCCESS);
  CHECK_EQ(number, 7);
  float real = 0.0F;
  CHECK_EQ(value.GetAttrValue(real), GRAPH_FAILED);
  int converted = 0;
  CHECK_EQ(value.GetValue<AttrValue::INT>(converted), GRAPH_SUCCESS);
  CHECK_EQ(converted, 7);
  CHECK_EQ(value.SetAttrValue(AscendString("text")), GRAPH_SUCCESS);
  std::string text;
  CHECK_EQ(value.GetValue<AttrValue::STR>(text), GRAPH_SUCCESS);
  CHECK_EQ(text, std::string("text"));
  CHECK_EQ(value.SetAttrValue(std::vector<std::vector<int64_t>>{{1}, {2, 3}}), GRAPH_SUCCESS);
  std::vector<std::vector<int64_t>> lists;
  CHECK_EQ(value.GetAttrValue(lists), GRAPH_SUCCESS);
  CHECK_EQ(lists[1][1], 3);
  CHECK_EQ(AttrValue::CreateFrom<AttrValue::INT>(3), int64_t{3});
}

TEST(an_inference_context_keeps_handles_marks_and_resources) {
  const std::unique_ptr<InferenceContext> context = InferenceContext::Create();
  context->SetOutputHandleShapesAndTypes({{ShapeAndType(Shape({2}), DT_INT8)}});
  CHECK(context->GetOutputHandleShapesAndTypes()[0][0].GetDataType() == DT_INT8);
  context->SetMarks(std::vector<AscendString>{"m"});
  std::vector<AscendString> marks;
  context->GetMarks(marks);
  REQUIRE_EQ(marks.size(), 1U);
  CHECK(marks[0] == "m");
  ResourceContext resource;
  CHECK(context->GetResourceContext("r") == nullptr);
  CHECK_EQ(context->SetResourceContext("r", &resource), GRAPH_SUCCESS);
  CHECK(context->GetResourceContext("r") == &resource);
  CHECK_EQ(context->AddChangedResourceKey("r"), GRAPH_SUCCESS);
  CHECK_EQ(context->GetChangedResourceKeys().size(), 1U);
  context->ClearChangedResourceKeys();
  CHECK_EQ(context->GetChangedResourceKeys().size(), 0U);
}

TEST(integer_helpers_say_whether_a_value_fits) {
  CHECK(IntegerChecker<int8_t>::Compat(-128));
  CHECK(!IntegerChecker<int8_t>::Compat(-129));
  CHECK(!IntegerChecker<uint8_t>::Compat(-1));
  CHECK(IntegerChecker<uint64_t>::Compat(std::numeric_limits<uint64_t>::max()));
  CHECK(!IntegerChecker<int64_t>::Compat(std::numeric_limits<uint64_t>::max()));
  int64_t product = 0;
  CHECK(!MulOverflow(int64_t{3}, 5U, product));
  CHECK_EQ(product, 15);
  CHECK(MulOverflow(std::numeric_limits<int64_t>::max(), 2, product));
  uint32_t sum = 0U;
  CHECK(AddOverflow(std::numeric_limits<uint32_t>::max(), 1, sum));
  CHECK(!AddOverflow(2U, -1, sum));
  CHECK_EQ(sum, 1U);
}

TEST_MAIN()
