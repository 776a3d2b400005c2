// What is known about a graph once it is compiled: memory, streams, and the shapes and dtypes of its outputs.
#ifndef OPKIT_SIM_GE_GRAPH_COMPILE_SUMMARY_H_
#define OPKIT_SIM_GE_GRAPH_COMPILE_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ge/ge_api_error_codes.h"
#include "ge/ge_api_types.h"
#include "graph/gnode.h"

namespace ge {
class GE_FUNC_VISIBILITY CompiledGraphSummary {
 public:
  class Builder;
  class SummaryData;

  ~CompiledGraphSummary();
  CompiledGraphSummary(const CompiledGraphSummary &) = delete;
  CompiledGraphSummary &operator=(const CompiledGraphSummary &) & = delete;

  bool IsStatic() const;
  Status GetConstMemorySize(size_t &size) const;
  /// Bytes that the graph keeps between its inputs and outputs, without workspace, which is only known once ops have run.
  Status GetFeatureMemorySize(size_t &size) const;
  Status GetFeatureMemoryBaseRefreshable(bool &v) const;
  Status GetStreamNum(size_t &num) const;
  Status GetEventNum(size_t &num) const;
  Status GetOutputShapes(std::vector<ge::Shape> &shapes) const;
  Status GetOutputDtypes(std::vector<ge::DataType> &dtypes) const;

 private:
  CompiledGraphSummary() = default;
  std::shared_ptr<SummaryData> data_;
};
using CompiledGraphSummaryPtr = std::shared_ptr<CompiledGraphSummary>;
}  // namespace ge

#endif  // OPKIT_SIM_GE_GRAPH_COMPILE_SUMMARY_H_
