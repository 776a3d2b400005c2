// How large a workspace is for a request: the one rule of ops that execute and of ops that declare their launches.
#ifndef OPKIT_SIM_SRC_LOWERING_WORKSPACE_H_
#define OPKIT_SIM_SRC_LOWERING_WORKSPACE_H_

#include <cstddef>

namespace opkit_sim::lowering {

constexpr size_t kWorkspaceAlignment = 512;

// `size` in whole units of the alignment; 0 if it is none or too large to round.
constexpr size_t RoundedWorkspace(size_t size) {
  const size_t rounded = (size + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  return rounded < size ? 0 : rounded;
}

}  // namespace opkit_sim::lowering

#endif  // OPKIT_SIM_SRC_LOWERING_WORKSPACE_H_
