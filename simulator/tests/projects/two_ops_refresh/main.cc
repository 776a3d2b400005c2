// Runs both ops on two sets of memory in turn and compares every element of both.
#include <cstdio>
#include <map>
#include <vector>

#include "acl/acl_rt.h"
#include "ge/ge_api.h"
#include "graph.h"
#include "ops_proto_legacy.h"
#include "subtract_ops.h"
#include "tensor.h"
#include "types.h"

namespace {
constexpr int64_t kRows = 16;
constexpr int64_t kColumns = 1024;
constexpr size_t kCount = kRows * kColumns;
constexpr size_t kBytes = kCount * sizeof(float);

struct Set {
  void *x = nullptr;
  void *y = nullptr;
  void *z = nullptr;
  float offset = 0;
  std::vector<gert::Tensor> inputs{2};
  std::vector<gert::Tensor> outputs{1};

  static gert::Tensor Describe(void *address) {
    return {{{kRows, kColumns}, {kRows, kColumns}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, gert::kOnDeviceHbm, ge::DT_FLOAT, address};
  }
  bool Prepare(float value) {
    offset = value;
    std::vector<float> host(kCount);
    for (void **address : {&x, &y, &z}) {
      if (aclrtMalloc(address, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
        return false;
      }
    }
    for (size_t i = 0; i < kCount; ++i) {
      host[i] = static_cast<float>(i) + offset;
    }
    (void)aclrtMemcpy(x, kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
    for (size_t i = 0; i < kCount; ++i) {
      host[i] = static_cast<float>(i % 7);
    }
    (void)aclrtMemcpy(y, kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
    inputs[0] = Describe(x);
    inputs[1] = Describe(y);
    outputs[0] = Describe(z);
    return true;
  }
  bool Check() const {
    std::vector<float> host(kCount);
    (void)aclrtMemcpy(host.data(), kBytes, z, kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
    for (size_t i = 0; i < kCount; ++i) {
      if (!(host[i] == static_cast<float>(i) + offset - static_cast<float>(i % 7))) {
        std::printf("element %zu is %g\n", i, static_cast<double>(host[i]));
        return false;
      }
    }
    return true;
  }
  void Poison() const { (void)aclrtMemset(z, kBytes, 0xFF, kBytes); }
  void Free() const {
    (void)aclrtFree(x);
    (void)aclrtFree(y);
    (void)aclrtFree(z);
  }
};

template <typename Op>
ge::Graph GraphOf(const char *name) {
  ge::TensorDesc desc(ge::Shape({kRows, kColumns}), ge::FORMAT_ND, ge::DT_FLOAT);
  ge::op::Data x("x");
  ge::op::Data y("y");
  x.update_input_desc_x(desc);
  x.update_output_desc_y(desc);
  y.update_input_desc_x(desc);
  y.update_output_desc_y(desc);
  Op op("subtract");
  op.set_input_x(x).set_input_y(y);
  std::vector<ge::Operator> inputs = {x, y};
  std::vector<ge::Operator> outputs = {op};
  ge::Graph graph(name);
  graph.SetInputs(inputs).SetOutputs(outputs);
  return graph;
}

bool Run(ge::Session &session, uint32_t id, const ge::Graph &graph, aclrtStream stream, Set (&sets)[2]) {
  const std::map<ge::AscendString, ge::AscendString> none;
  if (session.AddGraph(id, graph) != ge::SUCCESS || session.CompileGraph(id) != ge::SUCCESS ||
      session.LoadGraph(id, none, stream) != ge::SUCCESS) {
    return false;
  }
  bool is_right = true;
  for (Set &set : sets) {
    set.Poison();
  }
  for (int i = 0; i < 10; ++i) {
    Set &set = sets[i % 2];
    is_right = session.ExecuteGraphWithStreamAsync(id, stream, set.inputs, set.outputs) == ge::SUCCESS && is_right;
  }
  is_right = aclrtSynchronizeStream(stream) == ACL_SUCCESS && is_right;
  for (const Set &set : sets) {
    is_right = set.Check() && is_right;
  }
  return session.RemoveGraph(id) == ge::SUCCESS && is_right;
}
}  // namespace

int main() {
  const std::map<ge::AscendString, ge::AscendString> options = {{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}};
  aclrtStream stream = nullptr;
  if (ge::GEInitialize(options) != ge::SUCCESS || aclrtCreateStream(&stream) != ACL_SUCCESS) {
    return 1;
  }
  bool is_right = false;
  {
    ge::Session session(options);
    Set sets[2];
    is_right = sets[0].Prepare(0.5F) && sets[1].Prepare(100.25F);
    is_right = is_right && Run(session, 0, GraphOf<ge::op::SubtractRefreshed>("refreshed"), stream, sets);
    is_right = is_right && Run(session, 1, GraphOf<ge::op::SubtractCopied>("copied"), stream, sets);
    for (const Set &set : sets) {
      set.Free();
    }
  }
  (void)aclrtDestroyStream(stream);
  (void)ge::GEFinalize();
  std::puts(is_right ? "both ops are right on both sets" : "WRONG");
  return is_right ? 0 : 4;
}
