#include "graph/graph_impl.h"

#include <algorithm>
#include <deque>
#include <set>
#include <string>

#include "metadef/report.h"

namespace ge {

using opkit_sim::graph::kNone;

NodePtr GraphImpl::Add(const OperatorImplPtr &op) {
  auto node = std::make_shared<NodeImpl>(op);
  node->graph = weak_from_this();
  nodes.push_back(node);
  return node;
}

NodePtr GraphImpl::FindNode(const AscendString &node_name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const NodePtr &node) { return node->op->name == node_name; });
  return found == nodes.end() ? nullptr : *found;
}

NodePtr GraphImpl::NodeOf(const OperatorImplPtr &op) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const NodePtr &node) { return node->op == op; });
  return found == nodes.end() ? nullptr : *found;
}

bool GraphImpl::Has(const NodePtr &node) const { return node != nullptr && std::find(nodes.begin(), nodes.end(), node) != nodes.end(); }

void GraphImpl::Fail(const AscendString &sentence) {
  opkit_sim::ReportError("graph [%s]: %s", name.GetString(), sentence.GetString());
  if (fault.GetLength() == 0U) {
    fault = sentence;
  }
}

void GraphImpl::Build(const std::vector<OperatorImplPtr> &seeds) {
  std::map<OperatorImplPtr, NodePtr> met;
  std::deque<OperatorImplPtr> queue(seeds.begin(), seeds.end());
  while (!queue.empty()) {
    const OperatorImplPtr op = queue.front();
    queue.pop_front();
    if (op == nullptr || met.count(op) > 0U) {
      continue;
    }
    met[op] = Add(op);
    if (op->fault.GetLength() > 0U) {
      Fail(op->fault);
    }
    for (const OperatorPort &port : op->inputs) {
      queue.push_back(port.source);
    }
    queue.insert(queue.end(), op->control_sources.begin(), op->control_sources.end());
    for (const std::weak_ptr<OperatorImpl> &consumer : op->consumers) {
      queue.push_back(consumer.lock());
    }
    for (const std::weak_ptr<OperatorImpl> &consumer : op->control_consumers) {
      queue.push_back(consumer.lock());
    }
  }
  std::set<AscendString> names;
  for (const NodePtr &node : nodes) {
    if (!names.insert(node->op->name).second) {
      Fail((std::string("two nodes are named [") + node->op->name.GetString() + "]").c_str());
    }
    for (size_t i = 0U; i < node->op->inputs.size(); ++i) {
      const OperatorPort &port = node->op->inputs[i];
      if (port.source != nullptr) {
        const size_t output = OperatorImpl::IndexOf(port.source->outputs, port.source_output);
        node->inputs[i] = NodeImpl::Edge{met.at(port.source), output};
      }
    }
    for (const OperatorImplPtr &source : node->op->control_sources) {
      node->control_sources.push_back(met.at(source));
    }
  }
  is_built = fault.GetLength() == 0U;
}

void GraphImpl::AddOutputs(const NodePtr &node) {
  for (size_t i = 0U; i < node->op->outputs.size(); ++i) {
    outputs.emplace_back(node, i);
  }
}

void GraphImpl::Remove(const NodePtr &node) {
  const auto is_node = [&](const NodePtr &other) { return other == node; };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), is_node), nodes.end());
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), is_node), inputs.end());
  targets.erase(std::remove_if(targets.begin(), targets.end(), is_node), targets.end());
  outputs.erase(std::remove_if(outputs.begin(), outputs.end(), [&](const Output &output) { return output.first == node; }), outputs.end());
  for (const NodePtr &other : nodes) {
    for (auto edge = other->inputs.begin(); edge != other->inputs.end();) {
      edge = edge->second.source.lock() == node ? other->inputs.erase(edge) : std::next(edge);
    }
    auto &controls = other->control_sources;
    controls.erase(
        std::remove_if(controls.begin(), controls.end(), [&](const std::weak_ptr<NodeImpl> &weak) { return weak.lock() == node; }),
        controls.end());
  }
  node->inputs.clear();
  node->control_sources.clear();
  node->graph.reset();
}

}  // namespace ge
