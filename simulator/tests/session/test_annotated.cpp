// Ops that declare their launches while the graph is compiled, and ops that build their kernel then: no callback at run time, and no
// copies.
#include "session/counting_ops.h"
#include "session/session_fixture.h"

using session_test::Errors;
using session_test::Loaded;
using session_test::MemorySet;
using session_test::OneOpGraph;
using session_test::Options;
using session_test::RecordedTasks;

namespace ge {
OPKIT_TEST_ADD_PROTO(DeclaredAdd);
OPKIT_TEST_ADD_PROTO(DeclaredByWorkspace);
OPKIT_TEST_ADD_PROTO(DeclaresNothing);
OPKIT_TEST_ADD_PROTO(DeclaresWrongly);
OPKIT_TEST_ADD_PROTO(BothWays);
OPKIT_TEST_ADD_PROTO(FailingCompile);

class DeclaredAdd : public CompilableOp, public AnnotatedArgsOp, public session_test::LikeX {
 public:
  graphStatus Compile(gert::OpCompileContext *ctx) override {
    ++compiled;
    const gert::Tensor *x = ctx->GetInputTensor(0);
    is_without_data = x->GetAddr() == nullptr && x->GetShapeSize() == session_test::kElements && ctx->GetInputTensor(2) == nullptr &&
                      ctx->GetRequiredInputTensor(1) == ctx->GetInputTensor(1) &&
                      ctx->GetRequiredOutputTensor(0) == ctx->GetOutputTensor(0) && ctx->GetOptionalInputTensor(9) == nullptr &&
                      ctx->GetDynamicOutputTensor(0, 1) == nullptr;
    AscendString value;
    option = ctx->GetOption(AscendString("ge.jit_compile"), value) == GRAPH_SUCCESS ? value.GetString() : "";
    is_unknown_refused = ctx->GetOption(AscendString("no.such.option"), value) != GRAPH_SUCCESS;
    fe::PlatFormInfos platform;
    fe::OptionalInfos optional;
    if (ctx->GetPlatformInfos(platform, optional) != GRAPH_SUCCESS) {
      return GRAPH_FAILED;
    }
    (void)platform.GetPlatformResWithLock("version", "NpuArch", arch);
    binary = session_test::CompileAdd();
    return binary.empty() ? GRAPH_FAILED : GRAPH_SUCCESS;
  }
  graphStatus DeclareLaunchArgs(gert::AnnotatedArgsContext &ctx) override {
    ++declared;
    const gert::Tensor *x = ctx.GetInputTensor(0);
    gert::AnnotatedKernelArgs args(gert::InputAddr{0, x->GetAddr()}, gert::InputAddr{1, ctx.GetInputTensor(1)->GetAddr()},
                                   gert::OutputAddr{0, ctx.GetOutputTensor(0)->GetAddr()}, static_cast<uint64_t>(x->GetShapeSize()));
    return ctx.AddLaunch(Launch(ctx), std::move(args));
  }
  static gert::AnnotatedKernelLaunchInfo Launch(const gert::AnnotatedArgsContext &ctx) {
    gert::AnnotatedKernelLaunchInfo launch;
    launch.kernel_name = "add";
    launch.kernel_bin = binary.data();
    launch.kernel_bin_size = binary.size();
    launch.block_dim = 2;
    launch.stream_id = ctx.GetStreamId();
    return launch;
  }
  static inline int compiled = 0;
  static inline int declared = 0;
  static inline bool is_without_data = false;
  static inline bool is_unknown_refused = false;
  static inline std::string option;
  static inline std::string arch;
  static inline std::vector<uint8_t> binary;
};
REG_AUTO_MAPPING_OP(DeclaredAdd);

// x + y into a workspace, plus y into z.
class DeclaredByWorkspace : public DeclaredAdd {
 public:
  graphStatus DeclareLaunchArgs(gert::AnnotatedArgsContext &ctx) override {
    const auto n = static_cast<uint64_t>(ctx.GetInputTensor(0)->GetShapeSize());
    const gert::WorkspaceAddr workspace = ctx.MallocWorkSpace(n * sizeof(float));
    const gert::InputAddr x{0, ctx.GetInputTensor(0)->GetAddr()};
    const gert::InputAddr y{1, ctx.GetRequiredInputTensor(1)->GetAddr()};
    const gert::OutputAddr z{0, ctx.GetRequiredOutputTensor(0)->GetAddr()};
    gert::AnnotatedKernelArgs second(workspace, y);
    gert::AnnotatedKernelArgs copied(second);
    (void)copied.AppendArg(z);
    (void)copied.AppendArg(n);
    second = std::move(copied);
    const graphStatus status = ctx.AddLaunch(Launch(ctx), gert::AnnotatedKernelArgs(x, y, workspace, n));
    return status == GRAPH_SUCCESS ? ctx.AddLaunch(Launch(ctx), std::move(second)) : status;
  }
};
REG_AUTO_MAPPING_OP(DeclaredByWorkspace);

class DeclaresNothing : public AnnotatedArgsOp, public session_test::LikeX {
 public:
  graphStatus DeclareLaunchArgs(gert::AnnotatedArgsContext &) override { return GRAPH_SUCCESS; }
};
REG_AUTO_MAPPING_OP(DeclaresNothing);

class DeclaresWrongly : public AnnotatedArgsOp, public session_test::LikeX {
 public:
  graphStatus DeclareLaunchArgs(gert::AnnotatedArgsContext &ctx) override {
    gert::AnnotatedKernelLaunchInfo launch;
    uint8_t binary[4] = {};
    launch.kernel_name = "add";
    launch.kernel_bin = binary;
    launch.kernel_bin_size = sizeof(binary);
    launch.block_dim = 1;
    break_it(launch);
    return ctx.AddLaunch(launch, has_args ? gert::AnnotatedKernelArgs(gert::InputAddr{input, nullptr}) : gert::AnnotatedKernelArgs());
  }
  static inline void (*break_it)(gert::AnnotatedKernelLaunchInfo &) = nullptr;
  static inline bool has_args = true;
  static inline uint32_t input = 0;
};
REG_AUTO_MAPPING_OP(DeclaresWrongly);

class BothWays : public UpdatedAdd, public AnnotatedArgsOp {
 public:
  graphStatus DeclareLaunchArgs(gert::AnnotatedArgsContext &) override { return GRAPH_FAILED; }
};
REG_AUTO_MAPPING_OP(BothWays);

class FailingCompile : public CompilableOp, public EagerExecuteOp, public session_test::LikeX {
 public:
  graphStatus Compile(gert::OpCompileContext *) override { return GRAPH_FAILED; }
  graphStatus Execute(gert::EagerOpExecutionContext *) override { return GRAPH_SUCCESS; }
};
REG_AUTO_MAPPING_OP(FailingCompile);
}  // namespace ge

namespace {
void CheckRefused(const char *reason) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("DeclaresWrongly")), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(1), ge::FAILED);
  const std::string errors = Errors();
  CHECK_CONTAINS(errors, std::string("[AddLaunch] op DeclaresWrongly_node: ") + reason);
  CHECK_CONTAINS(errors, "DeclareLaunchArgs failed");
}
}  // namespace

TEST(declared_addresses_are_refreshed_by_the_framework) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(301, OneOpGraph("DeclaredAdd"));
  for (MemorySet *set : {&first, &second, &first}) {
    loaded.RunAndWait(301, *set);
  }
  CHECK(first.z.IsAll(3));
  CHECK(second.z.IsAll(30));
  CHECK_EQ(ge::DeclaredAdd::declared, 1);
  CHECK_EQ(RecordedTasks({"_MemLayoutConflict_", "\"graph_id\": 301,"}), 0);
  CHECK_EQ(RecordedTasks({"\"kind\": \"ARGS_H2D\"", "\"graph_id\": 301,"}), 1 + 3);
}

TEST(compile_sees_shapes_options_and_platform_but_no_data) {
  session_test::Initialize();
  ge::Session session(Options{{"ge.jit_compile", "from the session"}});
  const int before = ge::DeclaredAdd::compiled;
  REQUIRE_EQ(session.AddGraph(1, OneOpGraph("DeclaredAdd")), ge::SUCCESS);
  REQUIRE_EQ(session.CompileGraph(1), ge::SUCCESS);
  CHECK_EQ(ge::DeclaredAdd::compiled, before + 1);
  CHECK(ge::DeclaredAdd::is_without_data);
  CHECK(ge::DeclaredAdd::is_unknown_refused);
  CHECK_EQ(ge::DeclaredAdd::option, "from the session");
  CHECK_EQ(ge::DeclaredAdd::arch, "2201");
  REQUIRE_EQ(session.AddGraph(2, OneOpGraph("DeclaredAdd"), Options{{"ge.jit_compile", "from the graph"}}), ge::SUCCESS);
  REQUIRE_EQ(session.CompileGraph(2), ge::SUCCESS);
  CHECK_EQ(ge::DeclaredAdd::option, "from the graph");
}

TEST(workspace_and_several_declared_launches_work_together) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  const size_t before = opkit_sim::rt::OutstandingAllocations(opkit_sim::rt::Owner::kGraph);
  loaded.Add(1, OneOpGraph("DeclaredByWorkspace"));
  loaded.RunAndWait(1, first);
  loaded.RunAndWait(1, second);
  CHECK(first.z.IsAll(5));
  CHECK(second.z.IsAll(50));
  CHECK_EQ(loaded.session().RemoveGraph(1), ge::SUCCESS);
  CHECK_EQ(opkit_sim::rt::OutstandingAllocations(opkit_sim::rt::Owner::kGraph), before);
}

TEST(op_that_declares_no_launch_fails_the_compilation) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("DeclaresNothing")), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(1), ge::FAILED);
  CHECK_CONTAINS(Errors(), "Custom op did not call AddLaunch");
}

TEST(op_without_elements_is_folded_before_it_would_declare) {
  Loaded loaded;
  MemorySet set(1, 2);
  const Options unfolded = {{"ge.oo.constantFolding", "false"}};
  loaded.Add(1, OneOpGraph("DeclaresNothing", {0, 7}));
  for (std::vector<gert::Tensor> *tensors : {&set.inputs, &set.outputs}) {
    for (gert::Tensor &tensor : *tensors) {
      tensor.MutableOriginShape() = tensor.MutableStorageShape() = gert::Shape{0, 7};
    }
  }
  loaded.RunAndWait(1, set);
  REQUIRE_EQ(loaded.session().AddGraph(2, OneOpGraph("DeclaresNothing", {0, 7}), unfolded), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(2), ge::FAILED);
  CHECK_CONTAINS(Errors(), "Custom op did not call AddLaunch");
}

TEST(two_nodes_that_give_one_kernel_name_different_binaries_are_refused) {
  Loaded loaded;
  ge::op::Data x = session_test::DataOf("x");
  ge::DeclaresWrongly::break_it = [](gert::AnnotatedKernelLaunchInfo &) {};
  ge::DeclaresWrongly::has_args = true;
  ge::DeclaresWrongly::input = 0;
  std::vector<std::pair<ge::Operator, std::vector<size_t>>> outputs;
  for (const char *type : {"DeclaredAdd", "DeclaresWrongly"}) {
    ge::Operator op = ge::OperatorFactory::CreateOperator(type, type);
    (void)op.SetInput("x", x);
    (void)op.SetInput("y", x);
    outputs.push_back({op, {0}});
  }
  ge::Graph graph("two");
  graph.SetInputs({x}).SetOutputs(outputs);
  REQUIRE_EQ(loaded.session().AddGraph(1, graph), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(1), ge::FAILED);
  CHECK_CONTAINS(Errors(), "nodes DeclaredAdd and DeclaresWrongly give one kernel name, add, different binaries");
}

TEST(launch_that_can_not_be_is_refused_with_its_reason) {
  using Info = gert::AnnotatedKernelLaunchInfo;
  ge::DeclaresWrongly::break_it = [](Info &launch) { launch.kernel_name = nullptr; };
  CheckRefused("kernel name is empty");
  ge::DeclaresWrongly::break_it = [](Info &launch) { launch.kernel_bin_size = 0; };
  CheckRefused("kernel binary is empty");
  ge::DeclaresWrongly::break_it = [](Info &launch) { launch.block_dim = 0; };
  CheckRefused("block_dim is 0");
  ge::DeclaresWrongly::break_it = [](Info &launch) { launch.stream_id = 5; };
  CheckRefused("stream_id isn't the logical stream of the node");
  ge::DeclaresWrongly::break_it = [](Info &) {};
  ge::DeclaresWrongly::has_args = false;
  CheckRefused("args are empty");
  ge::DeclaresWrongly::has_args = true;
  ge::DeclaresWrongly::input = 2;
  CheckRefused("an argument names a tensor or a workspace that the node doesn't have");
}

TEST(declared_kernel_that_is_no_binary_fails_the_load) {
  Loaded loaded;
  ge::DeclaresWrongly::break_it = [](gert::AnnotatedKernelLaunchInfo &) {};
  ge::DeclaresWrongly::has_args = true;
  ge::DeclaresWrongly::input = 0;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("DeclaresWrongly")), ge::SUCCESS);
  REQUIRE_EQ(loaded.session().CompileGraph(1), ge::SUCCESS);
  CHECK_EQ(loaded.session().LoadGraph(1, Options{}, loaded.stream().get()), ge::FAILED);
  CHECK_CONTAINS(Errors(), "kernel add can't be loaded");
}

TEST(updater_that_also_declares_is_treated_as_an_updater) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("BothWays"));
  loaded.RunAndWait(1, set);
  CHECK(set.z.IsAll(3));
  CHECK_EQ(session_test::CallsOf("BothWays").update, 2);
}

TEST(failed_compile_callback_fails_the_compilation) {
  Loaded loaded;
  REQUIRE_EQ(loaded.session().AddGraph(1, OneOpGraph("FailingCompile")), ge::SUCCESS);
  CHECK_EQ(loaded.session().CompileGraph(1), ge::FAILED);
  CHECK_CONTAINS(Errors(), "[Compile][CustomOp] compile failed, op_name:FailingCompile_node, op_type:FailingCompile");
}

TEST_MAIN()
