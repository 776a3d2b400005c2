#include "session/summary.h"

#include "session/memory_plan.h"

namespace ge {
class CompiledGraphSummary::SummaryData {
 public:
  size_t constant_bytes = 0;
  size_t buffer_bytes = 0;
  std::vector<Shape> shapes;
  std::vector<DataType> dtypes;
};

class CompiledGraphSummary::Builder {
 public:
  static CompiledGraphSummaryPtr Build(std::shared_ptr<SummaryData> data) {
    CompiledGraphSummaryPtr summary(new CompiledGraphSummary);
    summary->data_ = std::move(data);
    return summary;
  }
};

CompiledGraphSummary::~CompiledGraphSummary() = default;

bool CompiledGraphSummary::IsStatic() const { return true; }

Status CompiledGraphSummary::GetConstMemorySize(size_t &size) const {
  size = data_->constant_bytes;
  return SUCCESS;
}

Status CompiledGraphSummary::GetFeatureMemorySize(size_t &size) const {
  size = data_->buffer_bytes;
  return SUCCESS;
}

Status CompiledGraphSummary::GetFeatureMemoryBaseRefreshable(bool &v) const {
  v = false;
  return SUCCESS;
}

// All nodes run on the stream of the call, so there is one and nothing to wait for.
Status CompiledGraphSummary::GetStreamNum(size_t &num) const {
  num = 1;
  return SUCCESS;
}

Status CompiledGraphSummary::GetEventNum(size_t &num) const {
  num = 0;
  return SUCCESS;
}

Status CompiledGraphSummary::GetOutputShapes(std::vector<Shape> &shapes) const {
  shapes = data_->shapes;
  return SUCCESS;
}

Status CompiledGraphSummary::GetOutputDtypes(std::vector<DataType> &dtypes) const {
  dtypes = data_->dtypes;
  return SUCCESS;
}
}  // namespace ge

namespace opkit_sim::session {
ge::CompiledGraphSummaryPtr Summarize(const CompiledGraph &graph) {
  auto data = std::make_shared<ge::CompiledGraphSummary::SummaryData>();
  for (const Slot &slot : PlanMemory(graph).slots) {
    data->constant_bytes += slot.kind == Slot::Kind::kConstant ? slot.bytes : 0;
    data->buffer_bytes += slot.kind == Slot::Kind::kBuffer ? slot.bytes : 0;
  }
  for (const size_t v : graph.outputs) {
    ge::TensorDesc desc;
    lowering::WriteTo(graph.values[v].spec, desc);
    data->shapes.push_back(desc.GetShape());
    data->dtypes.push_back(desc.GetDataType());
  }
  return ge::CompiledGraphSummary::Builder::Build(std::move(data));
}
}  // namespace opkit_sim::session
