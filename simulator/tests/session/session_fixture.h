// What the session's tests share: device buffers, one-op graphs, and a session that has them loaded.
#ifndef OPKIT_SIM_TESTS_SESSION_SESSION_FIXTURE_H_
#define OPKIT_SIM_TESTS_SESSION_SESSION_FIXTURE_H_

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/runtime_internal.h"
#include "check.h"
#include "ge/ge_api.h"
#include "graph/graph.h"
#include "graph/operator_factory.h"
#include "ops_proto_legacy.h"

namespace session_test {
using Options = std::map<ge::AscendString, ge::AscendString>;

constexpr int64_t kElements = 1000;

inline std::string Errors() { return ge::GEGetErrorMsgV2().GetString(); }

/// GEInitialize, once per test program.
inline void Initialize() {
  static const ge::Status status = ge::GEInitialize(Options{{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}});
  REQUIRE_EQ(status, ge::SUCCESS);
}

class Floats {
 public:
  explicit Floats(float value, int64_t count = kElements) : count_(count) {
    REQUIRE_EQ(aclrtMalloc(&address_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    Fill(value);
  }
  Floats(const Floats &) = delete;
  Floats &operator=(const Floats &) = delete;
  ~Floats() { (void)aclrtFree(address_); }

  void Fill(float value) {
    const std::vector<float> host(static_cast<size_t>(count_), value);
    REQUIRE_EQ(aclrtMemcpy(address_, bytes(), host.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  bool IsAll(float value) const {
    std::vector<float> host(static_cast<size_t>(count_));
    REQUIRE_EQ(aclrtMemcpy(host.data(), bytes(), address_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    for (const float element : host) {
      if (std::isnan(value) ? !std::isnan(element) : element != value) {
        return false;
      }
    }
    return true;
  }
  void *address() const { return address_; }
  size_t bytes() const { return static_cast<size_t>(count_) * sizeof(float); }
  gert::Tensor tensor() const {
    return {{{count_}, {count_}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, gert::kOnDeviceHbm, ge::DT_FLOAT, address_};
  }

 private:
  int64_t count_;
  void *address_ = nullptr;
};

constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();

/// x, y and a poisoned z, with the tensors of a run on them.
struct MemorySet {
  Floats x;
  Floats y;
  Floats z{kPoison};
  std::vector<gert::Tensor> inputs;
  std::vector<gert::Tensor> outputs;

  MemorySet(float x_value, float y_value) : x(x_value), y(y_value) {
    inputs.push_back(x.tensor());
    inputs.push_back(y.tensor());
    outputs.push_back(z.tensor());
  }
};

inline ge::op::Data DataOf(const char *name, const std::vector<int64_t> &dims = {kElements}, ge::DataType dtype = ge::DT_FLOAT) {
  const ge::TensorDesc desc(ge::Shape(dims), ge::FORMAT_ND, dtype);
  ge::op::Data data(name);
  (void)data.update_input_desc_x(desc);
  (void)data.update_output_desc_y(desc);
  return data;
}

/// Two Data nodes into one op of the type; the op's name is "<type>_node".
inline ge::Graph OneOpGraph(const char *type, const std::vector<int64_t> &dims = {kElements}) {
  ge::op::Data x = DataOf("x", dims);
  ge::op::Data y = DataOf("y", dims);
  ge::Operator add = ge::OperatorFactory::CreateOperator((std::string(type) + "_node").c_str(), type);
  (void)add.SetInput("x", x);
  (void)add.SetInput("y", y);
  ge::Graph graph(type);
  graph.SetInputs({x, y}).SetOutputs({add});
  return graph;
}

class Stream {
 public:
  Stream() { REQUIRE_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  ~Stream() { (void)aclrtDestroyStream(stream_); }

  aclError Wait() { return aclrtSynchronizeStream(stream_); }
  aclrtStream get() const { return stream_; }

 private:
  aclrtStream stream_ = nullptr;
};

/// A session with a stream.
class Loaded {
 public:
  Loaded() : is_initialized_((Initialize(), true)), session_(Options{}) {}

  void Add(uint32_t id, const ge::Graph &graph) {
    REQUIRE_EQ(session_.AddGraph(id, graph), ge::SUCCESS);
    REQUIRE_EQ(session_.CompileGraph(id), ge::SUCCESS);
    REQUIRE_EQ(session_.LoadGraph(id, Options{}, stream_.get()), ge::SUCCESS);
  }
  ge::Status Run(uint32_t id, MemorySet &set) { return session_.ExecuteGraphWithStreamAsync(id, stream_.get(), set.inputs, set.outputs); }
  void RunAndWait(uint32_t id, MemorySet &set) {
    REQUIRE_EQ(Run(id, set), ge::SUCCESS);
    REQUIRE_EQ(stream_.Wait(), ACL_SUCCESS);
  }
  ge::Session &session() { return session_; }
  Stream &stream() { return stream_; }

 private:
  bool is_initialized_;  // first: a stream needs the device that GEInitialize takes
  Stream stream_;
  ge::Session session_;
};

/// Lines of the task records so far that contain every part; the test's environment names the file in OPKIT_SIM_TASK_RECORDS.
inline int RecordedTasks(const std::vector<std::string> &parts) {
  opkit_sim::rt::FlushTaskRecords();
  const char *path = std::getenv("OPKIT_SIM_TASK_RECORDS");
  REQUIRE(path != nullptr);
  std::ifstream records(path);
  int count = 0;
  for (std::string line; std::getline(records, line);) {
    bool has_all = true;
    for (const std::string &part : parts) {
      has_all = has_all && line.find(part) != std::string::npos;
    }
    count += has_all ? 1 : 0;
  }
  return count;
}
}  // namespace session_test

#endif  // OPKIT_SIM_TESTS_SESSION_SESSION_FIXTURE_H_
