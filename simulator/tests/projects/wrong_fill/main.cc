// Alternates two sets of memory, both poisoned before, and says which of them is wrong.
#include <cstdio>
#include <map>
#include <vector>

#include "acl/acl_rt.h"
#include "ge/ge_api.h"
#include "graph.h"
#include "negate_op.h"
#include "ops_proto_legacy.h"
#include "types.h"

namespace {
constexpr int64_t kCount = 4096;
constexpr size_t kBytes = kCount * sizeof(float);

gert::Tensor Describe(void *address) {
  return {{{kCount}, {kCount}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, gert::kOnDeviceHbm, ge::DT_FLOAT, address};
}

ge::Graph Negation() {
  const ge::TensorDesc desc(ge::Shape({kCount}), ge::FORMAT_ND, ge::DT_FLOAT);
  ge::op::Data x("x");
  x.update_input_desc_x(desc);
  x.update_output_desc_y(desc);
  ge::op::NegateWrongly negate("negate");
  negate.set_input_x(x);
  ge::Graph graph("negation");
  graph.SetInputs({x}).SetOutputs({negate});
  return graph;
}
}  // namespace

int main() {
  const std::map<ge::AscendString, ge::AscendString> options = {{"ge.exec.deviceId", "0"}};
  aclrtStream stream = nullptr;
  if (ge::GEInitialize(options) != ge::SUCCESS || aclrtCreateStream(&stream) != ACL_SUCCESS) {
    return 1;
  }
  int wrong_sets = 0;
  {
    ge::Session session(options);
    if (session.AddGraph(0, Negation()) != ge::SUCCESS || session.CompileGraph(0) != ge::SUCCESS ||
        session.LoadGraph(0, {}, stream) != ge::SUCCESS) {
      return 1;
    }
    void *x[2] = {};
    void *z[2] = {};
    std::vector<gert::Tensor> inputs[2];
    std::vector<gert::Tensor> outputs[2];
    for (int s = 0; s < 2; ++s) {
      const std::vector<float> host(kCount, static_cast<float>(s + 1));
      if (aclrtMalloc(&x[s], kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
          aclrtMalloc(&z[s], kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
        return 1;
      }
      (void)aclrtMemcpy(x[s], kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
      (void)aclrtMemset(z[s], kBytes, 0xFF, kBytes);
      inputs[s].push_back(Describe(x[s]));
      outputs[s].push_back(Describe(z[s]));
    }
    for (int s = 0; s < 2; ++s) {
      if (session.ExecuteGraphWithStreamAsync(0, stream, inputs[s], outputs[s]) != ge::SUCCESS ||
          aclrtSynchronizeStream(stream) != ACL_SUCCESS) {
        return 1;
      }
      std::vector<float> host(kCount);
      (void)aclrtMemcpy(host.data(), kBytes, z[s], kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
      if (!(host.front() == -static_cast<float>(s + 1))) {
        std::printf("set %d is wrong: expected %d, got %g\n", s, -(s + 1), static_cast<double>(host.front()));
        ++wrong_sets;
      }
    }
    for (int s = 0; s < 2; ++s) {
      (void)aclrtFree(x[s]);
      (void)aclrtFree(z[s]);
    }
  }
  (void)aclrtDestroyStream(stream);
  (void)ge::GEFinalize();
  return wrong_sets == 0 ? 0 : 4;
}
