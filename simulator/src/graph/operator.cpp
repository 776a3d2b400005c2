#include "graph/operator.h"

#include <string>

#include "graph/attr_value_impl.h"
#include "graph/graph.h"
#include "graph/operator_impl.h"
#include "graph/operator_registry.h"
#include "metadef/report.h"
#include "metadef/tensor_internal.h"

namespace ge {

using opkit_sim::graph::kNone;
using opkit_sim::graph::PortKind;

namespace {

AscendString MemberName(const char_t *name, uint32_t index) {
  return AscendString((std::string(name == nullptr ? "" : name) + std::to_string(index)).c_str());
}

TensorDesc DescOf(const OperatorPort *port) { return port == nullptr ? TensorDesc() : TensorAdapter::Detach(port->desc); }

graphStatus SetInputDesc(OperatorPort *port, const TensorDesc &desc) {
  if (port == nullptr) {
    return GRAPH_FAILED;
  }
  port->desc = TensorAdapter::Detach(desc);
  port->has_desc = true;
  return GRAPH_SUCCESS;
}

OperatorPort *DynamicMember(OperatorImpl::Ports &ports, const std::vector<opkit_sim::graph::PortDecl> &decls, const char_t *name,
                            uint32_t index) {
  OperatorPort *port = OperatorImpl::Find(ports, MemberName(name, index));
  return port != nullptr && decls[port->decl].kind == PortKind::kDynamic && decls[port->decl].name == name ? port : nullptr;
}

}  // namespace

Operator::Operator(const char_t *type) {
  if (type != nullptr) {
    operator_impl_ = std::make_shared<OperatorImpl>(opkit_sim::graph::NameForType(type), AscendString(type));
  }
}

Operator::Operator(const char_t *name, const char_t *type) {
  if (name != nullptr && type != nullptr) {
    operator_impl_ = std::make_shared<OperatorImpl>(AscendString(name), AscendString(type));
  }
}

Operator::Operator(const AscendString &name, const AscendString &type) : operator_impl_(std::make_shared<OperatorImpl>(name, type)) {}

Operator::Operator(OperatorImplPtr &&op_impl) : operator_impl_(std::move(op_impl)) {}

bool Operator::IsEmpty() const { return operator_impl_ == nullptr; }

graphStatus Operator::GetName(AscendString &name) const {
  if (operator_impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  name = operator_impl_->name;
  return GRAPH_SUCCESS;
}

graphStatus Operator::GetOpType(AscendString &type) const {
  if (operator_impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  type = operator_impl_->type;
  return GRAPH_SUCCESS;
}

// ---- wiring ----

Operator &Operator::SetInput(const char_t *dst_name, const Operator &src_oprt) {
  if (operator_impl_ != nullptr && src_oprt.operator_impl_ != nullptr && src_oprt.GetOutputsSize() > 1U) {
    operator_impl_->Refuse(AscendString(dst_name), src_oprt.operator_impl_);
    return *this;
  }
  return SetInput(dst_name, src_oprt, 0U);
}

Operator &Operator::SetInput(const char_t *dst_name, const Operator &src_oprt, const char_t *name) {
  if (operator_impl_ != nullptr) {
    operator_impl_->Connect(AscendString(dst_name), src_oprt.operator_impl_, AscendString(name));
  }
  return *this;
}

Operator &Operator::SetInput(const char_t *dst_name, const Operator &src_oprt, uint32_t index) {
  const OperatorPort *output = src_oprt.operator_impl_ == nullptr ? nullptr : OperatorImpl::At(src_oprt.operator_impl_->outputs, index);
  const std::string position = "#" + std::to_string(index);
  return SetInput(dst_name, src_oprt, output == nullptr ? position.c_str() : output->name.GetString());
}

Operator &Operator::SetInput(uint32_t dst_index, const Operator &src_oprt, uint32_t src_index) {
  const OperatorPort *input = operator_impl_ == nullptr ? nullptr : OperatorImpl::At(operator_impl_->inputs, dst_index);
  const std::string position = "#" + std::to_string(dst_index);
  return SetInput(input == nullptr ? position.c_str() : input->name.GetString(), src_oprt, src_index);
}

Operator &Operator::SetInput(const char_t *dst_name, uint32_t dst_index, const Operator &src_oprt, const char_t *name) {
  return SetInput(MemberName(dst_name, dst_index).GetString(), src_oprt, name);
}

Operator &Operator::SetInput(const char_t *dst_name, uint32_t dst_index, const Operator &src_oprt) {
  return SetInput(MemberName(dst_name, dst_index).GetString(), src_oprt);
}

Operator &Operator::AddControlInput(const Operator &src_oprt) {
  if (operator_impl_ == nullptr || src_oprt.operator_impl_ == nullptr) {
    opkit_sim::ReportError("a control input needs two operators that aren't empty");
    return *this;
  }
  for (const OperatorImplPtr &source : operator_impl_->control_sources) {
    if (source == src_oprt.operator_impl_) {
      return *this;
    }
  }
  operator_impl_->control_sources.push_back(src_oprt.operator_impl_);
  src_oprt.operator_impl_->control_consumers.push_back(operator_impl_);
  return *this;
}

void Operator::BreakConnect() const {
  if (operator_impl_ != nullptr) {
    operator_impl_->Disconnect();
  }
}

graphStatus Operator::GetInputConstData(const char_t *dst_name, Tensor &data) const {
  const OperatorPort *port = operator_impl_ == nullptr ? nullptr : OperatorImpl::Find(operator_impl_->inputs, AscendString(dst_name));
  if (port == nullptr || port->source == nullptr || !opkit_sim::graph::IsConstType(port->source->type)) {
    return GRAPH_FAILED;
  }
  return OperatorImpl::Wrap(port->source).GetAttr("value", data);
}

// ---- descs ----

TensorDesc Operator::GetInputDescByName(const char_t *name) const {
  return operator_impl_ == nullptr ? TensorDesc() : DescOf(OperatorImpl::Find(operator_impl_->inputs, AscendString(name)));
}

TensorDesc Operator::GetInputDesc(uint32_t index) const {
  return operator_impl_ == nullptr ? TensorDesc() : DescOf(OperatorImpl::At(operator_impl_->inputs, index));
}

graphStatus Operator::TryGetInputDesc(const char_t *name, TensorDesc &tensor_desc) const {
  const OperatorPort *port = operator_impl_ == nullptr ? nullptr : OperatorImpl::Find(operator_impl_->inputs, AscendString(name));
  if (port == nullptr || !operator_impl_->Counts(*port)) {
    return GRAPH_FAILED;
  }
  tensor_desc = DescOf(port);
  return GRAPH_SUCCESS;
}

graphStatus Operator::UpdateInputDesc(const char_t *name, const TensorDesc &tensor_desc) {
  return operator_impl_ == nullptr ? GRAPH_FAILED
                                   : SetInputDesc(OperatorImpl::Find(operator_impl_->inputs, AscendString(name)), tensor_desc);
}

graphStatus Operator::UpdateInputDesc(const uint32_t index, const TensorDesc &tensor_desc) {
  return operator_impl_ == nullptr ? GRAPH_FAILED : SetInputDesc(OperatorImpl::At(operator_impl_->inputs, index), tensor_desc);
}

TensorDesc Operator::GetOutputDescByName(const char_t *name) const {
  return operator_impl_ == nullptr ? TensorDesc() : DescOf(OperatorImpl::Find(operator_impl_->outputs, AscendString(name)));
}

TensorDesc Operator::GetOutputDesc(uint32_t index) const {
  return operator_impl_ == nullptr ? TensorDesc() : DescOf(OperatorImpl::At(operator_impl_->outputs, index));
}

graphStatus Operator::UpdateOutputDesc(const char_t *name, const TensorDesc &tensor_desc) {
  OperatorPort *port = operator_impl_ == nullptr ? nullptr : OperatorImpl::Find(operator_impl_->outputs, AscendString(name));
  return port == nullptr ? GRAPH_FAILED : operator_impl_->UpdateOutput(*port, tensor_desc);
}

graphStatus Operator::UpdateOutputDesc(const uint32_t index, const TensorDesc &tensor_desc) {
  OperatorPort *port = operator_impl_ == nullptr ? nullptr : OperatorImpl::At(operator_impl_->outputs, index);
  return port == nullptr ? GRAPH_FAILED : operator_impl_->UpdateOutput(*port, tensor_desc);
}

// ---- dynamic ports ----

int32_t Operator::GetDynamicInputNum(const char_t *name) const {
  return operator_impl_ == nullptr
             ? 0
             : static_cast<int32_t>(OperatorImpl::MembersOf(operator_impl_->inputs, operator_impl_->proto.inputs, AscendString(name)));
}

int32_t Operator::GetDynamicOutputNum(const char_t *name) const {
  return operator_impl_ == nullptr
             ? 0
             : static_cast<int32_t>(OperatorImpl::MembersOf(operator_impl_->outputs, operator_impl_->proto.outputs, AscendString(name)));
}

TensorDesc Operator::GetDynamicInputDesc(const char_t *name, uint32_t index) const {
  return operator_impl_ == nullptr ? TensorDesc()
                                   : DescOf(DynamicMember(operator_impl_->inputs, operator_impl_->proto.inputs, name, index));
}

TensorDesc Operator::GetDynamicOutputDesc(const char_t *name, uint32_t index) const {
  return operator_impl_ == nullptr ? TensorDesc()
                                   : DescOf(DynamicMember(operator_impl_->outputs, operator_impl_->proto.outputs, name, index));
}

graphStatus Operator::UpdateDynamicInputDesc(const char_t *name, uint32_t index, const TensorDesc &tensor_desc) {
  return operator_impl_ == nullptr
             ? GRAPH_FAILED
             : SetInputDesc(DynamicMember(operator_impl_->inputs, operator_impl_->proto.inputs, name, index), tensor_desc);
}

graphStatus Operator::UpdateDynamicOutputDesc(const char_t *name, uint32_t index, const TensorDesc &tensor_desc) {
  OperatorPort *port =
      operator_impl_ == nullptr ? nullptr : DynamicMember(operator_impl_->outputs, operator_impl_->proto.outputs, name, index);
  return port == nullptr ? GRAPH_FAILED : operator_impl_->UpdateOutput(*port, tensor_desc);
}

void Operator::DynamicInputRegister(const char_t *name, const uint32_t num, bool is_push_back) {
  DynamicInputRegister(name, num, "", is_push_back);
}

void Operator::DynamicInputRegister(const char_t *name, const uint32_t num, const char_t *datatype_symbol, bool is_push_back) {
  if (operator_impl_ != nullptr && name != nullptr && datatype_symbol != nullptr) {
    operator_impl_->AddMembers(operator_impl_->inputs, operator_impl_->proto.inputs, name, num, datatype_symbol, is_push_back ? kNone : 0U);
  }
}

void Operator::DynamicInputRegisterByIndex(const char_t *name, const uint32_t num, size_t index) {
  if (operator_impl_ != nullptr && name != nullptr) {
    operator_impl_->AddMembers(operator_impl_->inputs, operator_impl_->proto.inputs, name, num, "", index);
  }
}

void Operator::DynamicOutputRegister(const char_t *name, const uint32_t num, bool is_push_back) {
  DynamicOutputRegister(name, num, "", is_push_back);
}

void Operator::DynamicOutputRegister(const char_t *name, const uint32_t num, const char_t *datatype_symbol, bool is_push_back) {
  if (operator_impl_ != nullptr && name != nullptr && datatype_symbol != nullptr) {
    operator_impl_->AddMembers(operator_impl_->outputs, operator_impl_->proto.outputs, name, num, datatype_symbol,
                               is_push_back ? kNone : 0U);
  }
}

size_t Operator::GetInputsSize() const {
  size_t count = 0U;
  if (operator_impl_ != nullptr) {
    for (const OperatorPort &port : operator_impl_->inputs) {
      count += operator_impl_->Counts(port) ? 1U : 0U;
    }
  }
  return count;
}

size_t Operator::GetOutputsSize() const { return operator_impl_ == nullptr ? 0U : operator_impl_->outputs.size(); }

// ---- inference and verification ----

graphStatus Operator::InferShapeAndType() {
  const InferShapeFunc infer = operator_impl_ == nullptr ? nullptr : opkit_sim::graph::FindInferShape(operator_impl_->type);
  if (!infer) {
    opkit_sim::ReportError("no shape inference is registered for op type [%s]",
                           operator_impl_ == nullptr ? "" : operator_impl_->type.GetString());
    return GRAPH_FAILED;
  }
  return infer(*this);
}

graphStatus Operator::VerifyAllAttr(bool disable_common_verifier) {
  if (operator_impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  if (!disable_common_verifier) {
    for (const opkit_sim::graph::AttrDecl &decl : operator_impl_->proto.attrs) {
      if (decl.is_required && operator_impl_->attrs.find(decl.name) == operator_impl_->attrs.end()) {
        opkit_sim::ReportError("required attribute [%s] of op [%s] (%s) is not set", decl.name.GetString(),
                               operator_impl_->name.GetString(), operator_impl_->type.GetString());
        return GRAPH_FAILED;
      }
    }
  }
  const VerifyFunc verify = opkit_sim::graph::FindVerify(operator_impl_->type);
  return verify ? verify(*this) : GRAPH_SUCCESS;
}

void Operator::SetInferenceContext(const InferenceContextPtr &inference_context) {
  if (operator_impl_ != nullptr) {
    operator_impl_->inference_context = inference_context;
  }
}

InferenceContextPtr Operator::GetInferenceContext() const {
  return operator_impl_ == nullptr ? nullptr : operator_impl_->inference_context;
}

}  // namespace ge
