// What a session accepts and refuses, with the codes and texts that people search for.
#include <chrono>
#include <cstring>
#include <thread>

#include "session/counting_ops.h"
#include "session/session_fixture.h"

using session_test::Errors;
using session_test::kElements;
using session_test::Loaded;
using session_test::MemorySet;
using session_test::OneOpGraph;
using session_test::Options;

namespace ge {
OPKIT_TEST_ADD_PROTO(NobodyImplements);
OPKIT_TEST_ADD_PROTO(InferOnly);
OPKIT_TEST_ADD_PROTO(FailingInfer);
OPKIT_TEST_ADD_PROTO(FailingExecute);
OPKIT_TEST_ADD_PROTO(NoInfer);
OPKIT_TEST_ADD_PROTO(Throwing);

class InferOnly : public session_test::LikeX {};
REG_AUTO_MAPPING_OP(InferOnly);

class FailingInfer : public ShapeInferOp {
 public:
  graphStatus InferDataType(gert::InferDataTypeContext *ctx) override { return ctx->SetOutputDataType(7, DT_FLOAT); }
  graphStatus InferShape(gert::InferShapeContext *) override { return GRAPH_SUCCESS; }
};
REG_AUTO_MAPPING_OP(FailingInfer);

class FailingExecute : public EagerExecuteOp, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *) override { return is_failing ? 7 : GRAPH_SUCCESS; }
  static inline bool is_failing = true;
};
REG_AUTO_MAPPING_OP(FailingExecute);

class NoInfer : public EagerExecuteOp {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *) override { return GRAPH_SUCCESS; }
};
REG_AUTO_MAPPING_OP(NoInfer);

class Throwing : public EagerExecuteOp, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *) override { throw std::runtime_error("from Execute"); }
};
REG_AUTO_MAPPING_OP(Throwing);
}  // namespace ge

namespace {
ge::Status Execute(Loaded &loaded, uint32_t id, std::vector<gert::Tensor> inputs, std::vector<gert::Tensor> outputs) {
  return loaded.session().ExecuteGraphWithStreamAsync(id, loaded.stream().get(), inputs, outputs);
}

gert::Tensor Sized(const session_test::Floats &floats, size_t bytes) {
  gert::Tensor tensor = floats.tensor();
  tensor.SetSize(bytes);
  return tensor;
}

std::vector<gert::Tensor> Two(gert::Tensor first, gert::Tensor second) {
  std::vector<gert::Tensor> tensors;
  tensors.push_back(std::move(first));
  tensors.push_back(std::move(second));
  return tensors;
}

std::vector<gert::Tensor> One(gert::Tensor tensor) {
  std::vector<gert::Tensor> tensors;
  tensors.push_back(std::move(tensor));
  return tensors;
}

size_t GraphAllocations() { return opkit_sim::rt::OutstandingAllocations(opkit_sim::rt::Owner::kGraph); }
}  // namespace

namespace ge {
bool IsGEInitialize();
}

// First: it needs a process in which GE isn't initialised.
TEST(before_initialisation_every_call_fails_with_e10062) {
  CHECK(!ge::IsGEInitialize());
  ge::Session session(Options{});
  CHECK_CONTAINS(Errors(), "E10062: Failed to create a Session. Reason: GE is not correctly initialized.");
  CHECK_EQ(session.GetSessionId(), 0);
  CHECK_EQ(session.AddGraph(0, OneOpGraph("UpdatedAdd")), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E10062: Failed to call AddGraph. Reason: GE is not correctly initialized.");
  CHECK_EQ(session.CompileGraph(0), ge::FAILED);
  CHECK_EQ(ge::GEFinalize(), ge::SUCCESS);
  CHECK_CONTAINS(std::string(ge::GEGetWarningMsgV2().GetString()), "GEFinalize is called before GEInitialize");
  session_test::Initialize();
  CHECK(ge::IsGEInitialize());
  Errors();
  CHECK_EQ(session.AddGraph(0, OneOpGraph("UpdatedAdd")), ge::FAILED);
  CHECK_CONTAINS(Errors(), "there is no session (session_id=0)");
}

TEST(second_initialisation_succeeds_and_says_that_its_options_are_ignored) {
  session_test::Initialize();
  CHECK_EQ(ge::GEInitialize(Options{{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}}), ge::SUCCESS);
  CHECK_EQ(std::string(ge::GEGetWarningMsgV2().GetString()), "");
  CHECK_EQ(ge::GEInitialize(Options{{"ge.exec.deviceId", "1"}}), ge::SUCCESS);
  CHECK_CONTAINS(std::string(ge::GEGetWarningMsgV2().GetString()), "are ignored");
}

TEST(error_messages_are_drained_by_reading_and_belong_to_their_thread) {
  Loaded loaded;
  CHECK_EQ(loaded.session().RemoveGraph(77), ge::FAILED);
  std::thread([] { CHECK_EQ(Errors(), ""); }).join();
  CHECK_CONTAINS(Errors(), "E10062: Failed to remove the graph. Reason: the graph (graph_id=77) does not exist.");
  CHECK_EQ(Errors(), "");
}

TEST(same_id_is_added_once_and_silently) {
  Loaded loaded;
  CHECK_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd")), ge::SUCCESS);
  CHECK_EQ(loaded.session().AddGraph(1, OneOpGraph("FixedAdd")), ge::SUCCESS);
  CHECK_EQ(Errors(), "");
  const int before = session_test::CallsOf("FixedAdd").execute;
  REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().LoadGraph(1, Options{}, loaded.stream().get()), ge::SUCCESS);
  CHECK_EQ(session_test::CallsOf("FixedAdd").execute, before);
}

TEST(one_graph_object_is_added_once_unless_copied) {
  Loaded loaded;
  const ge::Graph graph = OneOpGraph("UpdatedAdd");
  CHECK_EQ(loaded.session().AddGraph(1, graph), ge::SUCCESS);
  CHECK_EQ(loaded.session().AddGraph(2, graph), ge::FAILED);
  CHECK_CONTAINS(Errors(), "has been added before");
  CHECK_EQ(loaded.session().AddGraphWithCopy(3, graph), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(3), ge::SUCCESS);
}

TEST(graph_without_name_or_nodes_is_refused) {
  Loaded loaded;
  CHECK_EQ(loaded.session().AddGraph(1, ge::Graph("empty")), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E19999: AddGraph failed, graph_id=1");
}

TEST(calls_on_unknown_graphs_fail_with_e10062) {
  Loaded loaded;
  MemorySet set(1, 2);
  const auto check = [](ge::Status status) {
    CHECK_EQ(status, ge::FAILED);
    CHECK_CONTAINS(Errors(), "E10062: Failed to get the graph. Reason: the graph (graph_id=9) does not exist.");
  };
  check(loaded.session().CompileGraph(9));
  check(loaded.session().LoadGraph(9, Options{}, nullptr));
  check(loaded.Run(9, set));
  CHECK(loaded.session().IsGraphNeedRebuild(9));
  CHECK(loaded.session().GetCompiledGraphSummary(9) == nullptr);
}

TEST(order_of_compile_load_and_execute_is_kept) {
  Loaded loaded;
  MemorySet set(1, 2);
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd")), ge::SUCCESS);
  CHECK_EQ(loaded.session().LoadGraph(1, Options{}, nullptr), ge::FAILED);
  CHECK_CONTAINS(Errors(), "graph needs to be compiled first");
  CHECK_EQ(loaded.Run(1, set), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E19999: Graph:1 has not build before, can't execute directly, check invalid");
  REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  CHECK_EQ(loaded.Run(1, set), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E19999: Graph:1 has not load before, can't execute directly, check invalid");
  REQUIRE_EQ(loaded.session().LoadGraph(1, Options{}, loaded.stream().get()), ge::SUCCESS);
  CHECK_EQ(loaded.session().LoadGraph(1, Options{}, loaded.stream().get()), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E10062: Failed to verify the graph status. Reason: the graph (graph_id=1) has been loaded.");
  CHECK_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  CHECK_CONTAINS(std::string(ge::GEGetWarningMsgV2().GetString()), "graph 1 is compiled already");
  loaded.RunAndWait(1, set);
  CHECK(set.z.IsAll(3));
}

TEST(type_without_implementation_fails_to_compile_with_ez3003) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("NobodyImplements")), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(1), ge::FAILED);
  CHECK_CONTAINS(Errors(), "EZ3003: No supported Ops kernel and engine are found for [NobodyImplements_node], optype [NobodyImplements].");
}

TEST(failing_inference_fails_the_compilation) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("FailingInfer")), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(1), ge::FAILED);
  CHECK_CONTAINS(Errors(), "[Call][CustomOpInferShape] failed, InferDataType of op_desc[FailingInfer_node]");
}

TEST(dtype_is_inferred_before_shape) {
  Loaded loaded;
  session_test::CallsOf("UpdatedAdd").inference.clear();
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd")), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  CHECK((session_test::CallsOf("UpdatedAdd").inference == std::vector<std::string>{"dtype", "shape"}));
}

TEST(unknown_dims_are_refused_at_compilation) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd", {-1, 4})), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(1), ge::FAILED);
  const std::string errors = Errors();
  CHECK_CONTAINS(errors, "dynamic-shape execution isn't simulated");
  CHECK_CONTAINS(errors, "[-1, 4]");
  REQUIRE_EQ(loaded.session().AddGraph(2, OneOpGraph("NoInfer")), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(2), ge::FAILED);
  CHECK_CONTAINS(Errors(), "dynamic-shape execution isn't simulated");
}

TEST(op_that_only_infers_fails_to_load) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("InferOnly")), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  CHECK_EQ(loaded.session().LoadGraph(1, Options{}, loaded.stream().get()), ge::FAILED);
  CHECK_CONTAINS(Errors(), "InferOnly is custom op but did not implement EagerExecuteOp");
}

TEST(failed_execute_fails_the_load_frees_its_memory_and_can_be_tried_again) {
  Loaded loaded;
  const size_t before = GraphAllocations();
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("FailingExecute")), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  CHECK_EQ(loaded.session().LoadGraph(1, Options{}, loaded.stream().get()), ge::FAILED);
  CHECK_CONTAINS(Errors(), "Execute failed, op_name:FailingExecute_node, op_type:FailingExecute, ret 7");
  CHECK_EQ(GraphAllocations(), before);
  ge::FailingExecute::is_failing = false;
  CHECK_EQ(loaded.session().LoadGraph(1, Options{}, loaded.stream().get()), ge::SUCCESS);
}

TEST(exception_of_an_op_leaves_the_stream_usable) {
  Loaded loaded;
  MemorySet set(1, 2);
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("Throwing")), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  bool is_thrown = false;
  try {
    (void)loaded.session().LoadGraph(1, Options{}, loaded.stream().get());
  } catch (const std::runtime_error &) {
    is_thrown = true;
  }
  CHECK(is_thrown);
  loaded.Add(2, OneOpGraph("UpdatedAdd"));
  loaded.RunAndWait(2, set);
  CHECK(set.z.IsAll(3));
}

TEST(wrong_number_of_tensors_is_e13025) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  CHECK_EQ(Execute(loaded, 1, One(set.x.tensor()), One(set.z.tensor())), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E13025: Input tensor is invalid. Reason: The number of inputs or outputs provided by the user is inconsistent");
  CHECK_EQ(Execute(loaded, 1, Two(set.x.tensor(), set.y.tensor()), Two(set.z.tensor(), set.z.tensor())), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E13025");
}

TEST(buffer_may_be_longer_or_64_bytes_short_of_the_padded_size) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  const size_t bytes = kElements * sizeof(float);  // a multiple of 32, so padding makes it 32 more
  CHECK_EQ(Execute(loaded, 1, Two(Sized(set.x, 2 * bytes), set.y.tensor()), One(set.z.tensor())), ge::SUCCESS);
  CHECK_EQ(Execute(loaded, 1, Two(Sized(set.x, bytes - 32), set.y.tensor()), One(set.z.tensor())), ge::SUCCESS);
  CHECK_EQ(Errors(), "");
  CHECK_EQ(Execute(loaded, 1, Two(Sized(set.x, bytes - 33), set.y.tensor()), One(set.z.tensor())), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E13025: Input tensor is invalid. Reason: The input memory size set by the user is invalid.");
  CHECK_EQ(Execute(loaded, 1, Two(set.x.tensor(), set.y.tensor()), One(Sized(set.z, 4))), ge::FAILED);
  CHECK_CONTAINS(Errors(), "output 0");
  CHECK_EQ(loaded.stream().Wait(), ACL_SUCCESS);
}

TEST(tensor_without_address_is_e13025) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  gert::Tensor empty = set.x.tensor();
  (void)empty.MutableTensorData().SetAddr(nullptr, nullptr);
  CHECK_EQ(Execute(loaded, 1, Two(std::move(empty), set.y.tensor()), One(set.z.tensor())), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E13025: Input tensor is invalid. Reason: input 0 of graph 1 has no address.");
}

TEST(refused_run_changes_nothing_for_the_next) {
  Loaded loaded;
  MemorySet set(1, 2);
  MemorySet other(10, 20);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  loaded.RunAndWait(1, set);
  CHECK_EQ(Execute(loaded, 1, Two(other.x.tensor(), Sized(other.y, 4)), One(other.z.tensor())), ge::FAILED);
  set.z.Fill(session_test::kPoison);
  loaded.RunAndWait(1, set);
  CHECK(set.z.IsAll(3));
  CHECK(other.z.IsAll(session_test::kPoison));
}

TEST(remove_graph_gives_back_all_memory) {
  Loaded loaded;
  MemorySet set(1, 2);
  const size_t allocations = GraphAllocations();
  const size_t bytes = opkit_sim::rt::OutstandingBytes(opkit_sim::rt::Owner::kGraph);
  for (const char *type : {"UpdatedAdd", "FixedAdd"}) {
    loaded.Add(1, OneOpGraph(type));
    CHECK(GraphAllocations() > allocations);
    loaded.RunAndWait(1, set);
    CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
    CHECK_EQ(GraphAllocations(), allocations);
    CHECK_EQ(opkit_sim::rt::OutstandingBytes(opkit_sim::rt::Owner::kGraph), bytes);
  }
  CHECK_EQ(loaded.session().RemoveGraph(1), ge::FAILED);
}

TEST(remove_graph_waits_for_runs_that_are_queued) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("FixedAdd"));
  for (int i = 0; i < 50; ++i) {
    REQUIRE_EQ(loaded.Run(1, set), ge::SUCCESS);
  }
  CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
  CHECK(set.z.IsAll(3));
}

TEST(remove_graph_waits_for_runs_on_a_default_stream_by_its_handle) {
  Loaded loaded;
  MemorySet set(1, 2);
  aclrtStream handle = nullptr;
  REQUIRE_EQ(aclrtCtxGetCurrentDefaultStream(&handle), ACL_SUCCESS);
  loaded.Add(1, OneOpGraph("FixedAdd"));
  const aclrtHostFunc linger = [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  REQUIRE_EQ(aclrtLaunchHostFunc(handle, linger, nullptr), ACL_SUCCESS);
  REQUIRE_EQ(loaded.session().ExecuteGraphWithStreamAsync(1, handle, set.inputs, set.outputs), ge::SUCCESS);
  CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
  CHECK(set.z.IsAll(3));
}

TEST(remove_graph_waits_for_the_default_stream_of_the_context_that_ran_it) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("FixedAdd"));
  aclrtContext context = nullptr;
  std::thread([&] {
    REQUIRE_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    const aclrtHostFunc linger = [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
    REQUIRE_EQ(aclrtLaunchHostFunc(nullptr, linger, nullptr), ACL_SUCCESS);
    REQUIRE_EQ(loaded.session().ExecuteGraphWithStreamAsync(1, nullptr, set.inputs, set.outputs), ge::SUCCESS);
  }).join();
  CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
  CHECK(set.z.IsAll(3));
  CHECK_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST(remove_graph_leaves_the_streams_failure_to_the_program) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  loaded.RunAndWait(1, set);
  void *memory = nullptr;
  REQUIRE_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const aclrtHostFunc linger = [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  REQUIRE_EQ(aclrtLaunchHostFunc(loaded.stream().get(), linger, nullptr), ACL_SUCCESS);
  REQUIRE_EQ(aclrtMemsetAsync(memory, 64, 0, 64, loaded.stream().get()), ACL_SUCCESS);
  REQUIRE_EQ(aclrtFree(memory), ACL_SUCCESS);
  CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
  CHECK_EQ(loaded.stream().Wait(), ACL_ERROR_RT_DEVICE_MEM_ERROR);
}

TEST(calls_on_a_new_thread_leave_no_text_of_a_missing_context) {
  Loaded loaded;
  (void)aclGetRecentErrMsg();
  std::thread([&loaded] {
    CHECK_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd")), ge::SUCCESS);
    CHECK_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
    CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
    CHECK(aclGetRecentErrMsg() == nullptr);
  }).join();
}

TEST(address_that_is_no_live_device_memory_is_refused_by_name_where_it_is_copied) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("FixedAdd"));
  std::vector<float> on_host(kElements, 5);
  set.inputs[0] = {{{kElements}, {kElements}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, gert::kOnDeviceHbm, ge::DT_FLOAT, on_host.data()};
  CHECK_EQ(loaded.Run(1, set), ge::FAILED);
  CHECK_CONTAINS(Errors(), "which is not device memory");
  {
    const session_test::Floats freed(1);
    set.inputs[0] = freed.tensor();
  }
  CHECK_EQ(loaded.Run(1, set), ge::FAILED);
  const std::string text = Errors();
  CHECK_CONTAINS(text, "identity_");
  CHECK_CONTAINS(text, "device memory that has been freed");
  set.inputs[0] = set.x.tensor();
  loaded.RunAndWait(1, set);
  CHECK(set.z.IsAll(3));
}

TEST(graph_outlives_the_stream_that_it_was_loaded_on) {
  Loaded loaded;
  MemorySet set(1, 2);
  {
    session_test::Stream short_lived;
    REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd")), ge::SUCCESS);
    REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
    REQUIRE_EQ(loaded.session().LoadGraph(1, Options{}, short_lived.get()), ge::SUCCESS);
    REQUIRE_EQ(short_lived.Wait(), ACL_SUCCESS);
  }
  loaded.RunAndWait(1, set);
  CHECK(set.z.IsAll(3));
  CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
}

TEST(runs_of_one_graph_from_several_threads_take_turns) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  const auto run = [&loaded](MemorySet &set) {
    for (int i = 0; i < 200; ++i) {
      CHECK_EQ(loaded.Run(1, set), ge::SUCCESS);
    }
  };
  std::thread other(run, std::ref(second));
  run(first);
  other.join();
  CHECK_EQ(loaded.stream().Wait(), ACL_SUCCESS);
  CHECK(first.z.IsAll(3));
  CHECK(second.z.IsAll(30));
}

TEST(default_stream_works_as_any_other) {
  Loaded loaded;
  MemorySet set(1, 2);
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("UpdatedAdd")), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().LoadGraph(1, Options{}, nullptr), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().ExecuteGraphWithStreamAsync(1, nullptr, set.inputs, set.outputs), ge::SUCCESS);
  REQUIRE_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  CHECK(set.z.IsAll(3));
}

TEST(summary_knows_outputs_and_memory) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("FixedAdd")), ge::SUCCESS);
  CHECK(loaded.session().IsGraphNeedRebuild(1));
  CHECK(loaded.session().GetCompiledGraphSummary(1) == nullptr);
  CHECK_CONTAINS(Errors(), "is not compiled");
  REQUIRE_EQ(loaded.session().BuildGraph(1, std::vector<ge::Tensor>()), ge::SUCCESS);
  CHECK(!loaded.session().IsGraphNeedRebuild(1));
  const ge::CompiledGraphSummaryPtr summary = loaded.session().GetCompiledGraphSummary(1);
  REQUIRE(summary != nullptr);
  size_t number = 0;
  std::vector<ge::Shape> shapes;
  std::vector<ge::DataType> dtypes;
  CHECK(summary->IsStatic());
  CHECK_EQ(summary->GetFeatureMemorySize(number), ge::SUCCESS);
  CHECK_EQ(number, 3 * kElements * sizeof(float));
  CHECK_EQ(summary->GetStreamNum(number), ge::SUCCESS);
  CHECK_EQ(number, 1);
  CHECK_EQ(summary->GetOutputShapes(shapes), ge::SUCCESS);
  REQUIRE_EQ(shapes.size(), 1);
  CHECK((shapes[0].GetDims() == std::vector<int64_t>{kElements}));
  CHECK_EQ(summary->GetOutputDtypes(dtypes), ge::SUCCESS);
  CHECK((dtypes == std::vector<ge::DataType>{ge::DT_FLOAT}));
}

TEST(options_as_std_string_are_taken_too) {
  session_test::Initialize();
  const std::map<std::string, std::string> options = {{"ge.exec.deviceId", "0"}};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  ge::Session session(options);
  CHECK_EQ(session.AddGraph(1, OneOpGraph("UpdatedAdd"), options), ge::SUCCESS);
#pragma GCC diagnostic pop
  CHECK(session.GetSessionId() > 0);
}

TEST(device_option_must_be_a_device) {
  session_test::Initialize();
  for (const char *device : {"99", "-1", "one", ""}) {
    const ge::Session session(Options{{"ge.exec.deviceId", device}});
    CHECK_EQ(session.GetSessionId(), 0);
    CHECK_CONTAINS(Errors(), std::string("E10001: Value ") + device + " for parameter ge.exec.deviceId is invalid.");
  }
}

// Last: the process has no sessions after it.
TEST(finalise_unloads_every_graph_and_ends_the_sessions) {
  const size_t before = GraphAllocations();
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  loaded.RunAndWait(1, set);
  CHECK_EQ(ge::GEFinalize(), ge::SUCCESS);
  CHECK_EQ(GraphAllocations(), before);
  CHECK_EQ(loaded.Run(1, set), ge::FAILED);
  CHECK_CONTAINS(Errors(), "E10062: Failed to call ExecuteGraphWithStreamAsync. Reason: GE is not correctly initialized.");
  CHECK_EQ(ge::GEInitialize(Options{}), ge::SUCCESS);
  CHECK_EQ(loaded.Run(1, set), ge::FAILED);
  CHECK_CONTAINS(Errors(), "there is no session");
}

TEST_MAIN()
