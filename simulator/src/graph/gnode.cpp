#include "graph/gnode.h"

#include "graph/attr_value_impl.h"
#include "graph/graph_impl.h"
#include "graph/operator_registry.h"
#include "metadef/tensor_internal.h"

namespace ge {

using opkit_sim::graph::AttrMap;

namespace {

OperatorPort *Port(OperatorImpl::Ports &ports, int64_t index) {
  return index < 0 ? nullptr : OperatorImpl::At(ports, static_cast<size_t>(index));
}

GNodePtr Handle(const NodePtr &node) { return std::make_shared<GNode>(NodeImpl::Wrap(node)); }

graphStatus FindIndex(const OperatorImpl::Ports &ports, const AscendString &name, int32_t &index) {
  const size_t found = OperatorImpl::IndexOf(ports, name);
  if (found == opkit_sim::graph::kNone) {
    return GRAPH_FAILED;
  }
  index = static_cast<int32_t>(found);
  return GRAPH_SUCCESS;
}

graphStatus FindMembers(const OperatorImpl::Ports &ports, const std::vector<opkit_sim::graph::PortDecl> &decls, const AscendString &name,
                        std::vector<int32_t> &indexes) {
  for (size_t i = 0U; i < ports.size(); ++i) {
    const opkit_sim::graph::PortDecl &decl = decls[ports[i].decl];
    if (decl.kind == opkit_sim::graph::PortKind::kDynamic && decl.name == name) {
      indexes.push_back(static_cast<int32_t>(i));
    }
  }
  return indexes.empty() ? GRAPH_FAILED : GRAPH_SUCCESS;
}

template <typename T>
graphStatus Load(const AttrMap &attrs, const AscendString &name, T &value) {
  const auto found = attrs.find(name);
  return found != attrs.end() && opkit_sim::graph::ReadAttr(found->second, value) ? GRAPH_SUCCESS : GRAPH_FAILED;
}

graphStatus LoadPort(const OperatorPort *port, const AscendString &name, AttrValue &value) {
  return port == nullptr ? GRAPH_FAILED : opkit_sim::graph::LoadValue(port->attrs, name, value);
}

graphStatus StorePort(OperatorPort *port, const AscendString &name, const AttrValue &value) {
  if (port == nullptr) {
    return GRAPH_FAILED;
  }
  port->attrs[name] = opkit_sim::graph::ValueOf(value);
  return GRAPH_SUCCESS;
}

}  // namespace

GNode::GNode() = default;

graphStatus GNode::GetType(AscendString &type) const {
  if (impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  type = impl_->op->type;
  return GRAPH_SUCCESS;
}

graphStatus GNode::GetName(AscendString &name) const {
  if (impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  name = impl_->op->name;
  return GRAPH_SUCCESS;
}

std::pair<GNodePtr, int32_t> GNode::GetInDataNodesAndPortIndexs(const int32_t index) const {
  if (impl_ != nullptr && index >= 0) {
    const auto edge = impl_->inputs.find(static_cast<size_t>(index));
    const NodePtr source = edge == impl_->inputs.end() ? nullptr : edge->second.source.lock();
    if (source != nullptr) {
      return {Handle(source), static_cast<int32_t>(edge->second.output)};
    }
  }
  return {nullptr, -1};
}

std::vector<std::pair<GNodePtr, int32_t>> GNode::GetOutDataNodesAndPortIndexs(const int32_t index) const {
  std::vector<std::pair<GNodePtr, int32_t>> found;
  const GraphImplPtr graph = impl_ == nullptr ? nullptr : impl_->graph.lock();
  if (graph != nullptr && index >= 0) {
    for (const NodePtr &node : graph->nodes) {
      for (const auto &[input, edge] : node->inputs) {
        if (edge.source.lock() == impl_ && edge.output == static_cast<size_t>(index)) {
          found.emplace_back(Handle(node), static_cast<int32_t>(input));
        }
      }
    }
  }
  return found;
}

std::vector<GNodePtr> GNode::GetInControlNodes() const {
  std::vector<GNodePtr> found;
  if (impl_ != nullptr) {
    for (const std::weak_ptr<NodeImpl> &weak : impl_->control_sources) {
      if (const NodePtr source = weak.lock()) {
        found.push_back(Handle(source));
      }
    }
  }
  return found;
}

std::vector<GNodePtr> GNode::GetOutControlNodes() const {
  std::vector<GNodePtr> found;
  const GraphImplPtr graph = impl_ == nullptr ? nullptr : impl_->graph.lock();
  if (graph != nullptr) {
    for (const NodePtr &node : graph->nodes) {
      for (const std::weak_ptr<NodeImpl> &weak : node->control_sources) {
        if (weak.lock() == impl_) {
          found.push_back(Handle(node));
        }
      }
    }
  }
  return found;
}

graphStatus GNode::GetInputConstData(const int32_t index, Tensor &data) const {
  if (impl_ == nullptr || index < 0) {
    return GRAPH_FAILED;
  }
  const auto edge = impl_->inputs.find(static_cast<size_t>(index));
  const NodePtr source = edge == impl_->inputs.end() ? nullptr : edge->second.source.lock();
  return source != nullptr && opkit_sim::graph::IsConstType(source->op->type) ? Load(source->op->attrs, "value", data) : GRAPH_FAILED;
}

graphStatus GNode::GetInputIndexByName(const AscendString &name, int32_t &index) {
  return impl_ == nullptr ? GRAPH_FAILED : FindIndex(impl_->op->inputs, name, index);
}

graphStatus GNode::GetOutputIndexByName(const AscendString &name, int32_t &index) {
  return impl_ == nullptr ? GRAPH_FAILED : FindIndex(impl_->op->outputs, name, index);
}

graphStatus GNode::GetDynamicInputIndexesByName(const AscendString &name, std::vector<int32_t> &indexes) {
  return impl_ == nullptr ? GRAPH_FAILED : FindMembers(impl_->op->inputs, impl_->op->proto.inputs, name, indexes);
}

graphStatus GNode::GetDynamicOutputIndexesByName(const AscendString &name, std::vector<int32_t> &indexes) {
  return impl_ == nullptr ? GRAPH_FAILED : FindMembers(impl_->op->outputs, impl_->op->proto.outputs, name, indexes);
}

size_t GNode::GetInputsSize() const { return impl_ == nullptr ? 0U : OperatorImpl::Wrap(impl_->op).GetInputsSize(); }

size_t GNode::GetOutputsSize() const { return impl_ == nullptr ? 0U : impl_->op->outputs.size(); }

graphStatus GNode::GetInputDesc(const int32_t index, TensorDesc &tensor_desc) const {
  const OperatorPort *port = impl_ == nullptr ? nullptr : Port(impl_->op->inputs, index);
  if (port == nullptr) {
    return GRAPH_FAILED;
  }
  tensor_desc = TensorAdapter::Detach(port->desc);
  return GRAPH_SUCCESS;
}

graphStatus GNode::UpdateInputDesc(const int32_t index, const TensorDesc &tensor_desc) {
  return impl_ == nullptr || index < 0 ? GRAPH_FAILED
                                       : OperatorImpl::Wrap(impl_->op).UpdateInputDesc(static_cast<uint32_t>(index), tensor_desc);
}

graphStatus GNode::GetOutputDesc(const int32_t index, TensorDesc &tensor_desc) const {
  const OperatorPort *port = impl_ == nullptr ? nullptr : Port(impl_->op->outputs, index);
  if (port == nullptr) {
    return GRAPH_FAILED;
  }
  tensor_desc = TensorAdapter::Detach(port->desc);
  return GRAPH_SUCCESS;
}

graphStatus GNode::UpdateOutputDesc(const int32_t index, const TensorDesc &tensor_desc) {
  OperatorPort *port = impl_ == nullptr ? nullptr : Port(impl_->op->outputs, index);
  if (port == nullptr) {
    return GRAPH_FAILED;
  }
  port->desc = TensorAdapter::Detach(tensor_desc);
  port->has_desc = true;
  return GRAPH_SUCCESS;
}

#define OPKIT_SIM_GNODE_ATTR(...)                                                       \
  graphStatus GNode::GetAttr(const AscendString &name, __VA_ARGS__ &attr_value) const { \
    return impl_ == nullptr ? GRAPH_FAILED : Load(impl_->op->attrs, name, attr_value);  \
  }                                                                                     \
  graphStatus GNode::SetAttr(const AscendString &name, __VA_ARGS__ &attr_value) const { \
    if (impl_ == nullptr) {                                                             \
      return GRAPH_FAILED;                                                              \
    }                                                                                   \
    impl_->op->attrs[name] = opkit_sim::graph::MakeAttr(attr_value);                    \
    return GRAPH_SUCCESS;                                                               \
  }
OPKIT_SIM_GNODE_ATTR(int64_t)
OPKIT_SIM_GNODE_ATTR(int32_t)
OPKIT_SIM_GNODE_ATTR(uint32_t)
OPKIT_SIM_GNODE_ATTR(float32_t)
OPKIT_SIM_GNODE_ATTR(bool)
OPKIT_SIM_GNODE_ATTR(AscendString)
OPKIT_SIM_GNODE_ATTR(ge::DataType)
OPKIT_SIM_GNODE_ATTR(Tensor)
OPKIT_SIM_GNODE_ATTR(OpBytes)
OPKIT_SIM_GNODE_ATTR(std::vector<int64_t>)
OPKIT_SIM_GNODE_ATTR(std::vector<int32_t>)
OPKIT_SIM_GNODE_ATTR(std::vector<uint32_t>)
OPKIT_SIM_GNODE_ATTR(std::vector<float32_t>)
OPKIT_SIM_GNODE_ATTR(std::vector<bool>)
OPKIT_SIM_GNODE_ATTR(std::vector<AscendString>)
OPKIT_SIM_GNODE_ATTR(std::vector<ge::DataType>)
OPKIT_SIM_GNODE_ATTR(std::vector<Tensor>)
OPKIT_SIM_GNODE_ATTR(std::vector<std::vector<int64_t>>)
#undef OPKIT_SIM_GNODE_ATTR

graphStatus GNode::GetAttr(const AscendString &name, AttrValue &attr_value) const {
  return impl_ == nullptr ? GRAPH_FAILED : opkit_sim::graph::LoadValue(impl_->op->attrs, name, attr_value);
}

graphStatus GNode::SetAttr(const AscendString &name, AttrValue &attr_value) const {
  if (impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  impl_->op->attrs[name] = opkit_sim::graph::ValueOf(attr_value);
  return GRAPH_SUCCESS;
}

bool GNode::HasAttr(const AscendString &name) { return impl_ != nullptr && impl_->op->attrs.count(name) > 0U; }

graphStatus GNode::GetInputAttr(const AscendString &name, uint32_t input_index, AttrValue &attr_value) const {
  return impl_ == nullptr ? GRAPH_FAILED : LoadPort(Port(impl_->op->inputs, input_index), name, attr_value);
}

graphStatus GNode::SetInputAttr(const AscendString &name, uint32_t input_index, const AttrValue &attr_value) {
  return impl_ == nullptr ? GRAPH_FAILED : StorePort(Port(impl_->op->inputs, input_index), name, attr_value);
}

graphStatus GNode::GetOutputAttr(const AscendString &name, uint32_t output_index, AttrValue &attr_value) const {
  return impl_ == nullptr ? GRAPH_FAILED : LoadPort(Port(impl_->op->outputs, output_index), name, attr_value);
}

graphStatus GNode::SetOutputAttr(const AscendString &name, uint32_t output_index, const AttrValue &attr_value) {
  return impl_ == nullptr ? GRAPH_FAILED : StorePort(Port(impl_->op->outputs, output_index), name, attr_value);
}

}  // namespace ge
