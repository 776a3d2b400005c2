#include "graph/graph.h"

#include <algorithm>

#include "graph/attr_value_impl.h"
#include "graph/graph_impl.h"
#include "graph/operator_registry.h"
#include "metadef/report.h"
#include "metadef/tensor_internal.h"

namespace ge {

using opkit_sim::ReportError;
using opkit_sim::ReportWarning;

namespace {

const char *NameOf(const Operator &op) { return op.IsEmpty() ? "" : OperatorImpl::Of(op)->name.GetString(); }

// What may stand in SetInputs: Data, or an operator that declares no input at all.
bool CanBeInput(const Operator &op) {
  const OperatorImplPtr &impl = OperatorImpl::Of(op);
  return opkit_sim::graph::IsDataType(impl->type) || impl->type == "Variable" || (impl->proto.inputs.empty() && !impl->outputs.empty());
}

// The graph to add outputs to; nullptr, with a report, if SetInputs didn't come first.
GraphImpl *Built(const GraphImplPtr &impl, const char *call) {
  if (impl == nullptr || !impl->is_built) {
    ReportError("%s of graph [%s]: the graph isn't built, call SetInputs first", call, impl == nullptr ? "" : impl->name.GetString());
    return nullptr;
  }
  return impl.get();
}

NodePtr FindForOutput(const GraphImpl &graph, const Operator &op) {
  NodePtr node = op.IsEmpty() ? nullptr : graph.FindNode(OperatorImpl::Of(op)->name);
  if (node == nullptr) {
    ReportWarning("SetOutputs of graph [%s]: the graph has no node [%s], it is left out", graph.name.GetString(), NameOf(op));
  }
  return node;
}

}  // namespace

Graph::Graph(const char_t *name) {
  if (name != nullptr) {
    impl_ = std::make_shared<GraphImpl>();
    impl_->name = AscendString(name);
  }
}

Graph &Graph::SetInputs(const std::vector<Operator> &inputs) {
  if (impl_ == nullptr) {
    ReportError("SetInputs of a graph that was made without a name");
    return *this;
  }
  if (impl_->is_built || impl_->fault.GetLength() > 0U) {
    ReportError("SetInputs of graph [%s]: it was built before", impl_->name.GetString());
    return *this;
  }
  std::vector<OperatorImplPtr> seeds;
  for (const Operator &op : inputs) {
    if (op.IsEmpty()) {
      impl_->Fail("an empty operator is among the graph's inputs");
      return *this;
    }
    if (CanBeInput(op)) {
      seeds.push_back(OperatorImpl::Of(op));
    } else {
      ReportWarning("SetInputs of graph [%s]: [%s] has inputs and isn't Data, it is left out", impl_->name.GetString(), NameOf(op));
    }
  }
  if (seeds.empty()) {
    impl_->Fail("the inputs hold no Data and no operator without inputs");
    return *this;
  }
  impl_->Build(seeds);
  for (const OperatorImplPtr &seed : seeds) {
    const NodePtr node = impl_->NodeOf(seed);
    if (std::find(impl_->inputs.begin(), impl_->inputs.end(), node) == impl_->inputs.end()) {
      impl_->inputs.push_back(node);
    }
  }
  return *this;
}

Graph &Graph::SetOutputs(const std::vector<Operator> &outputs) {
  std::vector<std::pair<Operator, std::vector<size_t>>> all_of_each;
  for (const Operator &op : outputs) {
    all_of_each.emplace_back(op, std::vector<size_t>());
  }
  return SetOutputs(all_of_each);
}

Graph &Graph::SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &output_indexs) {
  GraphImpl *graph = Built(impl_, "SetOutputs");
  if (graph == nullptr) {
    return *this;
  }
  graph->outputs.clear();
  for (const auto &[op, indices] : output_indexs) {
    const NodePtr node = FindForOutput(*graph, op);
    if (node != nullptr && indices.empty()) {
      graph->AddOutputs(node);
    } else if (node != nullptr) {
      for (const size_t index : indices) {
        if (index < node->op->outputs.size()) {
          graph->outputs.emplace_back(node, index);
        } else {
          ReportWarning("SetOutputs of graph [%s]: [%s] has %zu outputs, number %zu is left out", graph->name.GetString(), NameOf(op),
                        node->op->outputs.size(), index);
        }
      }
    }
  }
  return *this;
}

Graph &Graph::SetOutputs(const std::vector<std::pair<ge::Operator, AscendString>> &outputs) {
  GraphImpl *graph = Built(impl_, "SetOutputs");
  if (graph == nullptr) {
    return *this;
  }
  graph->outputs.clear();
  for (const auto &[op, output] : outputs) {
    const NodePtr node = FindForOutput(*graph, op);
    if (node != nullptr && output.GetLength() == 0U) {
      graph->AddOutputs(node);
    } else if (node != nullptr) {
      const size_t index = OperatorImpl::IndexOf(node->op->outputs, output);
      if (index == opkit_sim::graph::kNone) {
        ReportError("SetOutputs of graph [%s]: [%s] has no output '%s'; this output and those after it are left out",
                    graph->name.GetString(), NameOf(op), output.GetString());
        return *this;
      }
      graph->outputs.emplace_back(node, index);
    }
  }
  return *this;
}

graphStatus Graph::SetOutputs(const std::vector<std::pair<GNode, int32_t>> &outputs) {
  GraphImpl *graph = Built(impl_, "SetOutputs");
  if (graph == nullptr) {
    return GRAPH_FAILED;
  }
  for (const auto &[node, index] : outputs) {
    const NodePtr &impl = NodeImpl::Of(node);
    if (!graph->Has(impl) || index < 0 || static_cast<size_t>(index) >= impl->op->outputs.size()) {
      return GRAPH_FAILED;
    }
  }
  graph->outputs.clear();
  for (const auto &[node, index] : outputs) {
    graph->outputs.emplace_back(NodeImpl::Of(node), static_cast<size_t>(index));
  }
  return GRAPH_SUCCESS;
}

Graph &Graph::SetTargets(const std::vector<Operator> &targets) {
  if (GraphImpl *graph = Built(impl_, "SetTargets")) {
    for (const Operator &op : targets) {
      const NodePtr node = op.IsEmpty() ? nullptr : graph->FindNode(OperatorImpl::Of(op)->name);
      if (node != nullptr) {
        graph->targets.push_back(node);
      } else {
        ReportWarning("SetTargets of graph [%s]: the graph has no node [%s], it is left out", graph->name.GetString(), NameOf(op));
      }
    }
  }
  return *this;
}

bool Graph::IsValid() const { return impl_ != nullptr && impl_->is_built; }

graphStatus Graph::SetValid() {
  if (impl_ == nullptr || impl_->is_built || impl_->fault.GetLength() > 0U) {
    return GRAPH_FAILED;
  }
  impl_->is_built = true;
  return GRAPH_SUCCESS;
}

graphStatus Graph::GetName(AscendString &name) const {
  if (impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  name = impl_->name;
  return GRAPH_SUCCESS;
}

// ---- the list beside the graph ----

graphStatus Graph::AddOp(const ge::Operator &op) {
  if (impl_ == nullptr || op.IsEmpty()) {
    return GRAPH_FAILED;
  }
  if (!impl_->listed.emplace(OperatorImpl::Of(op)->name, op).second) {
    ReportWarning("AddOp to graph [%s]: it has an operator [%s] already, the first stays", impl_->name.GetString(), NameOf(op));
  }
  return GRAPH_SUCCESS;
}

graphStatus Graph::FindOpByName(const char_t *name, ge::Operator &op) const {
  if (impl_ == nullptr || name == nullptr) {
    return GRAPH_FAILED;
  }
  const auto found = impl_->listed.find(AscendString(name));
  if (found == impl_->listed.end()) {
    return GRAPH_FAILED;
  }
  op = found->second;
  return GRAPH_SUCCESS;
}

graphStatus Graph::FindOpByType(const char_t *type, std::vector<ge::Operator> &ops) const {
  if (impl_ == nullptr || type == nullptr) {
    return GRAPH_FAILED;
  }
  for (const auto &[name, op] : impl_->listed) {
    if (OperatorImpl::Of(op)->type == type) {
      ops.push_back(op);
    }
  }
  return GRAPH_SUCCESS;
}

graphStatus Graph::GetAllOpName(std::vector<AscendString> &names) const {
  if (impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  for (const auto &[name, op] : impl_->listed) {
    names.push_back(name);
  }
  return GRAPH_SUCCESS;
}

// ---- nodes and edges ----

std::vector<GNode> Graph::GetAllNodes() const { return GetDirectNode(); }

std::vector<GNode> Graph::GetDirectNode() const {
  std::vector<GNode> found;
  if (IsValid()) {
    for (const NodePtr &node : impl_->nodes) {
      found.push_back(NodeImpl::Wrap(node));
    }
  }
  return found;
}

GNodePtr Graph::FindNodeByName(const AscendString &node_name) const {
  const NodePtr node = IsValid() ? impl_->FindNode(node_name) : nullptr;
  return node == nullptr ? nullptr : std::make_shared<GNode>(NodeImpl::Wrap(node));
}

GNode Graph::AddNodeByOp(const Operator &op) {
  if (impl_ == nullptr || op.IsEmpty() || impl_->fault.GetLength() > 0U || impl_->NodeOf(OperatorImpl::Of(op)) != nullptr) {
    ReportError("AddNodeByOp: the graph isn't usable, or the operator is empty or in the graph already");
    return GNode();
  }
  impl_->is_built = true;
  return NodeImpl::Wrap(impl_->Add(OperatorImpl::Of(op)));
}

graphStatus Graph::RemoveNode(GNode &node) {
  if (!IsValid() || !impl_->Has(NodeImpl::Of(node))) {
    return GRAPH_FAILED;
  }
  impl_->Remove(NodePtr(NodeImpl::Of(node)));
  return GRAPH_SUCCESS;
}

graphStatus Graph::AddDataEdge(GNode &src_node, const int32_t src_port_index, GNode &dst_node, const int32_t dst_port_index) {
  const NodePtr &source = NodeImpl::Of(src_node);
  const NodePtr &target = NodeImpl::Of(dst_node);
  if (!IsValid() || !impl_->Has(source) || !impl_->Has(target) || src_port_index < 0 || dst_port_index < 0) {
    return GRAPH_FAILED;
  }
  const auto output = static_cast<size_t>(src_port_index);
  const auto input = static_cast<size_t>(dst_port_index);
  if (output >= source->op->outputs.size() || input >= target->op->inputs.size() || target->inputs.count(input) > 0U) {
    return GRAPH_FAILED;
  }
  target->inputs[input] = NodeImpl::Edge{source, output};
  OperatorPort &port = target->op->inputs[input];
  if (!port.has_desc) {
    port.desc = TensorAdapter::Detach(source->op->outputs[output].desc);
    port.has_desc = source->op->outputs[output].has_desc;
  }
  return GRAPH_SUCCESS;
}

graphStatus Graph::AddControlEdge(GNode &src_node, GNode &dst_node) {
  const NodePtr &source = NodeImpl::Of(src_node);
  const NodePtr &target = NodeImpl::Of(dst_node);
  if (!IsValid() || !impl_->Has(source) || !impl_->Has(target)) {
    return GRAPH_FAILED;
  }
  target->control_sources.push_back(source);
  return GRAPH_SUCCESS;
}

graphStatus Graph::RemoveEdge(GNode &src_node, const int32_t src_port_index, GNode &dst_node, const int32_t dst_port_index) {
  const NodePtr &source = NodeImpl::Of(src_node);
  const NodePtr &target = NodeImpl::Of(dst_node);
  if (!IsValid() || !impl_->Has(source) || !impl_->Has(target)) {
    return GRAPH_FAILED;
  }
  if (src_port_index == -1 && dst_port_index == -1) {
    auto &controls = target->control_sources;
    const auto found =
        std::find_if(controls.begin(), controls.end(), [&](const std::weak_ptr<NodeImpl> &weak) { return weak.lock() == source; });
    if (found == controls.end()) {
      return GRAPH_FAILED;
    }
    (void)controls.erase(found);
    return GRAPH_SUCCESS;
  }
  const auto edge = dst_port_index < 0 ? target->inputs.end() : target->inputs.find(static_cast<size_t>(dst_port_index));
  if (edge == target->inputs.end() || edge->second.source.lock() != source || src_port_index < 0 ||
      edge->second.output != static_cast<size_t>(src_port_index)) {
    return GRAPH_FAILED;
  }
  (void)target->inputs.erase(edge);
  return GRAPH_SUCCESS;
}

GraphPtr Graph::ConstructFromInputs(const std::vector<Operator> &inputs, const AscendString &name) {
  auto graph = std::make_shared<Graph>(name.GetString());
  (void)graph->SetInputs(inputs);
  return graph->IsValid() ? graph : nullptr;
}

graphStatus Graph::SetAttr(const AscendString &name, const AttrValue &attr_value) {
  if (impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  impl_->attrs[name] = opkit_sim::graph::ValueOf(attr_value);
  return GRAPH_SUCCESS;
}

graphStatus Graph::GetAttr(const AscendString &name, AttrValue &attr_value) const {
  return impl_ == nullptr ? GRAPH_FAILED : opkit_sim::graph::LoadValue(impl_->attrs, name, attr_value);
}

}  // namespace ge
