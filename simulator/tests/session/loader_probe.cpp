// One process of the loader's tests: initialises GE with the device given, then says for each op type whose registration counts.
//
//   loader_probe <device> <path for a second GEInitialize, or -> <op type>…
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ge/ge_api.h"
#include "graph/custom_op.h"
#include "register/custom_op_registry.h"

int main(int argc, char **argv) {
  const std::map<ge::AscendString, ge::AscendString> options = {{"ge.exec.deviceId", argv[1]}};
  std::printf("initialize %s\n", ge::GEInitialize(options) == ge::SUCCESS ? "ok" : "failed");
  if (std::strcmp(argv[2], "-") != 0) {
    (void)ge::GEFinalize();
    (void)setenv("ASCEND_CUSTOM_OPP_PATH", argv[2], 1);
    std::printf("again %s\n", ge::GEInitialize(options) == ge::SUCCESS ? "ok" : "failed");
  }
  std::printf("%s%s", ge::GEGetErrorMsgV2().GetString(), ge::GEGetWarningMsgV2().GetString());
  for (int i = 3; i < argc; ++i) {
    auto *op = dynamic_cast<ge::ShapeInferOp *>(opkit_sim::custom_op::Instance(argv[i]));
    std::printf("%s %d\n", argv[i], op == nullptr ? 0 : static_cast<int>(op->InferShape(nullptr)));
  }
  return 0;
}
