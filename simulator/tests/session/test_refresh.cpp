// Address refresh: who is called when, with which addresses, and what is copied. Counted, not timed.
#include <algorithm>

#include "session/counting_ops.h"
#include "session/session_fixture.h"
#include "session/start.h"

using session_test::Calls;
using session_test::CallsOf;
using session_test::Loaded;
using session_test::MemorySet;
using session_test::OneOpGraph;
using session_test::RecordedTasks;

namespace ge {
OPKIT_TEST_ADD_PROTO(UnregisteredArgsAdd);
OPKIT_TEST_ADD_PROTO(RegisteredFixedAdd);
OPKIT_TEST_ADD_PROTO(WrongFillAdd);
OPKIT_TEST_ADD_PROTO(RefusingAdd);

// Is an ArgsUpdater and never asks for device args.
class UnregisteredArgsAdd : public EagerExecuteOp, public ArgsUpdater, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override { return session_test::BindOutput(ctx) ? GRAPH_SUCCESS : GRAPH_FAILED; }
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *ctx) override {
    ++CallsOf(ctx->GetNodeType()).update;
    return GRAPH_SUCCESS;
  }
};
REG_AUTO_MAPPING_OP(UnregisteredArgsAdd);

// Asks for device args and is no ArgsUpdater.
class RegisteredFixedAdd : public EagerExecuteOp, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    if (!session_test::BindOutput(ctx)) {
      return GRAPH_FAILED;
    }
    session_test::AddArgs args = session_test::ArgsOf(*ctx);
    const gert::KernelArgs *registered = ctx->MallocReadOnlyDevArgs(&args, sizeof(args));
    args = {};
    auto *as_update = static_cast<gert::UpdateArgsContext *>(ctx);
    has_host_args = as_update->GetKernelArgs(gert::Placement::kPlacementHost, 0) != nullptr;
    has_device_args = as_update->GetKernelArgs(gert::Placement::kPlacementDevice, 0) == registered;
    return session_test::Launch(*ctx, registered);
  }
  static inline bool has_host_args = true;
  static inline bool has_device_args = false;
};
REG_AUTO_MAPPING_OP(RegisteredFixedAdd);

// Refreshes everything but z.
class WrongFillAdd : public UpdatedAdd {
 public:
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *ctx) override {
    auto *args = static_cast<session_test::AddArgs *>(ctx->GetKernelArgs(gert::Placement::kPlacementHost, 0)->args_data);
    if (runs++ < 2) {
      *args = session_test::ArgsOf(*ctx);
      return GRAPH_SUCCESS;
    }
    args->x = ctx->GetInputTensor(0)->GetAddr();
    args->y = ctx->GetInputTensor(1)->GetAddr();
    return GRAPH_SUCCESS;
  }
  static inline int runs = 0;
};
REG_AUTO_MAPPING_OP(WrongFillAdd);

class RefusingAdd : public UpdatedAdd {
 public:
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *ctx) override { return is_refusing ? GRAPH_FAILED : UpdatedAdd::UpdateHostArgs(ctx); }
  static inline bool is_refusing = false;
};
REG_AUTO_MAPPING_OP(RefusingAdd);
}  // namespace ge

namespace {
std::vector<const void *> AddressesOf(const MemorySet &set) { return {set.x.address(), set.y.address(), set.z.address()}; }

int Copies(uint32_t graph_id) {
  return RecordedTasks({"\"kind\": \"MEMCPY_ASYNC\"", "\"graph_id\": " + std::to_string(graph_id) + ",", "_MemLayoutConflict_"});
}
int ArgsCopies(uint32_t graph_id) { return RecordedTasks({"\"kind\": \"ARGS_H2D\"", "\"graph_id\": " + std::to_string(graph_id) + ","}); }
int Kernels(uint32_t graph_id) { return RecordedTasks({"\"kind\": \"KERNEL\"", "\"graph_id\": " + std::to_string(graph_id) + ","}); }
}  // namespace

TEST(execute_is_called_once_per_load_and_never_by_a_run) {
  Loaded loaded;
  MemorySet set(1, 2);
  const int before = CallsOf("UpdatedAdd").execute;
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  CHECK_EQ(CallsOf("UpdatedAdd").execute, before + 1);
  for (int i = 0; i < 3; ++i) {
    loaded.RunAndWait(1, set);
  }
  CHECK_EQ(CallsOf("UpdatedAdd").execute, before + 1);
  loaded.Add(2, OneOpGraph("UpdatedAdd"));
  CHECK_EQ(CallsOf("UpdatedAdd").execute, before + 2);
  CHECK(set.z.IsAll(3));
}

TEST(execute_sees_logical_addresses_that_are_no_memory_of_the_user) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  for (const void *address : CallsOf("UpdatedAdd").execute_addresses) {
    opkit_sim::rt::Allocation found;
    CHECK(!opkit_sim::rt::FindAllocation(address, &found));
  }
  CHECK(CallsOf("UpdatedAdd").update_addresses == CallsOf("UpdatedAdd").execute_addresses);
}

TEST(update_is_called_at_load_and_then_only_when_an_address_differs) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  const Calls &calls = CallsOf("UpdatedAdd");
  int expected = calls.update;
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  CHECK_EQ(calls.update, ++expected);
  loaded.RunAndWait(1, first);
  CHECK_EQ(calls.update, ++expected);
  CHECK(calls.update_addresses == AddressesOf(first));
  loaded.RunAndWait(1, first);
  loaded.RunAndWait(1, first);
  CHECK_EQ(calls.update, expected);
  loaded.RunAndWait(1, second);
  CHECK_EQ(calls.update, ++expected);
  CHECK(calls.update_addresses == AddressesOf(second));
  CHECK(first.z.IsAll(3));
  CHECK(second.z.IsAll(30));
}

TEST(one_changed_output_is_enough_for_an_update) {
  Loaded loaded;
  MemorySet set(1, 2);
  session_test::Floats other_z(session_test::kPoison);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  loaded.RunAndWait(1, set);
  const int before = CallsOf("UpdatedAdd").update;
  set.outputs[0] = other_z.tensor();
  loaded.RunAndWait(1, set);
  CHECK_EQ(CallsOf("UpdatedAdd").update, before + 1);
  CHECK(other_z.IsAll(3));
}

TEST(arguments_are_copied_to_the_device_only_with_an_update) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(101, OneOpGraph("UpdatedAdd"));
  REQUIRE_EQ(loaded.stream().Wait(), ACL_SUCCESS);
  CHECK_EQ(ArgsCopies(101), 1);
  for (MemorySet *set : {&first, &first, &second, &second, &first}) {
    loaded.RunAndWait(101, *set);
  }
  CHECK_EQ(ArgsCopies(101), 1 + 3);
  CHECK_EQ(Kernels(101), 5);
  CHECK_EQ(Copies(101), 0);
}

TEST(runs_queued_without_waiting_read_their_own_arguments) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(1, OneOpGraph("UpdatedAdd"));
  for (int i = 0; i < 20; ++i) {
    REQUIRE_EQ(loaded.Run(1, i % 2 == 0 ? first : second), ge::SUCCESS);
  }
  REQUIRE_EQ(loaded.stream().Wait(), ACL_SUCCESS);
  CHECK(first.z.IsAll(3));
  CHECK(second.z.IsAll(30));
}

TEST(op_without_refresh_is_copied_around_three_times_a_run) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(102, OneOpGraph("FixedAdd"));
  CHECK_EQ(Copies(102), 0);
  loaded.RunAndWait(102, first);
  CHECK_EQ(Copies(102), 3);
  loaded.RunAndWait(102, second);
  loaded.RunAndWait(102, second);
  CHECK_EQ(Copies(102), 9);
  CHECK_EQ(RecordedTasks({"identity_0_FixedAdd_node_MemLayoutConflict_0", "\"graph_id\": 102,"}), 3);
  CHECK_EQ(ArgsCopies(102), 0);
  CHECK(first.z.IsAll(3));
  CHECK(second.z.IsAll(30));
}

TEST(op_without_refresh_executes_on_memory_of_the_graph) {
  Loaded loaded;
  loaded.Add(1, OneOpGraph("FixedAdd"));
  for (const void *address : CallsOf("FixedAdd").execute_addresses) {
    opkit_sim::rt::Allocation found;
    REQUIRE(opkit_sim::rt::FindAllocation(address, &found));
    CHECK(found.owner == opkit_sim::rt::Owner::kGraph);
  }
}

TEST(updater_that_registers_no_arguments_gets_no_identity) {
  Loaded loaded;
  MemorySet set(1, 2);
  const int before = CallsOf("UnregisteredArgsAdd").update;
  loaded.Add(103, OneOpGraph("UnregisteredArgsAdd"));
  loaded.RunAndWait(103, set);
  CHECK_EQ(Copies(103), 0);
  CHECK_EQ(ArgsCopies(103), 0);
  CHECK_EQ(CallsOf("UnregisteredArgsAdd").update, before + 2);
  CHECK(set.z.IsAll(session_test::kPoison));
}

TEST(device_args_alone_do_not_make_an_op_refreshable) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(104, OneOpGraph("RegisteredFixedAdd"));
  CHECK(!ge::RegisteredFixedAdd::has_host_args);
  CHECK(ge::RegisteredFixedAdd::has_device_args);
  CHECK_CONTAINS(session_test::Errors(), "[GetKernelArgs] op RegisteredFixedAdd_node has no host args 0");
  loaded.RunAndWait(104, first);
  loaded.RunAndWait(104, second);
  CHECK_EQ(Copies(104), 6);
  CHECK(first.z.IsAll(3));
  CHECK(second.z.IsAll(30));
}

TEST(fill_that_forgets_the_output_leaves_the_second_set_poisoned) {
  Loaded loaded;
  MemorySet first(1, 2);
  MemorySet second(10, 20);
  loaded.Add(1, OneOpGraph("WrongFillAdd"));
  loaded.RunAndWait(1, first);
  loaded.RunAndWait(1, second);
  CHECK(second.z.IsAll(session_test::kPoison));
  CHECK(first.z.IsAll(30));
}

// A process of its own each: the fault ends it.
TEST(launch_with_the_addresses_of_the_load_is_caught_when_it_runs) {
  const session_test::Finished launch = session_test::Start("'" STALE_PROBE "' launch");
  CHECK(launch.status != 0);
  CHECK_CONTAINS(launch.output, "ready to run");
  CHECK_CONTAINS(launch.output, "kernel add, block 0: memory fault");
}

TEST(op_that_follows_an_address_of_the_load_is_caught_while_it_executes) {
  const session_test::Finished follow = session_test::Start("'" STALE_PROBE "' follow");
  CHECK(follow.status != 0);
  CHECK(follow.output.find("ready to run") == std::string::npos);
}

TEST(failed_update_fails_the_run_and_is_repeated_by_the_next) {
  Loaded loaded;
  MemorySet set(1, 2);
  loaded.Add(1, OneOpGraph("RefusingAdd"));
  ge::RefusingAdd::is_refusing = true;
  CHECK_EQ(loaded.Run(1, set), ge::FAILED);
  CHECK_CONTAINS(session_test::Errors(), "Operator UpdateHostArgs failed, task_id=0");
  ge::RefusingAdd::is_refusing = false;
  loaded.RunAndWait(1, set);
  CHECK(set.z.IsAll(3));
}

TEST_MAIN()
