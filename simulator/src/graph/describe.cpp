// Describe: the built graph as values, checked and in the order in which it runs.
#include <algorithm>
#include <deque>
#include <set>
#include <string>

#include "graph/graph_impl.h"
#include "graph/graph_internal.h"
#include "graph/operator_registry.h"
#include "metadef/tensor_internal.h"

namespace opkit_sim::graph {
namespace {

using ge::GraphImpl;
using ge::NodeImpl;
using ge::NodePtr;

// A sentence about why the graph can't be described; thrown and caught within this file.
struct Refusal {
  std::string sentence;
};

std::string Quoted(const ge::AscendString &name) { return std::string("[") + name.GetString() + "]"; }

std::vector<NodePtr> SourcesOf(const NodePtr &node) {
  std::vector<NodePtr> sources;
  for (const auto &[input, edge] : node->inputs) {
    sources.push_back(edge.source.lock());
  }
  for (const std::weak_ptr<NodeImpl> &weak : node->control_sources) {
    sources.push_back(weak.lock());
  }
  sources.erase(std::remove(sources.begin(), sources.end(), nullptr), sources.end());
  return sources;
}

// What outputs and targets need, and all graph inputs; everything if the graph names neither.
std::vector<NodePtr> NeededNodes(const GraphImpl &graph) {
  if (graph.outputs.empty() && graph.targets.empty()) {
    return graph.nodes;
  }
  std::deque<NodePtr> queue(graph.targets.begin(), graph.targets.end());
  for (const GraphImpl::Output &output : graph.outputs) {
    queue.push_back(output.first);
  }
  std::set<NodePtr> needed;
  while (!queue.empty()) {
    const NodePtr node = queue.front();
    queue.pop_front();
    if (needed.insert(node).second) {
      const std::vector<NodePtr> sources = SourcesOf(node);
      queue.insert(queue.end(), sources.begin(), sources.end());
    }
  }
  std::vector<NodePtr> kept;
  for (const NodePtr &node : graph.nodes) {
    if (needed.count(node) > 0U || IsDataType(node->op->type)) {
      kept.push_back(node);
    }
  }
  return kept;
}

std::vector<NodePtr> InTopologicalOrder(const std::vector<NodePtr> &nodes) {
  std::set<NodePtr> placed;
  std::vector<NodePtr> order;
  std::vector<NodePtr> waiting = nodes;
  while (!waiting.empty()) {
    std::vector<NodePtr> still_waiting;
    for (const NodePtr &node : waiting) {
      const std::vector<NodePtr> sources = SourcesOf(node);
      if (std::all_of(sources.begin(), sources.end(), [&](const NodePtr &source) { return placed.count(source) > 0U; })) {
        (void)placed.insert(node);
        order.push_back(node);
      } else {
        still_waiting.push_back(node);
      }
    }
    if (still_waiting.size() == waiting.size()) {
      throw Refusal{"the wiring has a cycle through node " + Quoted(waiting.front()->op->name)};
    }
    waiting.swap(still_waiting);
  }
  return order;
}

void CheckNames(const std::vector<NodePtr> &nodes) {
  std::set<ge::AscendString> names;
  for (const NodePtr &node : nodes) {
    if (!names.insert(node->op->name).second) {
      throw Refusal{"two nodes are named " + Quoted(node->op->name)};
    }
  }
}

InputDesc DescribeInput(const NodePtr &node, size_t index, const std::map<NodePtr, size_t> &places) {
  const ge::OperatorPort &port = node->op->inputs[index];
  InputDesc input;
  input.name = port.name;
  input.port = port.decl;
  input.member = port.member;
  input.desc = ge::TensorAdapter::Detach(port.desc);
  input.has_desc = port.has_desc;
  const auto edge = node->inputs.find(index);
  if (edge != node->inputs.end()) {
    const auto place = places.find(edge->second.source.lock());
    if (place == places.end()) {
      throw Refusal{"the source of input " + Quoted(port.name) + " of node " + Quoted(node->op->name) + " is not in the graph"};
    }
    input.source.node = place->second;
    input.source.output = edge->second.output;
  } else if (node->op->proto.inputs[port.decl].kind != PortKind::kOptional && !IsDataType(node->op->type)) {
    throw Refusal{"input " + Quoted(port.name) + " of node " + Quoted(node->op->name) + " (" + node->op->type.GetString() +
                  ") has no source"};
  }
  return input;
}

OutputDesc DescribeOutput(const ge::OperatorPort &port) {
  OutputDesc output;
  output.name = port.name;
  output.port = port.decl;
  output.member = port.member;
  output.desc = ge::TensorAdapter::Detach(port.desc);
  output.has_desc = port.has_desc;
  return output;
}

NodeDesc DescribeNode(const NodePtr &node, const std::map<NodePtr, size_t> &places) {
  NodeDesc desc;
  desc.name = node->op->name;
  desc.type = node->op->type;
  desc.proto = node->op->proto;
  desc.attrs = node->op->attrs;
  for (size_t i = 0U; i < node->op->inputs.size(); ++i) {
    desc.inputs.push_back(DescribeInput(node, i, places));
  }
  for (const ge::OperatorPort &port : node->op->outputs) {
    desc.outputs.push_back(DescribeOutput(port));
  }
  for (const std::weak_ptr<NodeImpl> &weak : node->control_sources) {
    const auto place = places.find(weak.lock());
    if (place != places.end()) {
      desc.control_inputs.push_back(place->second);
    }
  }
  return desc;
}

// SetInputs gives the order; Data that was only met by walking comes behind.
std::vector<size_t> InputPlaces(const GraphImpl &graph, const std::map<NodePtr, size_t> &places) {
  std::vector<NodePtr> data = graph.inputs;
  for (const NodePtr &node : graph.nodes) {
    if (std::find(data.begin(), data.end(), node) == data.end()) {
      data.push_back(node);
    }
  }
  std::vector<size_t> inputs;
  for (const NodePtr &node : data) {
    const auto place = places.find(node);
    if (IsDataType(node->op->type) && place != places.end()) {
      inputs.push_back(place->second);
    }
  }
  return inputs;
}

GraphDesc DescribeBuilt(const GraphImpl &graph) {
  CheckNames(graph.nodes);
  const std::vector<NodePtr> order = InTopologicalOrder(NeededNodes(graph));
  if (order.empty()) {
    throw Refusal{"the graph has no nodes"};
  }
  std::map<NodePtr, size_t> places;
  for (const NodePtr &node : order) {
    places[node] = places.size();
  }
  GraphDesc desc;
  desc.name = graph.name;
  for (const NodePtr &node : order) {
    desc.nodes.push_back(DescribeNode(node, places));
  }
  desc.inputs = InputPlaces(graph, places);
  for (size_t i = 0U; i < desc.inputs.size(); ++i) {
    desc.nodes[desc.inputs[i]].attrs[ge::AscendString("index")] = static_cast<int64_t>(i);
  }
  for (const GraphImpl::Output &output : graph.outputs) {
    desc.outputs.push_back(Source{places.at(output.first), output.second});
  }
  for (const NodePtr &target : graph.targets) {
    desc.targets.push_back(places.at(target));
  }
  return desc;
}

}  // namespace

ge::graphStatus Describe(const ge::Graph &graph, GraphDesc &desc, ge::AscendString &error) {
  const ge::GraphImplPtr &impl = GraphImpl::Of(graph);
  if (impl == nullptr) {
    error = "the graph was made without a name";
    return ge::GRAPH_FAILED;
  }
  if (!impl->is_built) {
    error = impl->fault.GetLength() > 0U ? impl->fault : ge::AscendString("SetInputs was never called");
    return ge::GRAPH_FAILED;
  }
  try {
    desc = DescribeBuilt(*impl);
    return ge::GRAPH_SUCCESS;
  } catch (const Refusal &refusal) {
    error = refusal.sentence.c_str();
    return ge::GRAPH_FAILED;
  }
}

bool MarkAdded(const ge::Graph &graph) {
  const ge::GraphImplPtr &impl = GraphImpl::Of(graph);
  const bool is_first = impl != nullptr && !impl->is_added;
  if (impl != nullptr) {
    impl->is_added = true;
  }
  return is_first;
}

}  // namespace opkit_sim::graph
