// Fills the public summary of a compiled graph.
#ifndef OPKIT_SIM_SRC_SESSION_SUMMARY_H_
#define OPKIT_SIM_SRC_SESSION_SUMMARY_H_

#include "ge/ge_graph_compile_summary.h"
#include "session/compiled_graph.h"

namespace opkit_sim::session {
ge::CompiledGraphSummaryPtr Summarize(const CompiledGraph &graph);
}  // namespace opkit_sim::session

#endif  // OPKIT_SIM_SRC_SESSION_SUMMARY_H_
