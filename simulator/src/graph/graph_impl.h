// The built graph behind ge::Graph, and its nodes behind ge::GNode.
#ifndef OPKIT_SIM_SRC_GRAPH_GRAPH_IMPL_H_
#define OPKIT_SIM_SRC_GRAPH_GRAPH_IMPL_H_

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/operator_impl.h"

namespace ge {

class GraphImpl;
class NodeImpl;

using NodePtr = std::shared_ptr<NodeImpl>;

// A node of one graph. Descs and attributes are the operator's; edges are the graph's own: they are what the wiring was when the graph was
// built, and what was added or removed since.
class NodeImpl : public std::enable_shared_from_this<NodeImpl> {
 public:
  struct Edge {
    std::weak_ptr<NodeImpl> source;
    size_t output = 0U;
  };

  explicit NodeImpl(OperatorImplPtr impl) : op(std::move(impl)) {}

  static const NodePtr &Of(const GNode &node) { return node.impl_; }
  static GNode Wrap(const NodePtr &impl) {
    GNode node;
    node.impl_ = impl;
    return node;
  }

  OperatorImplPtr op;
  std::weak_ptr<GraphImpl> graph;
  std::map<size_t, Edge> inputs;  // by input position
  std::vector<std::weak_ptr<NodeImpl>> control_sources;
};

class GraphImpl : public std::enable_shared_from_this<GraphImpl> {
 public:
  using Output = std::pair<NodePtr, size_t>;

  static const GraphImplPtr &Of(const Graph &graph) { return graph.impl_; }
  static Graph Wrap(const GraphImplPtr &impl) {
    Graph graph;
    graph.impl_ = impl;
    return graph;
  }

  NodePtr Add(const OperatorImplPtr &op);
  NodePtr FindNode(const AscendString &node_name) const;
  NodePtr NodeOf(const OperatorImplPtr &op) const;
  bool Has(const NodePtr &node) const;
  // Takes in all that is reachable from `seeds`, forwards and backwards, and the edges between them.
  void Build(const std::vector<OperatorImplPtr> &seeds);
  void AddOutputs(const NodePtr &node);
  void Remove(const NodePtr &node);
  // Notes the first mistake; a graph with one stays invalid.
  void Fail(const AscendString &sentence);

  AscendString name;
  bool is_built = false;
  bool is_added = false;  // to a session
  AscendString fault;
  std::vector<NodePtr> nodes;  // in the order in which they were met
  std::vector<NodePtr> inputs;
  std::vector<Output> outputs;
  std::vector<NodePtr> targets;
  std::map<AscendString, Operator> listed;  // AddOp
  opkit_sim::graph::AttrMap attrs;
};

}  // namespace ge

#endif  // OPKIT_SIM_SRC_GRAPH_GRAPH_IMPL_H_
