// What stands behind a ge::Session: its graphs from AddGraph to RemoveGraph, and the table of all sessions of the process.
#ifndef OPKIT_SIM_SRC_SESSION_SESSION_STATE_H_
#define OPKIT_SIM_SRC_SESSION_SESSION_STATE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "acl/acl_rt.h"
#include "ge/ge_api_error_codes.h"
#include "graph/graph.h"
#include "graph/graph_internal.h"
#include "lowering/compile_options.h"
#include "session/compiled_graph.h"
#include "session/loaded_graph.h"

namespace opkit_sim::session {
using lowering::Options;

/// "ge.exec.deviceId" and the like as a number; false, with a report, if it is none.
bool ReadDevice(const Options &options, int32_t &device);
/// Makes `device` current on this thread; false with a report.
bool UseDevice(int32_t device);

/// One added graph. Everything behind the lock, which a run holds to its end.
class GraphState {
 public:
  GraphState(uint32_t id, graph::GraphDesc desc, Options options) : id_(id), desc_(std::move(desc)), options_(std::move(options)) {}
  ~GraphState() { Unload(); }
  GraphState(const GraphState &) = delete;
  GraphState &operator=(const GraphState &) = delete;

  bool Compile(const Options &session_options, const Options &global_options);
  bool Load(aclrtStream stream);
  void Unload();
  bool Execute(aclrtStream stream, const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs);
  /// Compiles and loads what wasn't yet, for calls that don't ask for either.
  bool Prepare(const Options &session_options, const Options &global_options, aclrtStream stream);
  /// On a stream of the graph's own, until it is through.
  bool ExecuteAndWait(const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs);

  std::shared_ptr<const CompiledGraph> compiled() const;
  /// nullptr if it can't be had. Made at the first call.
  aclrtStream OwnStream();

 private:
  bool CompileLocked(const Options &session_options, const Options &global_options);
  bool LoadLocked(aclrtStream stream);

  const uint32_t id_;
  mutable std::mutex mutex_;
  graph::GraphDesc desc_;
  const Options options_;
  std::shared_ptr<const CompiledGraph> compiled_;
  std::unique_ptr<LoadedGraph> loaded_;
  aclrtStream own_stream_ = nullptr;
};

class SessionState {
 public:
  SessionState(Options options, int32_t device) : options_(std::move(options)), device_(device) {}

  bool Add(uint32_t graph_id, const ge::Graph &graph, Options options, bool is_copy);
  bool Remove(uint32_t graph_id);
  void Clear();
  /// nullptr, with a report that names the call, for an unknown id.
  std::shared_ptr<GraphState> Find(const char *call, uint32_t graph_id) const;

  const Options &options() const { return options_; }
  int32_t device() const { return device_; }

 private:
  const Options options_;
  const int32_t device_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<GraphState>> graphs_;
};

/// GEInitialize to GEFinalize. All methods may be called from any thread.
class Environment {
 public:
  static Environment &Instance();

  ge::Status Initialize(const Options &options);
  ge::Status Finalize();
  bool IsInitialized() const;

  /// 0, with a report, if GE isn't initialised or the options name no device.
  uint64_t Open(const Options &options);
  void Close(uint64_t session_id);
  /// nullptr, with a report that names the call, if GE isn't initialised or there is no such session.
  std::shared_ptr<SessionState> Find(const char *call, uint64_t session_id) const;
  /// Those of GEInitialize. Not to be kept across calls.
  const Options &options() const { return options_; }

 private:
  Environment() = default;
  bool CheckInitialized(const char *call) const;

  mutable std::shared_mutex mutex_;
  bool is_initialized_ = false;
  Options options_;
  int32_t device_ = 0;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<SessionState>> sessions_;
};
}  // namespace opkit_sim::session

#endif  // OPKIT_SIM_SRC_SESSION_SESSION_STATE_H_
