// What an AnnotatedArgsOp declared: its launches with every argument by meaning, so that a load can place them and a run can refresh them.
#ifndef OPKIT_SIM_SRC_LOWERING_DECLARED_LAUNCHES_H_
#define OPKIT_SIM_SRC_LOWERING_DECLARED_LAUNCHES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/ascend_string.h"

namespace opkit_sim::lowering {
struct DeclaredArg {
  enum class Kind : uint32_t { kInput, kOutput, kWorkspace, kScalar };

  Kind kind = Kind::kScalar;
  uint32_t index = 0;  // of the tensor or the workspace
  uint64_t value = 0;  // of a scalar
};

struct DeclaredLaunch {
  ge::AscendString kernel_name;
  std::vector<uint8_t> binary;
  uint32_t block_dim = 0;
  std::vector<DeclaredArg> args;
};

/// Stands in the additional cell of an AnnotatedArgsContext.
struct DeclaredLaunches {
  std::vector<DeclaredLaunch> launches;
  std::vector<size_t> workspaces;  // bytes each
};
}  // namespace opkit_sim::lowering

#endif  // OPKIT_SIM_SRC_LOWERING_DECLARED_LAUNCHES_H_
