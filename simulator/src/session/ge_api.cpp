// The session interface on top of SessionState: finds the session and the graph, and reduces every failure to FAILED as GE does.
#include "ge/ge_api.h"

#include <utility>

#include "session/compiled_graph.h"
#include "session/report.h"
#include "session/session_state.h"
#include "session/summary.h"

namespace ge {
namespace {
using opkit_sim::lowering::TensorSpec;
using opkit_sim::session::CompiledGraph;
using opkit_sim::session::CompiledValue;
using opkit_sim::session::Environment;
using opkit_sim::session::GraphState;
using opkit_sim::session::SessionState;

namespace report = opkit_sim::report;
namespace session = opkit_sim::session;

using Options = std::map<AscendString, AscendString>;

struct Found {
  std::shared_ptr<SessionState> session;
  std::shared_ptr<GraphState> graph;

  explicit operator bool() const { return graph != nullptr; }
};

Found Find(const char *call, uint64_t session_id, uint32_t graph_id) {
  Found found;
  found.session = Environment::Instance().Find(call, session_id);
  if (found.session != nullptr) {
    found.graph = found.session->Find(call, graph_id);
  }
  return found;
}

Status ToStatus(bool is_done) { return is_done ? SUCCESS : FAILED; }

gert::Tensor Lent(const Tensor &tensor) {
  const TensorDesc desc = tensor.GetTensorDesc();
  const TensorSpec spec = opkit_sim::lowering::SpecOf(desc);
  gert::Tensor lent(spec.shape, spec.format, spec.dtype);
  auto *data = const_cast<uint8_t *>(tensor.GetData());
  lent.SetData(
      gert::TensorData(data, nullptr, tensor.GetSize(), desc.GetPlacement() == kPlacementDevice ? gert::kOnDeviceHbm : gert::kOnHost));
  return lent;
}

std::vector<gert::Tensor> Lent(const std::vector<Tensor> &tensors) {
  std::vector<gert::Tensor> lent;
  for (const Tensor &tensor : tensors) {
    lent.push_back(Lent(tensor));
  }
  return lent;
}

std::vector<Tensor> HostOutputs(const CompiledGraph &graph) {
  std::vector<Tensor> outputs;
  for (const size_t v : graph.outputs) {
    const CompiledValue &value = graph.values[v];
    TensorDesc desc(Shape(), value.spec.format.GetStorageFormat(), value.spec.dtype);
    opkit_sim::lowering::WriteTo(value.spec, desc);
    outputs.emplace_back(desc, std::vector<uint8_t>(value.bytes));
  }
  return outputs;
}

Status Add(uint64_t session_id, const char *call, uint32_t graph_id, const Graph &graph, const Options &options, bool is_copy) {
  const std::shared_ptr<SessionState> state = Environment::Instance().Find(call, session_id);
  return ToStatus(state != nullptr && state->Add(graph_id, graph, options, is_copy));
}

Status Compile(const char *call, uint64_t session_id, uint32_t graph_id) {
  const Found found = Find(call, session_id, graph_id);
  return ToStatus(found && session::UseDevice(found.session->device()) &&
                  found.graph->Compile(found.session->options(), Environment::Instance().options()));
}
}  // namespace

Status GEInitialize(const Options &options) { return Environment::Instance().Initialize(options); }
Status GEFinalize() { return Environment::Instance().Finalize(); }
// GE exports it without a public header; who comes with ops of its own asks by it whether it is too late.
bool IsGEInitialize();
bool IsGEInitialize() { return Environment::Instance().IsInitialized(); }
AscendString GEGetErrorMsgV2() { return report::TakeErrors(); }
AscendString GEGetWarningMsgV2() { return report::TakeWarnings(); }

Session::Session(const Options &options) : sessionId_(Environment::Instance().Open(options)) {}
Session::~Session() { Environment::Instance().Close(sessionId_); }
uint64_t Session::GetSessionId() const { return sessionId_; }

Status Session::AddGraph(uint32_t graph_id, const Graph &graph) { return AddGraph(graph_id, graph, Options()); }
Status Session::AddGraph(uint32_t graph_id, const Graph &graph, const Options &options) {
  return Add(sessionId_, "call AddGraph", graph_id, graph, options, false);
}
Status Session::AddGraphWithCopy(uint32_t graph_id, const Graph &graph) { return AddGraphWithCopy(graph_id, graph, Options()); }
Status Session::AddGraphWithCopy(uint32_t graph_id, const Graph &graph, const Options &options) {
  return Add(sessionId_, "call AddGraphWithCopy", graph_id, graph, options, true);
}

Status Session::RemoveGraph(uint32_t graph_id) {
  const std::shared_ptr<SessionState> state = Environment::Instance().Find("call RemoveGraph", sessionId_);
  return ToStatus(state != nullptr && session::UseDevice(state->device()) && state->Remove(graph_id));
}

Status Session::CompileGraph(uint32_t graph_id) { return Compile("call CompileGraph", sessionId_, graph_id); }
Status Session::BuildGraph(uint32_t graph_id, const std::vector<InputTensorInfo> &) {
  return Compile("call BuildGraph", sessionId_, graph_id);
}
Status Session::BuildGraph(uint32_t graph_id, const std::vector<ge::Tensor> &) { return Compile("call BuildGraph", sessionId_, graph_id); }

bool Session::IsGraphNeedRebuild(uint32_t graph_id) {
  const Found found = Find("call IsGraphNeedRebuild", sessionId_, graph_id);
  return !found || found.graph->compiled() == nullptr;
}

CompiledGraphSummaryPtr Session::GetCompiledGraphSummary(uint32_t graph_id) {
  const Found found = Find("call GetCompiledGraphSummary", sessionId_, graph_id);
  const std::shared_ptr<const CompiledGraph> compiled = found ? found.graph->compiled() : nullptr;
  if (found && compiled == nullptr) {
    report::Error("E10062", "Failed to get the summary. Reason: the graph (graph_id=%u) is not compiled.", graph_id);
  }
  return compiled == nullptr ? nullptr : session::Summarize(*compiled);
}

// The two options that LoadGraph knows (frozen inputs, inputs in host memory) only let a device skip work that isn't done here.
Status Session::LoadGraph(const uint32_t graph_id, const Options &, void *stream) const {
  const Found found = Find("call LoadGraph", sessionId_, graph_id);
  return ToStatus(found && session::UseDevice(found.session->device()) && found.graph->Load(stream));
}

Status Session::ExecuteGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<gert::Tensor> &inputs,
                                            std::vector<gert::Tensor> &outputs) {
  const Found found = Find("call ExecuteGraphWithStreamAsync", sessionId_, graph_id);
  // A stream knows its device; only the default one is the thread's.
  const bool is_ready = found && (stream != nullptr || session::UseDevice(found.session->device()));
  return ToStatus(is_ready && found.graph->Execute(stream, inputs, outputs));
}

Status Session::RunGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs) {
  const Found found = Find("call RunGraphWithStreamAsync", sessionId_, graph_id);
  if (!found || !session::UseDevice(found.session->device()) ||
      !found.graph->Prepare(found.session->options(), Environment::Instance().options(), stream)) {
    return FAILED;
  }
  if (outputs.empty() && !found.graph->compiled()->outputs.empty()) {
    report::Error("E13025", "Input tensor is invalid. Reason: RunGraphWithStreamAsync needs the memory of every output of graph %u.",
                  graph_id);
    return FAILED;
  }
  std::vector<gert::Tensor> lent_outputs = Lent(outputs);
  return ToStatus(found.graph->Execute(stream, Lent(inputs), lent_outputs));
}

Status Session::RunGraph(uint32_t graph_id, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs) {
  const Found found = Find("call RunGraph", sessionId_, graph_id);
  if (!found || !session::UseDevice(found.session->device())) {
    return FAILED;
  }
  if (!found.graph->Prepare(found.session->options(), Environment::Instance().options(), found.graph->OwnStream())) {
    return FAILED;
  }
  std::vector<Tensor> results = HostOutputs(*found.graph->compiled());
  std::vector<gert::Tensor> lent_results = Lent(results);
  if (!found.graph->ExecuteAndWait(Lent(inputs), lent_results)) {
    return FAILED;
  }
  outputs = std::move(results);
  return SUCCESS;
}
}  // namespace ge

extern "C" {
ge::Status GeSessionLoadGraph(ge::Session &session, uint32_t graph_id, const std::map<ge::AscendString, ge::AscendString> &options,
                              void *stream) {
  return session.LoadGraph(graph_id, options, stream);
}

ge::Status GeSessionExecuteGraphWithStreamAsync(ge::Session &session, uint32_t graph_id, void *stream,
                                                const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs) {
  return session.ExecuteGraphWithStreamAsync(graph_id, stream, inputs, outputs);
}
}
