// The session interface: initialise, add graphs, compile, load and run them.
//
// Left out, because nothing of it is simulated: data flow, variables and checkpoints, user-provided graph memory and allocators, graph
// sharding. A program that needs them fails to compile rather than to run.
#ifndef OPKIT_SIM_GE_API_H_
#define OPKIT_SIM_GE_API_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exe_graph/runtime/runtime_tensor.h"
#include "ge/ge_api_error_codes.h"
#include "ge/ge_api_types.h"
#include "ge/ge_graph_compile_summary.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace ge {
namespace session_options {
inline std::map<AscendString, AscendString> FromStd(const std::map<std::string, std::string> &options) {
  std::map<AscendString, AscendString> converted;
  for (const auto &option : options) {
    converted[AscendString(option.first.c_str())] = AscendString(option.second.c_str());
  }
  return converted;
}
}  // namespace session_options

/// Loads the custom-op libraries of ASCEND_CUSTOM_OPP_PATH, once per process, and takes device "ge.exec.deviceId" (0). A second call does
/// nothing.
GE_FUNC_VISIBILITY Status GEInitialize(const std::map<AscendString, AscendString> &options);
ATTRIBUTED_DEPRECATED(GEInitialize(const std::map<AscendString, AscendString> &))
inline Status GEInitialize(const std::map<std::string, std::string> &options) { return GEInitialize(session_options::FromStd(options)); }

/// Unloads the graphs of every session. Custom-op libraries stay loaded.
GE_FUNC_VISIBILITY Status GEFinalize();

/// The messages that failures left on this thread, which are forgotten by that.
GE_FUNC_VISIBILITY AscendString GEGetErrorMsgV2();
inline std::string GEGetErrorMsg() { return GEGetErrorMsgV2().GetString(); }
GE_FUNC_VISIBILITY AscendString GEGetWarningMsgV2();
inline std::string GEGetWarningMsg() { return GEGetWarningMsgV2().GetString(); }

/// Methods give SUCCESS or FAILED; the reason is in GEGetErrorMsgV2.
class GE_FUNC_VISIBILITY Session {
 public:
  explicit Session(const std::map<AscendString, AscendString> &options);
  ATTRIBUTED_DEPRECATED(Session(const std::map<AscendString, AscendString> &))
  explicit Session(const std::map<std::string, std::string> &options) : Session(session_options::FromStd(options)) {}
  /// Unloads its graphs. Belongs before GEFinalize.
  ~Session();

  /// Does nothing for an id that is taken. A Graph object can be added once.
  Status AddGraph(uint32_t graph_id, const Graph &graph);
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options);
  ATTRIBUTED_DEPRECATED(AddGraph(uint32_t, const Graph &, const std::map<AscendString, AscendString> &))
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<std::string, std::string> &options) {
    return AddGraph(graph_id, graph, session_options::FromStd(options));
  }
  Status AddGraphWithCopy(uint32_t graph_id, const Graph &graph);
  Status AddGraphWithCopy(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options);
  Status RemoveGraph(uint32_t graph_id);

  Status CompileGraph(uint32_t graph_id);
  CompiledGraphSummaryPtr GetCompiledGraphSummary(uint32_t graph_id);
  /// Calls Execute once for every node. Options don't override those of AddGraph.
  Status LoadGraph(const uint32_t graph_id, const std::map<AscendString, AscendString> &options, void *stream) const;

  /// Enqueues a run of a loaded graph. Tensors describe device memory that must stay until the stream is through; an input or output in
  /// host memory is copied. Empty `outputs` are filled with memory of the graph, to be given up before RemoveGraph.
  Status ExecuteGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<gert::Tensor> &inputs,
                                     std::vector<gert::Tensor> &outputs);
  /// As ExecuteGraphWithStreamAsync with tensors of the graph side; compiles and loads the graph first if that wasn't done.
  Status RunGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs);
  /// Host tensors in, host tensors out, synchronously; compiles and loads the graph first if that wasn't done.
  Status RunGraph(uint32_t graph_id, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs);

  Status BuildGraph(uint32_t graph_id, const std::vector<InputTensorInfo> &inputs);
  Status BuildGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs);
  bool IsGraphNeedRebuild(uint32_t graph_id);
  uint64_t GetSessionId() const;

 private:
  uint64_t sessionId_{0};
};
}  // namespace ge

extern "C" {
ge::Status GeSessionLoadGraph(ge::Session &session, uint32_t graph_id, const std::map<ge::AscendString, ge::AscendString> &options,
                              void *stream);
ge::Status GeSessionExecuteGraphWithStreamAsync(ge::Session &session, uint32_t graph_id, void *stream,
                                                const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs);
}

#endif  // OPKIT_SIM_GE_API_H_
