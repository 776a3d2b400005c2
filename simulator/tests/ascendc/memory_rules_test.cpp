// Checked mistakes with device memory, copies, the UB and operands: a small kernel that makes each, the rule's id, the kernel's own line,
// and what the message must name.
#include "rules.h"

using namespace AscendC;
using ascendc_test::CheckFinding;
using ascendc_test::Device;
using ascendc_test::ExpectError;
using ascendc_test::ExpectWarning;
using ascendc_test::Global;
using ascendc_test::InQueue;
using ascendc_test::kNoPad;
using ascendc_test::Outcome;
using ascendc_test::OutQueue;
using ascendc_test::Place;
using ascendc_test::RunClean;
using ascendc_test::Settings;
using ascendc_test::Tensors;
using opkit_sim::Severity;

// ---- device memory

TEST(a_read_past_the_allocation_names_the_parameter_and_the_bytes) {
  Tensors t;
  CheckFinding(t.device.Run([&] { DataCopy(Place(0, std::vector<float>(64)), Global(t.x, 24)[8], 16); }), Severity::kError, "GM-OOB",
               __LINE__ - 1, "DataCopy: reads bytes 32..95 of 'x', 32 bytes past its 64");
}

TEST(a_write_past_the_allocation_is_stopped_before_it_happens) {
  Tensors t;
  CheckFinding(t.device.Run([&] { DataCopyPad(Global(t.z, 1000), Place(0, std::vector<float>(64)), DataCopyExtParams{1, 68, 0, 0, 0}); }),
               Severity::kError, "GM-OOB", __LINE__ - 1, "DataCopyPad: writes bytes 0..67 of 'z', 4 bytes past its 64");
}

TEST(a_gap_that_leads_past_the_allocation_counts) {
  Tensors t;
  CheckFinding(
      t.device.Run([&] { DataCopyPad(Place(0, std::vector<float>(64)), Global(t.x, 16), DataCopyExtParams{2, 4, 64, 0, 0}, kNoPad); }),
      Severity::kError, "GM-OOB", __LINE__ - 1, "reads bytes 0..71 of 'x', 8 bytes past");
}

TEST(an_address_of_no_allocation_and_a_null_address_are_told_apart) {
  Tensors t;
  float elsewhere[16] = {};
  CheckFinding(t.device.Run([&] { DataCopy(Place(0, std::vector<float>(16)), Global(elsewhere, 16), 16); }), Severity::kError, "GM-OOB",
               __LINE__ - 1, "lies in no allocation");
  CheckFinding(t.device.Run([&] { Global<float>(nullptr, 16).GetValue(0); }), Severity::kError, "GM-OOB", __LINE__, "null GM address");
}

TEST(scalar_access_to_device_memory_is_checked_too) {
  Tensors t;
  CheckFinding(t.device.Run([&] { Global(t.x, 16).GetValue(16); }), Severity::kError, "GM-OOB", __LINE__,
               "GetValue: reads bytes 64..67 of 'x'");
  CheckFinding(t.device.Run([&] { Global(t.z, 17).SetValue(16, 1.0f); }), Severity::kError, "GM-OOB", __LINE__,
               "SetValue: writes bytes 64..67 of 'z'");
  CheckFinding(t.device.Run([&] { Global(t.z, 17)(1ull << 40) = 1.0f; }), Severity::kError, "GM-OOB", __LINE__, "operator()");
}

TEST(a_read_past_the_declared_size_but_within_the_allocation_is_a_warning) {
  Tensors t;
  auto kernel = [&] { DataCopy(Place(0, std::vector<float>(16)), Global(t.x, 8), 16); };
  const int line = __LINE__ - 1;
  CheckFinding(t.device.Run(kernel), Severity::kWarning, "GM-SIZE", line,
               "reads bytes 0..63 of 'x', 32 bytes past the size given to SetGlobalBuffer");
  Settings strict;
  strict.strict = true;
  CheckFinding(t.device.Run(kernel, strict), Severity::kError, "GM-SIZE", line, "SetGlobalBuffer");
}

TEST(a_tensor_without_a_declared_size_is_bounded_by_its_allocation) {
  Tensors t;
  CheckFinding(t.device.Run([&] {
    GlobalTensor<float> x;
    x.SetGlobalBuffer(t.x);
    DataCopy(Place(0, std::vector<float>(64)), x, 16);
    DataCopy(Place(0, std::vector<float>(64)), x, 24);
  }),
               Severity::kError, "GM-OOB", __LINE__ - 2, "32 bytes past");
}

TEST(an_empty_tail_right_behind_a_tensor_is_legal) {
  Tensors t;
  CHECK_EQ(t.device.Run([&] { DataCopy(Place(0, std::vector<float>(8)), Global(t.x, 16)[16], 0); }).Text(), "");
}

TEST(datacopy_wants_device_addresses_at_the_elements_size) {
  Tensors t;
  CheckFinding(t.device.Run([&] {
    DataCopy(Place(0, std::vector<float>(8)), Global(reinterpret_cast<float *>(reinterpret_cast<char *>(t.x) + 2), 8), 8);
  }),
               Severity::kError, "GM-ALIGN", __LINE__ - 2, "at byte 2 of 'x', which is no multiple of the element's 4 bytes");
}

TEST(each_block_reports_its_own_number) {
  Tensors t;
  Settings settings;
  settings.blocks = 3;
  const Outcome outcome = t.device.Run(
      [&] {
        if (GetBlockIdx() == 1) return;
        DataCopy(Place(0, std::vector<float>(64)), Global(t.x, 64), 64);
      },
      settings);
  CHECK_EQ(outcome.abandoned, 2);
  REQUIRE_EQ(outcome.findings.size(), 2);
  CHECK_EQ(outcome.findings[0].block, 0);
  CHECK_EQ(outcome.findings[1].block, 2);
}

TEST(a_warning_in_a_loop_is_reported_once_per_block) {
  Tensors t;
  CheckFinding(t.device.Run([&] {
    for (int i = 0; i < 1000; ++i) {
      DataCopy(Place(0, std::vector<float>(16)), Global(t.x, 8), 16);
    }
  }),
               Severity::kWarning, "GM-SIZE", __LINE__ - 3, "SetGlobalBuffer");
}

// ---- counter mode

TEST(a_counter_over_the_unified_buffer_is_no_mask) {
  for (const uint64_t count : {uint64_t{49153}, uint64_t{1} << 40, ~uint64_t{0}}) {
    const uint64_t mask[] = {count, 0};
    ExpectError("MASK", __LINE__ + 2, "Adds: in counter mode the mask register asks for", [&] {
      SetMaskCount();
      Adds(Place(0, std::vector<float>(64)), Place(4096, std::vector<float>(64)), 1.0f, mask, 1, UnaryRepeatParams());
    });
    ExpectError("MASK", __LINE__ + 2, "but the UB holds 49152", [&] {
      SetMaskCount();
      Adds(Place(0, std::vector<float>(64)), Place(4096, std::vector<float>(64)), 1.0f, count, 1, UnaryRepeatParams());
    });
  }
}

TEST(a_counter_past_a_tensor_is_still_found) {
  ExpectError("UB-OOB", __LINE__ + 8, "Adds: ", [] {
    const uint64_t mask[] = {130, 0};
    TPipe pipe;
    TBuf<TPosition::VECCALC> long_buffer;
    TBuf<TPosition::VECCALC> short_buffer;
    pipe.InitBuffer(long_buffer, 544);
    pipe.InitBuffer(short_buffer, 512);
    SetMaskCount();
    Adds(short_buffer.Get<float>(), long_buffer.Get<float>(), 1.0f, mask, 1, UnaryRepeatParams());
  });
}

// ---- copies

TEST(a_count_whose_bytes_are_no_multiple_of_32_says_what_would_be_copied) {
  Tensors t;
  CheckFinding(t.device.Run([&] { DataCopy(Place(0, std::vector<float>(64)), Global(t.x, 16), 5); }), Severity::kError, "COPY-32B",
               __LINE__ - 1, "5 elements of 4 bytes are 20 bytes, no multiple of 32: only 0 would be copied; use DataCopyPad");
  CheckFinding(t.device.Run([&] { DataCopy(Global(t.z, 16), Place(0, std::vector<float>(64)), 15); }), Severity::kError, "COPY-32B",
               __LINE__ - 1, "60 bytes, no multiple of 32: only 32 would be copied");
}

TEST(copy_parameters_that_a_device_would_cut_are_reported) {
  Tensors t;
  ExpectError("COPY-PARAM", __LINE__ + 1, "blockCount is 5000, but must be 0..4095",
              [&] { DataCopyPad(Place(0, std::vector<float>(64)), Global(t.x, 16), DataCopyExtParams{5000, 4, 0, 0, 0}, kNoPad); });
  ExpectError("COPY-PARAM", __LINE__ + 1, "blockLen (32-byte blocks) is 70000, but must be 0..65535",
              [&] { DataCopy(Place(0, std::vector<float>(64)), Global(t.x, 16), DataCopyParams{1, 70000, 0, 0}); });
  ExpectError("COPY-PARAM", __LINE__ + 1, "blockLen is in bytes, and 6 is no multiple of the element's 4",
              [&] { DataCopyPad(Place(0, std::vector<float>(64)), Global(t.x, 16), DataCopyExtParams{1, 6, 0, 0, 0}, kNoPad); });
  ExpectError("COPY-PARAM", __LINE__ + 1, "leftPadding (elements) is 9, but must be 0..8", [&] {
    DataCopyPad(Place(0, std::vector<float>(64)), Global(t.x, 16), DataCopyExtParams{1, 4, 0, 0, 0},
                DataCopyPadExtParams<float>{true, 9, 0, 0});
  });
  ExpectError("COPY-PARAM", __LINE__ + 2, "paddingValue must be 0 for 64-bit types", [&] {
    auto *wide = reinterpret_cast<int64_t *>(t.x);
    DataCopyPad(Place(0, std::vector<int64_t>(8)), Global(wide, 8), DataCopyExtParams{1, 8, 0, 0, 0},
                DataCopyPadExtParams<int64_t>{true, 0, 1, 5});
  });
  ExpectError("COUNT", __LINE__, "count -8 doesn't fit", [&] { DataCopy(Place(0, std::vector<float>(64)), Global(t.x, 16), -8); });
}

// ---- the UB

TEST(an_operand_off_the_32_byte_grid_is_named) {
  ExpectError("UB-ALIGN", __LINE__ + 2, "Add: src1 starts at UB+0x104, but must start at a multiple of 32 bytes", [] {
    const auto a = Place(256, std::vector<float>(64));
    Add(a, a, a[1], 8);
  });
  ExpectError("UB-ALIGN", __LINE__ + 1, "DataCopy: dst starts at UB+0x10",
              [] { DataCopy(Place(0, std::vector<float>(64))[4], Place(512, std::vector<float>(8)), 8); });
}

TEST(buffers_over_the_ub_are_listed) {
  ExpectError("UB-SIZE", __LINE__ + 7, "the buffers take 246784 bytes, 50176 over the UB's 196608 (VECIN of line ", [] {
    TPipe pipe;
    InQueue in;
    OutQueue out;
    TBuf<TPosition::VECCALC> work;
    pipe.InitBuffer(in, 2, 81920);
    pipe.InitBuffer(work, 1024);
    pipe.InitBuffer(out, 2, 40960);
  });
  ExpectError("UB-SIZE", __LINE__ + 6, ": 2 x 81920, TBuf of line ", [] {
    TPipe pipe;
    InQueue in;
    TBuf<TPosition::VECCALC> work;
    pipe.InitBuffer(in, 2, 81920);
    pipe.InitBuffer(work, 1024);
    pipe.InitBuffer(in, 2, 81920);
  });
}

TEST(the_ub_may_be_filled_to_the_last_byte) {
  RunClean([] {
    TPipe pipe;
    TBuf<> first, second;
    pipe.InitBuffer(first, 196608 - 32);
    pipe.InitBuffer(second, 1);  // rounded up to 32
    Duplicate(second.Get<float>(), 1.0f, 8);
    CHECK_EQ(second.GetBufLen(), 32);
  });
}

TEST(a_write_past_a_buffer_into_its_neighbour_is_an_error_and_a_read_a_warning) {
  ExpectError("UB-OOB", __LINE__ + 5, "Duplicate: dst writes 4096 bytes at UB+0x0, 3072 bytes past the TBuf of line ", [] {
    TPipe pipe;
    TBuf<> small, next;
    pipe.InitBuffer(small, 1024);
    pipe.InitBuffer(next, 8192);
    Duplicate(small.Get<float>(), 0.0f, 1024);
  });
  ExpectWarning("UB-OOB", __LINE__ + 5, "Add: src0 reads 512 bytes at UB+0x0, 256 bytes past the TBuf of line ", [] {
    TPipe pipe;
    TBuf<> small, next;
    pipe.InitBuffer(small, 256);
    pipe.InitBuffer(next, 8192);
    Add(next.Get<float>(), small.Get<float>(), next.Get<float>(), 128);
  });
}

TEST(an_error_is_told_where_a_warning_of_its_rule_stood_on_its_line) {
  Device device;
  const Outcome outcome = device.Run([] {
    TPipe pipe;
    TBuf<> small, next;
    pipe.InitBuffer(small, 256);
    pipe.InitBuffer(next, 8192);
    for (const bool is_write : {false, true}) {
      Add(is_write ? small.Get<float>() : next.Get<float>(), small.Get<float>(), next.Get<float>(), 128);
    }
  });
  CHECK_EQ(outcome.abandoned, 1);
  CHECK_EQ(outcome.findings.size(), 2);
  CHECK(outcome.findings.front().severity == Severity::kWarning);
  CHECK(outcome.findings.back().severity == Severity::kError);
  CHECK_CONTAINS(outcome.findings.back().message, "Add: dst writes");
}

TEST(an_access_out_of_the_ub_is_an_error) {
  ExpectError("UB-OOB", __LINE__ + 1, "Exp: src reads 64 bytes at UB+0x2ffe0, 32 bytes past the UB of 196608 bytes and out of the UB",
              [] { Exp(Place(0, std::vector<float>(16)), LocalTensor<float>(TPosition::VECCALC, 196608 - 32, 16), 16); });
  ExpectError("UB-OOB", __LINE__, "SetValue", [] { LocalTensor<float>(TPosition::VECCALC, 0, 16).SetValue(0x40000000u, 1.0f); });
}

TEST(the_footprint_of_repeats_and_strides_is_checked) {
  ExpectError("UB-OOB", __LINE__ + 6, "Adds: dst writes 1280 bytes at UB+0x0, 256 bytes past", [] {
    TPipe pipe;
    TBuf<> small, source;
    pipe.InitBuffer(small, 1024);
    pipe.InitBuffer(source, 4096);
    const LocalTensor<float> src = source.Get<float>();
    Adds(small.Get<float>(), src, 1.0f, uint64_t{64}, 3, UnaryRepeatParams(1, 1, 16, 8));
  });
}

TEST(a_tensor_without_a_buffer_is_named) {
  ExpectError("UB-EMPTY", __LINE__ + 3, "Add: src0 is an empty tensor", [] {
    const LocalTensor<float> nothing;
    const auto a = Place(0, std::vector<float>(8));
    Add(a, nothing, a, 8);
  });
}

// ---- masks, repeats, counts

TEST(masks_and_repeats_out_of_range) {
  ExpectError("MASK", __LINE__ + 2, "mask 65 is over the 64 elements of a repeat", [] {
    const auto a = Place(0, std::vector<float>(512));
    Add(a, a, a, uint64_t{65}, 1, BinaryRepeatParams());
  });
  ExpectError("REPEAT", __LINE__ + 2, "repeat times 256 don't fit uint8_t (a device would take 0)", [] {
    const auto a = Place(0, std::vector<float>(512));
    Add(a, a, a, uint64_t{64}, 256, BinaryRepeatParams());
  });
  ExpectError("REPEAT", __LINE__ + 2, "src1RepStride is 256, but must be 0..255", [] {
    const auto a = Place(0, std::vector<float>(512));
    Mul(a, a, a, uint64_t{64}, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 256));
  });
  ExpectError("COUNT", __LINE__ + 2, "count -1 doesn't fit", [] {
    const auto a = Place(0, std::vector<float>(512));
    Exp(a, a, -1);
  });
}

TEST_MAIN()
