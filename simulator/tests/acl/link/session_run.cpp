// A session program as it is written for a device, linked with graph, ge_runner, ge_compiler, ascendcl and graph_base alone.
#include <cstdio>
#include <map>
#include <vector>

#include "acl/acl_rt.h"
#include "ge/ge_api.h"
#include "graph.h"
#include "ops_proto_legacy.h"
#include "tensor.h"
#include "types.h"

int main() {
  const std::map<ge::AscendString, ge::AscendString> options = {{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}};
  if (ge::GEInitialize(options) != ge::SUCCESS) return 1;
  const ge::TensorDesc description(ge::Shape({2, 3}), ge::FORMAT_ND, ge::DT_FLOAT);
  auto data = ge::op::Data("data");
  data.update_input_desc_x(description);
  data.update_output_desc_y(description);
  ge::Graph graph("link_test");
  graph.SetInputs(std::vector<ge::Operator>{data}).SetOutputs(std::vector<ge::Operator>{data});
  const int64_t bytes = ge::GetSizeInBytes(6, ge::DT_FLOAT);
  {
    ge::Session session(options);
    // An unknown graph: fails, and says so.
    if (session.RemoveGraph(77) == ge::SUCCESS) return 2;
  }
  if (ge::GEFinalize() != ge::SUCCESS) return 3;
  std::printf("bytes %lld\n", static_cast<long long>(bytes));
  return bytes == 24 ? 0 : 4;
}
