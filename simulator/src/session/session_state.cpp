#include "session/session_state.h"

#include <cstdlib>
#include <limits>
#include <utility>

#include "acl/runtime_internal.h"
#include "register/custom_op_loader.h"
#include "session/report.h"

namespace opkit_sim::session {
namespace {
constexpr const char *kDeviceOptions[] = {"ge.session_device_id", "ge.exec.deviceId"};

bool FailStatus(uint32_t graph_id, const char *what) {
  report::Error("E10062", "Failed to verify the graph status. Reason: the graph (graph_id=%u) %s.", graph_id, what);
  return false;
}
}  // namespace

bool ReadDevice(const Options &options, int32_t &device) {
  for (const char *key : kDeviceOptions) {
    const auto found = options.find(ge::AscendString(key));
    if (found == options.end()) {
      continue;
    }
    const char *text = found->second.GetString();
    char *end = nullptr;
    const long number = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || number < 0 || number > std::numeric_limits<int32_t>::max()) {
      report::Error("E10001", "Value %s for parameter %s is invalid. Reason: it is not a device id", text, key);
      return false;
    }
    device = static_cast<int32_t>(number);
    return true;
  }
  return true;
}

bool UseDevice(int32_t device) {
  if (rt::CurrentDevice() == device) {
    return true;
  }
  const aclError status = aclrtSetDevice(device);
  if (status != ACL_SUCCESS) {
    uint32_t count = 0;
    (void)aclrtGetDeviceCount(&count);
    report::Error(
        "E10001",
        "Value %d for parameter ge.exec.deviceId is invalid. Reason: aclrtSetDevice gives %d, there are %u devices, counted from 0", device,
        status, count);
  }
  return status == ACL_SUCCESS;
}

bool GraphState::Compile(const Options &session_options, const Options &global_options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (compiled_ != nullptr) {
    report::Warn("graph %u is compiled already", id_);
    return true;
  }
  return CompileLocked(session_options, global_options);
}

bool GraphState::CompileLocked(const Options &session_options, const Options &global_options) {
  lowering::CompileOptions options;
  options.graph = &options_;
  options.session = &session_options;
  options.global = &global_options;
  // Of a copy: a graph that failed to compile may be compiled again, from what the user gave.
  graph::GraphDesc desc = desc_;
  compiled_ = session::Compile(desc, options);
  if (compiled_ == nullptr) {
    report::Error("E19999", "CompileGraph failed, graph %s (graph_id=%u)", desc_.name.GetString(), id_);
  }
  return compiled_ != nullptr;
}

bool GraphState::Load(aclrtStream stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (loaded_ != nullptr) {
    return FailStatus(id_, "has been loaded");
  }
  if (compiled_ == nullptr) {
    report::Error("E10062",
                  "Failed to call LoadGraph. Reason: graph needs to be compiled first (graph_id=%u), call CompileGraph before LoadGraph.",
                  id_);
    return false;
  }
  return LoadLocked(stream);
}

bool GraphState::LoadLocked(aclrtStream stream) {
  loaded_ = LoadedGraph::Load(compiled_, id_, stream);
  if (loaded_ == nullptr) {
    report::Error("E19999", "LoadGraph failed, graph %s (graph_id=%u)", desc_.name.GetString(), id_);
  }
  return loaded_ != nullptr;
}

void GraphState::Unload() {
  const std::lock_guard<std::mutex> lock(mutex_);
  loaded_.reset();
  if (own_stream_ != nullptr) {
    (void)aclrtDestroyStream(own_stream_);
    own_stream_ = nullptr;
  }
}

bool GraphState::Execute(aclrtStream stream, const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (compiled_ == nullptr) {
    report::Error("E19999", "Graph:%u has not build before, can't execute directly, check invalid", id_);
    return false;
  }
  if (loaded_ == nullptr) {
    report::Error("E19999", "Graph:%u has not load before, can't execute directly, check invalid", id_);
    return false;
  }
  return loaded_->Run(stream, inputs, outputs);
}

bool GraphState::Prepare(const Options &session_options, const Options &global_options, aclrtStream stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return (compiled_ != nullptr || CompileLocked(session_options, global_options)) && (loaded_ != nullptr || LoadLocked(stream));
}

bool GraphState::ExecuteAndWait(const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs) {
  aclrtStream stream = OwnStream();
  if (stream == nullptr) {
    return false;
  }
  if (!Execute(stream, inputs, outputs)) {
    // A part of the run may be queued, and the caller is about to let go of the outputs.
    rt::Drain(stream);
    return false;
  }
  const aclError status = aclrtSynchronizeStream(stream);
  if (status != ACL_SUCCESS) {
    const char *text = aclGetRecentErrMsg();
    report::Error("E19999", "graph %u failed on the device, ret %d. %s", id_, status, text == nullptr ? "" : text);
  }
  return status == ACL_SUCCESS;
}

std::shared_ptr<const CompiledGraph> GraphState::compiled() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return compiled_;
}

aclrtStream GraphState::OwnStream() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (own_stream_ == nullptr) {
    const aclError status = aclrtCreateStream(&own_stream_);
    if (status != ACL_SUCCESS) {
      own_stream_ = nullptr;
      report::Error("E19999", "no stream for graph %u, ret %d", id_, status);
    }
  }
  return own_stream_;
}

bool SessionState::Add(uint32_t graph_id, const ge::Graph &graph, Options options, bool is_copy) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  if (graphs_.count(graph_id) > 0) {
    return true;
  }
  graph::GraphDesc desc;
  ge::AscendString error;
  if (graph::Describe(graph, desc, error) != ge::GRAPH_SUCCESS) {
    report::Error("E19999", "AddGraph failed, graph_id=%u: %s", graph_id, error.GetString());
    return false;
  }
  if (desc.name.GetLength() == 0) {
    report::Error("E19999", "AddGraph failed, graph_id=%u: the graph has no name", graph_id);
    return false;
  }
  if (!is_copy && !graph::MarkAdded(graph)) {
    report::Error("E19999", "AddGraph failed, graph_id=%u: graph %s has been added before, add a copy with AddGraphWithCopy", graph_id,
                  desc.name.GetString());
    return false;
  }
  graphs_.emplace(graph_id, std::make_shared<GraphState>(graph_id, std::move(desc), std::move(options)));
  return true;
}

bool SessionState::Remove(uint32_t graph_id) {
  std::shared_ptr<GraphState> removed;
  {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto found = graphs_.find(graph_id);
    if (found != graphs_.end()) {
      removed = std::move(found->second);
      graphs_.erase(found);
    }
  }
  if (removed == nullptr) {
    report::Error("E10062", "Failed to remove the graph. Reason: the graph (graph_id=%u) does not exist.", graph_id);
    return false;
  }
  // Another thread may still run it and let go of it later; its memory goes now.
  removed->Unload();
  return true;
}

void SessionState::Clear() {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  for (const auto &graph : graphs_) {
    graph.second->Unload();
  }
  graphs_.clear();
}

std::shared_ptr<GraphState> SessionState::Find(const char *call, uint32_t graph_id) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = graphs_.find(graph_id);
  if (found == graphs_.end()) {
    report::Error("E10062", "Failed to get the graph. Reason: the graph (graph_id=%u) does not exist. (%s)", graph_id, call);
    return nullptr;
  }
  return found->second;
}

Environment &Environment::Instance() {
  // Never destroyed: a program may hold a Session in a static of its own.
  static auto *environment = new Environment;
  return *environment;
}

ge::Status Environment::Initialize(const Options &options) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  if (is_initialized_) {
    if (options != options_) {
      report::Warn("GEInitialize has been called before, the options of this call are ignored");
    }
    return ge::SUCCESS;
  }
  int32_t device = 0;
  if (!ReadDevice(options, device) || custom_op::LoadLibraries() != ge::GRAPH_SUCCESS || !UseDevice(device)) {
    report::Error("E19999", "GEInitialize failed");
    return ge::FAILED;
  }
  options_ = options;
  device_ = device;
  is_initialized_ = true;
  return ge::SUCCESS;
}

ge::Status Environment::Finalize() {
  std::unordered_map<uint64_t, std::shared_ptr<SessionState>> sessions;
  {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    if (!is_initialized_) {
      report::Warn("GEFinalize is called before GEInitialize");
      return ge::SUCCESS;
    }
    is_initialized_ = false;
    sessions.swap(sessions_);
  }
  for (const auto &session : sessions) {
    if (UseDevice(session.second->device())) {
      session.second->Clear();
    }
  }
  rt::FlushTaskRecords();
  return ge::SUCCESS;
}

bool Environment::IsInitialized() const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return is_initialized_;
}

uint64_t Environment::Open(const Options &options) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  int32_t device = device_;
  if (!CheckInitialized("create a Session") || !ReadDevice(options, device) || !UseDevice(device)) {
    return 0;
  }
  sessions_.emplace(++last_id_, std::make_shared<SessionState>(options, device));
  return last_id_;
}

void Environment::Close(uint64_t session_id) {
  std::shared_ptr<SessionState> closed;
  {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto found = sessions_.find(session_id);
    if (found == sessions_.end()) {
      return;
    }
    closed = std::move(found->second);
    sessions_.erase(found);
  }
  if (UseDevice(closed->device())) {
    closed->Clear();
  }
}

bool Environment::CheckInitialized(const char *call) const {
  if (!is_initialized_) {
    report::Error("E10062", "Failed to %s. Reason: GE is not correctly initialized. Ensure that GEInitialize has been called successfully.",
                  call);
  }
  return is_initialized_;
}

std::shared_ptr<SessionState> Environment::Find(const char *call, uint64_t session_id) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  if (!CheckInitialized(call)) {
    return nullptr;
  }
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) {
    report::Error("E10062", "Failed to %s. Reason: there is no session (session_id=%llu).", call,
                  static_cast<unsigned long long>(session_id));
    return nullptr;
  }
  return found->second;
}
}  // namespace opkit_sim::session
