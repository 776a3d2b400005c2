// Graph: what a session compiles, built from wired operators.
#ifndef OPKIT_SIM_GRAPH_GRAPH_H_
#define OPKIT_SIM_GRAPH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"
#include "graph/gnode.h"
#include "graph/operator.h"

namespace ge {

class GraphImpl;

using ConstGraphPtr = std::shared_ptr<const Graph>;
using GraphImplPtr = std::shared_ptr<GraphImpl>;

// A handle: copies are the same graph. Saving, loading, dumping and subgraphs aren't part of the simulator.
class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY Graph {
 public:
  Graph() = default;  // no graph at all: every call fails
  explicit Graph(const char_t *name);
  ATTRIBUTED_DEPRECATED(Graph(const char_t *)) explicit Graph(const std::string &name) : Graph(name.c_str()) {}
  ~Graph() = default;
  Graph(const Graph &) = default;
  Graph &operator=(const Graph &) = default;

  // Builds the graph, once: takes in every operator that is reachable over the wiring as it is now, and makes `inputs` the graph's inputs
  // in this order. An operator that has inputs and isn't Data is no graph input; it is left out with a warning. Two operators of one name
  // make the graph invalid.
  Graph &SetInputs(const std::vector<Operator> &inputs);
  // After SetInputs; replaces what an earlier call chose. Operators are found by name; one that the graph doesn't have is left out with a
  // warning. Without indices, all outputs of the operator.
  Graph &SetOutputs(const std::vector<Operator> &outputs);
  Graph &SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &output_indexs);
  Graph &SetOutputs(const std::vector<std::pair<ge::Operator, AscendString>> &outputs);
  ATTRIBUTED_DEPRECATED(Graph &SetOutputs(const std::vector<std::pair<ge::Operator, AscendString>> &))
  Graph &SetOutputs(const std::vector<std::pair<ge::Operator, std::string>> &outputs) {
    std::vector<std::pair<Operator, AscendString>> named;
    for (const auto &[op, name] : outputs) {
      named.emplace_back(op, AscendString(name.c_str()));
    }
    return SetOutputs(named);
  }
  graphStatus SetOutputs(const std::vector<std::pair<GNode, int32_t>> &outputs);
  Graph &SetTargets(const std::vector<Operator> &targets);

  bool IsValid() const;    // it was built
  graphStatus SetValid();  // makes an empty graph to which nodes can be added one by one
  graphStatus GetName(AscendString &name) const;
  ATTRIBUTED_DEPRECATED(graphStatus GetName(AscendString &) const) std::string GetName() const {
    AscendString name;
    (void)GetName(name);
    return name.GetString();
  }

  // A list of operators beside the built graph, by name; it doesn't change what the graph computes.
  graphStatus AddOp(const ge::Operator &op);
  graphStatus FindOpByName(const char_t *name, ge::Operator &op) const;
  graphStatus FindOpByType(const char_t *type, std::vector<ge::Operator> &ops) const;
  graphStatus GetAllOpName(std::vector<AscendString> &names) const;
  ATTRIBUTED_DEPRECATED(graphStatus FindOpByName(const char_t *, ge::Operator &) const)
  graphStatus FindOpByName(const std::string &name, ge::Operator &op) const { return FindOpByName(name.c_str(), op); }
  ATTRIBUTED_DEPRECATED(graphStatus FindOpByType(const char_t *, std::vector<ge::Operator> &) const)
  graphStatus FindOpByType(const std::string &type, std::vector<ge::Operator> &ops) const { return FindOpByType(type.c_str(), ops); }
  ATTRIBUTED_DEPRECATED(graphStatus GetAllOpName(std::vector<AscendString> &) const)
  graphStatus GetAllOpName(std::vector<std::string> &op_name) const {
    std::vector<AscendString> names;
    const graphStatus status = GetAllOpName(names);
    for (const AscendString &name : names) {
      op_name.emplace_back(name.GetString());
    }
    return status;
  }

  // The built graph, node by node. Port -1 on both ends of an edge means a control edge.
  std::vector<GNode> GetAllNodes() const;
  std::vector<GNode> GetDirectNode() const;
  GNodePtr FindNodeByName(const AscendString &node_name) const;
  GNode AddNodeByOp(const Operator &op);
  graphStatus RemoveNode(GNode &node);
  graphStatus AddDataEdge(GNode &src_node, const int32_t src_port_index, GNode &dst_node, const int32_t dst_port_index);
  graphStatus AddControlEdge(GNode &src_node, GNode &dst_node);
  graphStatus RemoveEdge(GNode &src_node, const int32_t src_port_index, GNode &dst_node, const int32_t dst_port_index);
  static GraphPtr ConstructFromInputs(const std::vector<Operator> &inputs, const AscendString &name);

  graphStatus SetAttr(const AscendString &name, const AttrValue &attr_value);
  graphStatus GetAttr(const AscendString &name, AttrValue &attr_value) const;

 private:
  friend class GraphImpl;
  GraphImplPtr impl_;
};

}  // namespace ge

#endif  // OPKIT_SIM_GRAPH_GRAPH_H_
