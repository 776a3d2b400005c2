// The options a compiling graph sees, innermost first; stands in the additional cell of an OpCompileContext.
#ifndef OPKIT_SIM_SRC_LOWERING_COMPILE_OPTIONS_H_
#define OPKIT_SIM_SRC_LOWERING_COMPILE_OPTIONS_H_

#include <array>
#include <map>

#include "graph/ascend_string.h"

namespace opkit_sim::lowering {
using Options = std::map<ge::AscendString, ge::AscendString>;

struct CompileOptions {
  const Options *graph = nullptr;
  const Options *session = nullptr;
  const Options *global = nullptr;

  /// nullptr for a key that none of them has.
  const ge::AscendString *Find(const ge::AscendString &key) const {
    for (const Options *options : std::array<const Options *, 3>{graph, session, global}) {
      if (options != nullptr) {
        const auto found = options->find(key);
        if (found != options->end()) {
          return &found->second;
        }
      }
    }
    return nullptr;
  }
};
}  // namespace opkit_sim::lowering

#endif  // OPKIT_SIM_SRC_LOWERING_COMPILE_OPTIONS_H_
