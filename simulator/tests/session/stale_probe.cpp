// A process that does what a refreshable op must not: either its launch keeps the addresses of the load ("launch"), or it follows one of
// them while it executes ("follow").
#include <cstring>

#include "session/counting_ops.h"
#include "session/session_fixture.h"

namespace {
bool is_following = false;
}  // namespace

namespace ge {
OPKIT_TEST_ADD_PROTO(StaleAdd);

class StaleAdd : public EagerExecuteOp, public ArgsUpdater, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    if (!session_test::BindOutput(ctx)) {
      return GRAPH_FAILED;
    }
    const session_test::AddArgs args = session_test::ArgsOf(*ctx);
    return is_following && *static_cast<const volatile float *>(args.x) != 0 ? GRAPH_FAILED : session_test::LaunchByHostArgs(*ctx, args);
  }
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *) override { return GRAPH_SUCCESS; }
};
REG_AUTO_MAPPING_OP(StaleAdd);
}  // namespace ge

int main(int, char **argv) {
  is_following = std::strcmp(argv[1], "follow") == 0;
  session_test::Loaded loaded;
  session_test::MemorySet set(1, 2);
  loaded.Add(1, session_test::OneOpGraph("StaleAdd"));
  std::puts("ready to run");
  std::fflush(stdout);
  const bool is_done = loaded.Run(1, set) == ge::SUCCESS && loaded.stream().Wait() == ACL_SUCCESS;
  return is_done ? 0 : 3;
}
