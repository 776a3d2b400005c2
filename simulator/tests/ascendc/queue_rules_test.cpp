// Checked mistakes with queues, events, atomic modes and tiling: as in memory_rules_test.cpp.
#include "rules.h"

using namespace AscendC;
using ascendc_test::CheckFinding;
using ascendc_test::Device;
using ascendc_test::ExpectError;
using ascendc_test::ExpectWarning;
using ascendc_test::Global;
using ascendc_test::InQueue;
using ascendc_test::Outcome;
using ascendc_test::OutQueue;
using ascendc_test::Place;
using ascendc_test::RunClean;
using ascendc_test::Settings;
using ascendc_test::Tensors;
using opkit_sim::Severity;

// ---- queues

TEST(allocation_without_a_free_buffer_would_hang_and_says_since_when) {
  ExpectError("QUE-ALLOC", __LINE__ + 6, "would wait for ever: all 2 buffers (256 bytes each) of the VECIN queue of line ", [] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 2, 256);
    queue.AllocTensor<float>();
    queue.AllocTensor<float>();
    queue.AllocTensor<float>();
  });
  ExpectError("QUE-ALLOC", __LINE__ + 3, "InitBuffer missing", [] {
    TPipe pipe;
    InQueue queue;
    queue.AllocTensor<float>();
  });
}

TEST(deque_of_an_empty_queue_would_hang) {
  ExpectError("QUE-EMPTY", __LINE__ + 6, "DeQue would wait for ever: the VECIN queue of line ", [] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 2, 256);
    const LocalTensor<float> tensor = queue.AllocTensor<float>();
    Duplicate(tensor, 1.0f, 8);
    queue.DeQue<float>();
  });
}

TEST(enque_over_the_depth) {
  ExpectError("QUE-DEPTH", __LINE__ + 7, "has depth 1 and holds 1 tensors already; DeQue missing", [] {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    pipe.InitBuffer(queue, 2, 256);
    const LocalTensor<float> a = queue.AllocTensor<float>();
    const LocalTensor<float> b = queue.AllocTensor<float>();
    queue.EnQue(a);
    queue.EnQue(b);
  });
}

TEST(a_tensor_is_enqueued_and_freed_once) {
  ExpectError("QUE-STATE", __LINE__ + 6, "EnQue: the tensor can't be enqueued, it waits in the queue", [] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 2, 256);
    const LocalTensor<float> a = queue.AllocTensor<float>();
    queue.EnQue(a);
    queue.EnQue(a);
  });
  ExpectError("QUE-STATE", __LINE__ + 6, "FreeTensor: the tensor can't be freed, it was freed before", [] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 2, 256);
    LocalTensor<float> a = queue.AllocTensor<float>();
    queue.FreeTensor(a);
    queue.FreeTensor(a);
  });
}

TEST(a_tensor_of_a_tbuf_or_of_another_queue_does_not_belong_into_a_queue) {
  ExpectError("QUE-STATE", __LINE__ + 7, "FreeTensor: the tensor lies in the TBuf of line ", [] {
    TPipe pipe;
    InQueue queue;
    TBuf<> buffer;
    pipe.InitBuffer(queue, 2, 256);
    pipe.InitBuffer(buffer, 256);
    LocalTensor<float> tensor = buffer.Get<float>();
    queue.FreeTensor(tensor);
  });
  ExpectError("QUE-STATE", __LINE__ + 6, "not in a buffer of this VECOUT queue", [] {
    TPipe pipe;
    InQueue in;
    OutQueue out;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 2, 256);
    out.EnQue(in.AllocTensor<float>());
  });
}

TEST(use_of_a_freed_tensor_is_an_error_and_of_an_enqueued_one_a_warning) {
  ExpectError("QUE-USE", __LINE__ + 6, "which FreeTensor gave back", [] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 2, 256);
    LocalTensor<float> a = queue.AllocTensor<float>();
    queue.FreeTensor(a);
    Duplicate(a, 1.0f, 8);
  });
  ExpectWarning("QUE-USE", __LINE__ + 6, "given to EnQue and not yet taken by DeQue", [] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 2, 256);
    LocalTensor<float> a = queue.AllocTensor<float>();
    queue.EnQue(a);
    Duplicate(a, 1.0f, 8);
    a = queue.DeQue<float>();
    queue.FreeTensor(a);
  });
}

TEST(a_tensor_that_was_never_freed_is_reported_at_its_allocation) {
  ExpectWarning("QUE-LEAK", __LINE__ + 4, "256 bytes of the VECOUT queue of line ", [] {
    TPipe pipe;
    OutQueue queue;
    pipe.InitBuffer(queue, 2, 256);
    queue.EnQue(queue.AllocTensor<float>());
  });
}

TEST(too_many_buffers_and_too_many_in_use) {
  ExpectError("QUE-LIMIT", __LINE__ + 3, "65 buffers, but a kernel has at most 64", [] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 65, 32);
  });
  ExpectError("QUE-LIMIT", __LINE__ + 4, "more than 8 tensors of VECIN queues in use at once", [] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 9, 32);
    for (int i = 0; i < 9; ++i) queue.AllocTensor<float>();
  });
}

TEST(a_queue_keeps_the_order_and_the_bytes_and_reuses_its_buffers) {
  RunClean([] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 2, 100);
    for (int round = 0; round < 5; ++round) {
      const LocalTensor<float> a = queue.AllocTensor<float>();
      const LocalTensor<float> b = queue.AllocTensor<float>();
      CHECK(a.GetPhyAddr() != b.GetPhyAddr());
      CHECK_EQ(a.GetSize(), 32);
      CHECK(!queue.HasIdleBuffer());
      Duplicate(a, 1.0f, 8);
      Duplicate(b, 2.0f, 8);
      queue.EnQue(a);
      queue.EnQue(b);
      CHECK_EQ(queue.GetTensorCountInQue(), 2);
      CHECK(!queue.VacantInQue());
      PipeBarrier<PIPE_ALL>();
      LocalTensor<int32_t> first = queue.DeQue<int32_t>();  // another view of the same bytes
      CHECK_EQ(first.ReinterpretCast<float>().GetValue(0), 1.0f);
      LocalTensor<float> second = queue.DeQue<float>();
      CHECK_EQ(second.GetValue(0), 2.0f);
      CHECK(!queue.HasTensorInQue());
      queue.FreeTensor(first);
      queue.FreeTensor(second);
    }
  });
}

TEST(a_queue_of_depth_zero_works_in_place_and_a_bound_queue_copies_without_v) {
  Device device;
  float *x = device.Allocate("x", std::vector<float>(64, 3.0f));
  float *z = device.Allocate("z", std::vector<float>(64, 0.0f));
  CHECK_EQ(device
               .Run([&] {
                 TPipe pipe;
                 TQue<TPosition::VECIN, 0> in_place;
                 TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> through;
                 pipe.InitBuffer(in_place, 1, 256);
                 pipe.InitBuffer(through, 1, 256);
                 LocalTensor<float> tensor;
                 in_place.AllocTensor<float>(tensor);
                 DataCopy(tensor, Global(x, 64), 64);
                 in_place.EnQue(tensor);
                 in_place.DeQue<float>(tensor);
                 Adds(tensor, tensor, 1.0f, 64);
                 in_place.FreeTensor(tensor);
                 LocalTensor<float> moved = through.AllocTensor<float>();
                 DataCopy(moved, Global(x, 64), 64);
                 through.EnQue(moved);
                 moved = through.DeQue<float>();
                 DataCopy(Global(z, 64), moved, 64);
                 through.FreeTensor(moved);
               })
               .Text(),
           "");
  CHECK_EQ(z[63], 3.0f);
}

TEST(a_second_pipe_while_the_first_lives_and_a_missing_pipe) {
  ExpectError("PIPE-TWICE", __LINE__ + 2, "TPipe: a second one, while that of line ", [] {
    TPipe first;
    TPipe second;
  });
  ExpectError("PIPE-MISSING", __LINE__, "the kernel has no TPipe", [] { GetTPipePtr(); });
  RunClean([] {
    {
      TPipe first;
    }
    TPipe second;
    second.Destroy();
    TPipe third;
    CHECK(GetTPipePtr() == &third);
  });
}

// ---- events and synchronisation

TEST(flags_must_pair) {
  ExpectError("EVENT", __LINE__, "WaitFlag<MTE2_V> would wait for ever: id 3 was not set", [] { WaitFlag<HardEvent::MTE2_V>(3); });
  ExpectError("EVENT", __LINE__ + 2, "SetFlag<V_S>: id 0 is set already", [] {
    SetFlag<HardEvent::V_S>(EVENT_ID0);
    SetFlag<HardEvent::V_S>(EVENT_ID0);
  });
  ExpectError("EVENT", __LINE__, "SetFlag<V_MTE3>: id 1 was never waited for", [] { SetFlag<HardEvent::V_MTE3>(1); });
  ExpectError("EVENT", __LINE__, "event id 8 is not in 0..7", [] { SetFlag<HardEvent::V_MTE3>(8); });
  ExpectError("EVENT", __LINE__, "wait_flag", [] { wait_flag(PIPE_M, PIPE_V, EVENT_ID0); });
  RunClean([] {
    set_flag(PIPE_V, PIPE_S, EVENT_ID2);
    SetFlag<HardEvent::V_S>(EVENT_ID3);
    WaitFlag<HardEvent::V_S>(EVENT_ID2);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID3);
    pipe_barrier(PIPE_V);
    PipeBarrier<PIPE_V>();
  });
}

TEST(event_ids_are_lent_and_owned) {
  ExpectError("EVENT", __LINE__ + 4, "AllocEventID<MTE2_V>: all 8 event ids are in use", [] {
    TPipe pipe;
    for (int i = 0; i < 8; ++i) CHECK_EQ(pipe.AllocEventID<HardEvent::MTE2_V>(), i);
    CHECK_EQ(pipe.FetchEventID(HardEvent::V_S), 0);
    pipe.AllocEventID<HardEvent::MTE2_V>();
  });
  ExpectError("EVENT", __LINE__ + 5, "ReleaseEventID<MTE2_V>: id 0 came from no AllocEventID", [] {
    TPipe pipe;
    const TEventID id = pipe.AllocEventID<HardEvent::MTE2_V>();
    CHECK_EQ(GetTPipePtr()->FetchEventID(HardEvent::MTE2_V), 1);
    pipe.ReleaseEventID<HardEvent::MTE2_V>(id);
    pipe.ReleaseEventID<HardEvent::MTE2_V>(id);
  });
}

TEST(v_must_wait_for_mte2) {
  Tensors t;
  CheckFinding(t.device.Run([&] {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 256);
    const LocalTensor<float> tile = buffer.Get<float>();
    DataCopy(tile, Global(t.x, 16), 16);
    Exp(tile, tile, 16);
  }),
               Severity::kWarning, "SYNC", __LINE__ - 2, "which MTE2 may still be filling: no EnQue and DeQue and no MTE2_V flag between");
  CHECK_EQ(t.device
               .Run([&] {
                 TPipe pipe;
                 TBuf<> buffer;
                 pipe.InitBuffer(buffer, 256);
                 const LocalTensor<float> tile = buffer.Get<float>();
                 DataCopy(tile, Global(t.x, 16), 16);
                 SetFlag<HardEvent::MTE2_V>(0);
                 WaitFlag<HardEvent::MTE2_V>(0);
                 Exp(tile, tile, 16);
               })
               .Text(),
           "");
}

TEST(a_flag_covers_only_what_was_copied_before_it) {
  Tensors t;
  CheckFinding(t.device.Run([&] {
    const LocalTensor<float> first(TPosition::VECIN, 0, 16), second(TPosition::VECIN, 64, 16);
    DataCopy(first, Global(t.x, 16), 16);
    SetFlag<HardEvent::MTE2_V>(0);
    DataCopy(second, Global(t.x, 16), 16);
    WaitFlag<HardEvent::MTE2_V>(0);
    Exp(first, first, 16);
    Exp(second, second, 16);
  }),
               Severity::kWarning, "SYNC", __LINE__ - 2, "Exp: src lies in the UB");
}

TEST(mte3_and_s_must_wait_for_v) {
  Tensors t;
  CheckFinding(t.device.Run([&] {
    const auto tile = Place(0, std::vector<float>(16));
    Duplicate(tile, 1.0f, 16);
    DataCopy(Global(t.z, 16), tile, 16);
  }),
               Severity::kWarning, "SYNC", __LINE__ - 2, "which V may still be writing: no EnQue and DeQue and no V_MTE3 flag between");
  ExpectWarning("SYNC", __LINE__ + 3, "no V_S flag between", [] {
    const auto tile = Place(0, std::vector<float>(16));
    Duplicate(tile, 1.0f, 16);
    tile.GetValue(0);
  });
  RunClean([] {
    TPipe pipe;
    const auto tile = Place(0, std::vector<float>(16));
    Duplicate(tile, 1.0f, 16);
    const auto id = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
    SetFlag<HardEvent::V_S>(id);
    WaitFlag<HardEvent::V_S>(id);
    CHECK_EQ(tile.GetValue(0), 1.0f);
    Duplicate(tile[8], 2.0f, 8);
    CHECK_EQ(tile.GetValue(7), 1.0f);  // not what V writes now
  });
}

TEST(a_queue_that_is_skipped_is_a_missing_wait) {
  Tensors t;
  CheckFinding(t.device.Run([&] {
    TPipe pipe;
    InQueue queue;
    pipe.InitBuffer(queue, 2, 64);
    LocalTensor<float> tile = queue.AllocTensor<float>();
    DataCopy(tile, Global(t.x, 16), 16);
    Exp(tile, tile, 16);
    queue.FreeTensor(tile);
  }),
               Severity::kWarning, "SYNC", __LINE__ - 3, "a buffer of the VECIN queue of line ");
}

// ---- the rest

TEST(an_atomic_mode_left_on_is_reported_where_it_was_set) {
  ExpectWarning("ATOMIC", __LINE__, "SetAtomicNone missing", [] { SetAtomicAdd<float>(); });
}

TEST(an_atomic_mode_of_another_type_is_an_error) {
  Tensors t;
  CheckFinding(t.device.Run([&] {
    SetAtomicAdd<float>();
    DataCopy(Global(reinterpret_cast<int32_t *>(t.z), 16), Place(0, std::vector<int32_t>(16)), 16);
  }),
               Severity::kError, "ATOMIC", __LINE__ - 2, "is of another element type");
}

TEST(the_kernels_own_assertion_stops_the_block) {
  ExpectError("ASSERT", __LINE__ + 2, "assertion failed: GetBlockNum() == 2", [] {
    ASSERT(GetBlockNum() == 1);
    ASSERT(GetBlockNum() == 2);
  });
}

TEST(a_block_starts_clean_whatever_the_one_before_left) {
  Device device;
  Settings settings;
  settings.blocks = 2;
  const Outcome outcome = device.Run(
      [] {
        if (GetBlockIdx() == 1) {
          TPipe pipe;
          InQueue queue;
          pipe.InitBuffer(queue, 2, 90000);
          CHECK_EQ(pipe.FetchEventID(HardEvent::V_S), 0);
          const auto tile = Place(0, std::vector<float>(64, 1.0f));
          Add<float, false>(tile, tile, tile, MASK_PLACEHOLDER, 1, BinaryRepeatParams());
          CHECK_EQ(tile.Data()[63], 2.0f);
          return;
        }
        TPipe pipe;
        InQueue queue;
        pipe.InitBuffer(queue, 2, 90000);
        pipe.AllocEventID<HardEvent::V_S>();
        SetVectorMask<float>(0, 1);
        queue.AllocTensor<float>();
        ASSERT(false);
      },
      settings);
  CHECK_EQ(outcome.abandoned, 1);
  CHECK_EQ(outcome.findings.size(), 1);
}

TEST(tiling_data_is_read_and_bounded) {
  struct Tiling {
    uint32_t length;
    float scale;
  };
  Device device;
  Tiling *tiling = device.Allocate("tiling", std::vector<Tiling>{{7, 0.5f}});
  auto *address = reinterpret_cast<uint8_t *>(tiling);
  CHECK_EQ(device
               .Run([&] {
                 REGISTER_TILING_DEFAULT(Tiling);
                 GET_TILING_DATA(data, address);
                 CHECK_EQ(data.length, 7);
                 GET_TILING_DATA_WITH_STRUCT(Tiling, again, address);
                 CHECK_EQ(again.scale, 0.5f);
                 GET_TILING_DATA_MEMBER(Tiling, length, length, address);
                 CHECK_EQ(length, 7);
                 CHECK(TILING_KEY_IS(0));
                 CHECK(GetUserWorkspace(address) == address);
               })
               .Text(),
           "");
  CheckFinding(device.Run([&] {
    GET_TILING_DATA_WITH_STRUCT(Tiling, data, address + 4);
    CHECK_EQ(data.length, 0);
  }),
               Severity::kError, "GM-OOB", __LINE__ - 3, "4 bytes past its 8");
}

TEST_MAIN()
