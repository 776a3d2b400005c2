// The value types that callbacks and programs exchange: layouts that other libraries rely on, and the quirks that programs must live with.
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "check.h"
#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/kernel_args.h"
#include "exe_graph/runtime/kernel_context.h"
#include "exe_graph/runtime/range.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "graph/custom_op.h"

namespace {
constexpr int64_t kInvalid = std::numeric_limits<int64_t>::min();

int released = 0;
ge::graphStatus CountReleases(gert::TensorAddress addr, gert::TensorOperateType operate_type, void **out) {
  if (operate_type == gert::kGetTensorAddress) {
    *out = static_cast<uint8_t *>(addr) + 8;
  }
  released += operate_type == gert::kFreeTensor ? 1 : 0;
  return ge::GRAPH_SUCCESS;
}

class ThreeCapabilities : public ge::EagerExecuteOp, public ge::ArgsUpdater, public ge::ShapeInferOp {
 public:
  ge::graphStatus Execute(gert::EagerOpExecutionContext *) override { return ge::GRAPH_SUCCESS; }
  ge::graphStatus UpdateHostArgs(gert::UpdateArgsContext *) override { return ge::GRAPH_SUCCESS; }
  ge::graphStatus InferShape(gert::InferShapeContext *) override { return ge::GRAPH_SUCCESS; }
  ge::graphStatus InferDataType(gert::InferDataTypeContext *) override { return ge::GRAPH_SUCCESS; }
};
}  // namespace

TEST(layouts_are_those_of_the_genuine_headers) {
  CHECK_EQ(sizeof(gert::Shape), 248);
  CHECK_EQ(sizeof(gert::StorageShape), 536);
  CHECK_EQ(sizeof(gert::ExpandDimsType), 48);
  CHECK_EQ(sizeof(gert::StorageFormat), 96);
  CHECK_EQ(sizeof(gert::TensorData), 72);
  CHECK_EQ(sizeof(gert::Tensor), 752);
  CHECK_EQ(sizeof(gert::TensorV2), 1048);
  CHECK_EQ(sizeof(gert::KernelArgs), 56);
  CHECK_EQ(sizeof(KernelRunContext), 48);
  CHECK_EQ(sizeof(AsyncAnyValue), 16);
  CHECK_EQ(sizeof(ThreeCapabilities), 24);
}

TEST(set_dim_past_the_rank_grows_the_rank_to_the_index_only) {
  gert::Shape shape({2, 3});
  shape.SetDim(5, 7);
  CHECK_EQ(shape.GetDimNum(), 5);
  CHECK_EQ(shape.GetDim(5), 7);
  shape.SetDim(0, 9);
  CHECK_EQ(shape.GetDimNum(), 5);
}

TEST(get_dim_is_checked_against_the_capacity_not_the_rank) {
  const gert::Shape shape({2, 3});
  CHECK_EQ(shape.GetDim(2), 0);
  CHECK_EQ(shape.GetDim(24), 0);
  CHECK_EQ(shape.GetDim(25), kInvalid);
}

TEST(shape_size_of_a_scalar_is_one_and_of_too_large_a_shape_invalid) {
  CHECK_EQ(gert::Shape().GetShapeSize(), 1);
  CHECK_EQ(gert::Shape({2, 0, 3}).GetShapeSize(), 0);
  CHECK_EQ(gert::Shape({int64_t{1} << 40, int64_t{1} << 40}).GetShapeSize(), kInvalid);
  CHECK(gert::Shape().IsScalar());
}

TEST(more_dims_than_fit_give_a_scalar) {
  const std::initializer_list<int64_t> dims = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  CHECK_EQ(dims.size(), 26);
  CHECK_EQ(gert::Shape(dims).GetDimNum(), 0);
  gert::Shape full;
  for (int64_t i = 0; i < 30; ++i) {
    full.AppendDim(i);
  }
  CHECK_EQ(full.GetDimNum(), gert::Shape::kMaxDimNum);
}

TEST(tensor_takes_the_sample_brace_form) {
  float memory[6] = {};
  std::vector<gert::Tensor> tensors(1);
  tensors[0] = {{{2, 3}, {2, 3}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, gert::kOnDeviceHbm, ge::DT_FLOAT, memory};
  CHECK_EQ(tensors[0].GetSize(), sizeof(memory));
  CHECK_EQ(tensors[0].GetShapeSize(), 6);
  CHECK_EQ(tensors[0].GetData<float>(), static_cast<float *>(memory));
  CHECK_EQ(tensors[0].GetPlacement(), gert::kOnDeviceHbm);
  CHECK_EQ(tensors[0].GetVersion(), gert::kTensorV1);
}

TEST(tensor_of_an_unknown_dim_has_a_size_of_all_bits) {
  const gert::Tensor tensor({{-1}, {-1}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, gert::kOnDeviceHbm, ge::DT_FLOAT, nullptr);
  CHECK_EQ(tensor.GetSize(), std::numeric_limits<size_t>::max());
}

TEST(unset_format_and_dtype_are_no_valid_ones) {
  const gert::Tensor tensor;
  CHECK_EQ(tensor.GetDataType(), ge::DT_MAX);
  CHECK_EQ(tensor.GetStorageFormat(), ge::FORMAT_MAX);
  CHECK_EQ(tensor.GetPlacement(), gert::kTensorPlacementEnd);
}

TEST(following_tensor_has_its_elements_behind_it) {
  size_t total = 0;
  const auto holder = gert::Tensor::CreateFollowing(4, ge::DT_FLOAT, total);
  REQUIRE(holder != nullptr);
  CHECK_EQ(total, sizeof(gert::Tensor) + 16);
  auto *tensor = reinterpret_cast<gert::Tensor *>(holder.get());
  CHECK_EQ(tensor->GetSize(), 16);
  CHECK_EQ(static_cast<const void *>(tensor->GetAddr()), static_cast<const void *>(holder.get() + sizeof(gert::Tensor)));
  const auto wide = gert::TensorV2::CreateFollowing(4, ge::DT_FLOAT, total);
  auto *tensor_v2 = reinterpret_cast<gert::TensorV2 *>(wide.get());
  CHECK_EQ(static_cast<const void *>(tensor_v2->GetAddr()), static_cast<const void *>(wide.get() + sizeof(gert::TensorV2)));
}

TEST(tensor_data_asks_its_manager_and_releases_once) {
  uint8_t memory[16] = {};
  released = 0;
  {
    gert::TensorData data(memory, &CountReleases, sizeof(memory), gert::kOnDeviceHbm);
    CHECK_EQ(static_cast<uint8_t *>(data.GetAddr()), memory + 8);
    gert::TensorData moved(std::move(data));
    CHECK_EQ(data.GetSize(), 0);
    CHECK_EQ(moved.GetSize(), sizeof(memory));
    gert::TensorData shared;
    CHECK_EQ(shared.ShareFrom(moved), ge::GRAPH_SUCCESS);
    CHECK(shared.IsSharedWith(moved));
    gert::TensorAddrManager manager = nullptr;
    CHECK_EQ(static_cast<uint8_t *>(shared.Release(manager)), memory);
    CHECK(manager == &CountReleases);
  }
  CHECK_EQ(released, 1);
}

TEST(set_addr_keeps_size_and_placement) {
  uint8_t memory[16] = {};
  gert::TensorData data(memory, nullptr, 16, gert::kOnDeviceHbm);
  CHECK_EQ(data.SetAddr(memory + 4, nullptr), ge::GRAPH_SUCCESS);
  CHECK_EQ(data.GetSize(), 16);
  CHECK_EQ(static_cast<uint8_t *>(data.GetAddr()), memory + 4);
}

TEST(expand_dims_inserts_ones_where_the_text_has_them) {
  gert::Shape expanded;
  CHECK_EQ(gert::ExpandDimsType("1001").Expand(gert::Shape({4, 5}), expanded), ge::GRAPH_SUCCESS);
  CHECK(expanded == gert::Shape({1, 4, 5, 1}));
  CHECK_EQ(gert::ExpandDimsType("100").Expand(gert::Shape({4}), expanded), ge::GRAPH_FAILED);
  CHECK_EQ(gert::ExpandDimsType("100").GetFullSize(), 3);
}

TEST(range_compares_addresses_before_values) {
  const gert::Shape low({1});
  const gert::Shape same({1});
  CHECK(gert::Range<const gert::Shape>() == gert::Range<const gert::Shape>());
  CHECK(gert::Range<const gert::Shape>(&low) == gert::Range<const gert::Shape>(&low, &same));
}

TEST(kernel_args_begin_as_empty_host_args) {
  const gert::KernelArgs args;
  CHECK(args.args_data == nullptr);
  CHECK_EQ(args.args_size, 0);
  CHECK_EQ(args.placement, gert::Placement::kPlacementHost);
}

TEST(continuous_vectors_refuse_more_than_their_capacity) {
  const auto holder = gert::ContinuousVector::Create<int64_t>(3);
  auto *vector = reinterpret_cast<gert::TypedContinuousVector<int64_t> *>(holder.get());
  CHECK_EQ(vector->SetSize(4), ge::GRAPH_PARAM_OUT_OF_RANGE);
  CHECK_EQ(vector->SetSize(3), ge::GRAPH_SUCCESS);
  CHECK_EQ(vector->GetSize(), 3);
  CHECK(gert::ContinuousVector::Create<int64_t>(std::numeric_limits<size_t>::max()) == nullptr);
}

TEST_MAIN()
