// Lists of tensors: with shapes and without, and each way in which the words or what is asked for can be wrong.
#include "kernel_operator_list_tensor_intf.h"
#include "rules.h"

using namespace AscendC;
using ascendc_test::CheckFinding;
using ascendc_test::Device;
using ascendc_test::Outcome;
using ascendc_test::Tensors;
using opkit_sim::Severity;

namespace {

uint64_t AddressOf(const void *data) { return reinterpret_cast<uintptr_t>(data); }

uint64_t RankAndIndex(uint64_t rank, uint64_t index) { return index << 32U | rank; }

// x as [4, 4] and z as [2, 8].
struct Lists : Tensors {
  uint64_t *shaped =
      device.Allocate("shaped", std::vector<uint64_t>{56, RankAndIndex(2, 0), 4, 4, RankAndIndex(2, 1), 2, 8, AddressOf(x), AddressOf(z)});
  uint64_t *plain = device.Allocate("plain", std::vector<uint64_t>{24, uint64_t{2} << 32U, 0xffffffff, AddressOf(x), AddressOf(z)});
};

void CheckClean(const Outcome &outcome) { CHECK_EQ(outcome.Text(), std::string()); }

}  // namespace

TEST(a_list_without_shapes_gives_its_addresses) {
  Lists lists;
  uint32_t size = 0;
  float *first = nullptr;
  float *second = nullptr;
  CheckClean(lists.device.Run([&] {
    ListTensorDesc list(lists.plain);
    size = list.GetSize();
    first = list.GetDataPtr<float>(0);
    second = list.GetDataPtr<float>(1);
  }));
  CHECK_EQ(size, 2u);
  CHECK(first == lists.x);
  CHECK(second == lists.z);
}

TEST(a_list_with_shapes_gives_each_tensor_s_own) {
  Lists lists;
  uint64_t shape[2] = {};
  uint64_t got[5] = {};
  float *data = nullptr;
  uint64_t elements = 0;
  CheckClean(lists.device.Run([&] {
    ListTensorDesc list;
    list.Init(lists.shaped, 9 * sizeof(uint64_t), 2);
    TensorDesc<float> desc;
    desc.SetShapeAddr(shape);
    list.GetDesc(desc, 1);
    data = desc.GetDataPtr();
    elements = desc.GetDataObj().GetSize();
    const uint64_t all[5] = {list.GetSize(), desc.GetDim(), desc.GetIndex(), desc.GetShape(0), desc.GetShape(1)};
    std::copy(std::begin(all), std::end(all), std::begin(got));
  }));
  const uint64_t expected[5] = {2, 2, 1, 2, 8};
  for (int index = 0; index < 5; ++index) CHECK_EQ(got[index], expected[index]);
  CHECK(data == lists.z);
  CHECK_EQ(elements, 16u);
}

TEST(a_tensor_and_an_axis_that_aren_t_there_are_told) {
  Lists lists;
  CheckFinding(lists.device.Run([&] { ListTensorDesc(lists.plain).GetDataPtr<float>(2); }), Severity::kError, "LIST-TENSOR", __LINE__,
               "GetDataPtr: tensor 2 of a list of 2");
  uint64_t shape[2] = {};
  TensorDesc<float> desc;
  desc.SetShapeAddr(shape);
  CheckFinding(lists.device.Run([&] {
    ListTensorDesc(lists.shaped).GetDesc(desc, 0);
    desc.GetShape(2);
  }),
               Severity::kError, "LIST-TENSOR", __LINE__ - 2, "GetShape: axis 2 of a tensor of rank 2");
}

TEST(a_shape_needs_a_list_that_has_it_and_memory) {
  Lists lists;
  uint64_t shape[2] = {};
  TensorDesc<float> desc;
  CheckFinding(lists.device.Run([&] { ListTensorDesc(lists.shaped).GetDesc(desc, 0); }), Severity::kError, "LIST-TENSOR", __LINE__,
               "GetDesc: SetShapeAddr gave no memory for the shape");
  desc.SetShapeAddr(shape);
  CheckFinding(lists.device.Run([&] { ListTensorDesc(lists.plain).GetDesc(desc, 0); }), Severity::kError, "LIST-TENSOR", __LINE__,
               "GetDesc: the list has no shapes");
}

TEST(words_that_are_no_list_are_told) {
  Lists lists;
  const auto check = [&](std::vector<uint64_t> words, const char *message) {
    uint64_t *data = lists.device.Allocate("words", words);
    CheckFinding(lists.device.Run([&] { ListTensorDesc list(data); }), Severity::kError, "LIST-TENSOR", __LINE__, message);
  };
  check({8, uint64_t{2} << 32U, 0xffffffff, 0, 0}, "the addresses begin 8 bytes behind the start, where shapes lie");
  check({25, uint64_t{2} << 32U, 0xffffffff, 0, 0}, "the addresses begin 25 bytes behind the start");
  check({24, uint64_t{2} << 32U, 7, 0, 0}, "2 tensors of rank 0 don't have their addresses at byte 24");
  check({48, RankAndIndex(2, 0), 4, 4, RankAndIndex(1, 1), 2, 0, 0}, "tensors of rank 2 don't have their addresses at byte 48");
}

TEST(a_length_that_the_list_hasn_t_is_told) {
  Lists lists;
  CheckFinding(lists.device.Run([&] { ListTensorDesc list(lists.plain, 48, 3); }), Severity::kError, "LIST-TENSOR", __LINE__,
               "3 tensors in 48 bytes are asked for, the list has 2 in 40");
}

TEST(a_list_at_null_or_cut_short_is_an_access_out_of_bounds) {
  Lists lists;
  CheckFinding(lists.device.Run([&] { ListTensorDesc list(nullptr); }), Severity::kError, "GM-OOB", __LINE__, "null GM address");
  uint64_t *cut = lists.device.Allocate("cut", std::vector<uint64_t>{24, uint64_t{2} << 32U, 0xffffffff, AddressOf(lists.x)});
  CheckFinding(lists.device.Run([&] { ListTensorDesc(cut).GetDataPtr<float>(1); }), Severity::kError, "GM-OOB", __LINE__,
               "GetDataPtr: reads bytes 32..39 of 'cut', 8 bytes past its 32");
}

TEST_MAIN()
