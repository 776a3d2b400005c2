// Attribute calls of ge::Operator, on the node and on its ports.
#include <algorithm>

#include "graph/attr_value_impl.h"
#include "graph/operator_impl.h"

namespace ge {

using opkit_sim::graph::Attr;
using opkit_sim::graph::AttrDecl;
using opkit_sim::graph::AttrMap;
using opkit_sim::graph::AttrTypeName;
using opkit_sim::graph::MakeAttr;
using opkit_sim::graph::ReadAttr;

namespace {

void Store(AttrMap *attrs, const char_t *name, Attr value) {
  if (attrs != nullptr && name != nullptr) {
    (*attrs)[AscendString(name)] = std::move(value);
  }
}

template <typename T>
graphStatus Load(const AttrMap *attrs, const char_t *name, T &value) {
  if (attrs == nullptr || name == nullptr) {
    return GRAPH_FAILED;
  }
  const auto found = attrs->find(AscendString(name));
  return found != attrs->end() && ReadAttr(found->second, value) ? GRAPH_SUCCESS : GRAPH_FAILED;
}

AttrMap *NodeAttrs(const OperatorImplPtr &impl) { return impl == nullptr ? nullptr : &impl->attrs; }

AttrMap *PortAttrs(OperatorPort *port) { return port == nullptr ? nullptr : &port->attrs; }

AttrMap *InputAttrs(const OperatorImplPtr &impl, const char_t *name) {
  return impl == nullptr ? nullptr : PortAttrs(OperatorImpl::Find(impl->inputs, AscendString(name)));
}

AttrMap *OutputAttrs(const OperatorImplPtr &impl, const char_t *name) {
  return impl == nullptr ? nullptr : PortAttrs(OperatorImpl::Find(impl->outputs, AscendString(name)));
}

AttrMap *InputAttrs(const OperatorImplPtr &impl, int32_t index) {
  return impl == nullptr || index < 0 ? nullptr : PortAttrs(OperatorImpl::At(impl->inputs, static_cast<size_t>(index)));
}

AttrMap *OutputAttrs(const OperatorImplPtr &impl, int32_t index) {
  return impl == nullptr || index < 0 ? nullptr : PortAttrs(OperatorImpl::At(impl->outputs, static_cast<size_t>(index)));
}

void Declare(const OperatorImplPtr &impl, const char_t *name, const char_t *type, bool is_required, const Attr &default_value) {
  if (impl == nullptr || name == nullptr) {
    return;
  }
  AttrDecl decl;
  decl.name = AscendString(name);
  decl.type = AscendString(type);
  decl.is_required = is_required;
  decl.default_value = default_value;
  const auto found =
      std::find_if(impl->proto.attrs.begin(), impl->proto.attrs.end(), [&](const AttrDecl &other) { return other.name == decl.name; });
  if (found != impl->proto.attrs.end()) {
    return;
  }
  impl->proto.attrs.push_back(decl);
  if (!is_required) {
    impl->attrs[decl.name] = default_value;
  }
}

}  // namespace

#define OPKIT_SIM_OPERATOR_ATTR(by_value, ...)                                       \
  Operator &Operator::SetAttr(const char_t *name, by_value attr_value) {             \
    Store(NodeAttrs(operator_impl_), name, MakeAttr(attr_value));                    \
    return *this;                                                                    \
  }                                                                                  \
  graphStatus Operator::GetAttr(const char_t *name, __VA_ARGS__ &attr_value) const { \
    return Load(NodeAttrs(operator_impl_), name, attr_value);                        \
  }
#define OPKIT_SIM_OPERATOR_ATTR_REF(...) OPKIT_SIM_OPERATOR_ATTR(const __VA_ARGS__ &, __VA_ARGS__)
OPKIT_SIM_OPERATOR_ATTR(int64_t, int64_t)
OPKIT_SIM_OPERATOR_ATTR(int32_t, int32_t)
OPKIT_SIM_OPERATOR_ATTR(uint32_t, uint32_t)
OPKIT_SIM_OPERATOR_ATTR(float32_t, float32_t)
OPKIT_SIM_OPERATOR_ATTR(bool, bool)
OPKIT_SIM_OPERATOR_ATTR_REF(AscendString)
OPKIT_SIM_OPERATOR_ATTR_REF(ge::DataType)
OPKIT_SIM_OPERATOR_ATTR_REF(Tensor)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<uint8_t>)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<int64_t>)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<int32_t>)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<uint32_t>)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<float32_t>)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<bool>)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<AscendString>)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<ge::DataType>)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<Tensor>)
OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<std::vector<int64_t>>)
#undef OPKIT_SIM_OPERATOR_ATTR_REF
#undef OPKIT_SIM_OPERATOR_ATTR

Operator &Operator::SetAttr(const char_t *name, std::initializer_list<int64_t> &&attr_value) {
  return SetAttr(name, std::vector<int64_t>(attr_value));
}

Operator &Operator::SetAttr(const char_t *name, const char_t *attr_value) { return SetAttr(name, AscendString(attr_value)); }

Operator &Operator::SetAttr(const char_t *name, AttrValue &&attr_value) {
  return SetAttr(name, static_cast<const AttrValue &>(attr_value));
}

Operator &Operator::SetAttr(const char_t *name, const AttrValue &attr_value) {
  Store(NodeAttrs(operator_impl_), name, opkit_sim::graph::ValueOf(attr_value));
  return *this;
}

graphStatus Operator::GetAttr(const char_t *name, AttrValue &attr_value) const {
  return operator_impl_ == nullptr ? GRAPH_FAILED : opkit_sim::graph::LoadValue(operator_impl_->attrs, AscendString(name), attr_value);
}

graphStatus Operator::GetAllAttrNamesAndTypes(std::map<AscendString, AscendString> &attr_name_types) const {
  const graphStatus status = GetAllIrAttrNamesAndTypes(attr_name_types);
  if (status == GRAPH_SUCCESS) {
    for (const auto &[name, value] : operator_impl_->attrs) {
      (void)attr_name_types.emplace(name, AscendString(AttrTypeName(value)));
    }
  }
  return status;
}

graphStatus Operator::GetAllIrAttrNamesAndTypes(std::map<AscendString, AscendString> &attr_name_types) const {
  if (operator_impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  for (const AttrDecl &decl : operator_impl_->proto.attrs) {
    attr_name_types[decl.name] = decl.type;
  }
  return GRAPH_SUCCESS;
}

#define OPKIT_SIM_PORT_ATTR_OF(Side, Key, by_value, ...)                                               \
  Operator &Operator::Set##Side##Attr(Key port, const char_t *name, by_value attr_value) {             \
    Store(Side##Attrs(operator_impl_, port), name, MakeAttr(attr_value));                              \
    return *this;                                                                                      \
  }                                                                                                    \
  graphStatus Operator::Get##Side##Attr(Key port, const char_t *name, __VA_ARGS__ &attr_value) const { \
    return Load(Side##Attrs(operator_impl_, port), name, attr_value);                                  \
  }
#define OPKIT_SIM_PORT_ATTR(by_value, ...)                             \
  OPKIT_SIM_PORT_ATTR_OF(Input, const int32_t, by_value, __VA_ARGS__)  \
  OPKIT_SIM_PORT_ATTR_OF(Output, const int32_t, by_value, __VA_ARGS__) \
  OPKIT_SIM_PORT_ATTR_OF(Input, const char_t *, by_value, __VA_ARGS__) \
  OPKIT_SIM_PORT_ATTR_OF(Output, const char_t *, by_value, __VA_ARGS__)
#define OPKIT_SIM_PORT_ATTR_REF(...) OPKIT_SIM_PORT_ATTR(const __VA_ARGS__ &, __VA_ARGS__)
OPKIT_SIM_PORT_ATTR(int64_t, int64_t)
OPKIT_SIM_PORT_ATTR(int32_t, int32_t)
OPKIT_SIM_PORT_ATTR(uint32_t, uint32_t)
OPKIT_SIM_PORT_ATTR(float32_t, float32_t)
OPKIT_SIM_PORT_ATTR(bool, bool)
OPKIT_SIM_PORT_ATTR_REF(AscendString)
OPKIT_SIM_PORT_ATTR_REF(std::vector<AscendString>)
OPKIT_SIM_PORT_ATTR_REF(std::vector<int64_t>)
OPKIT_SIM_PORT_ATTR_REF(std::vector<int32_t>)
OPKIT_SIM_PORT_ATTR_REF(std::vector<uint32_t>)
OPKIT_SIM_PORT_ATTR_REF(std::vector<bool>)
OPKIT_SIM_PORT_ATTR_REF(std::vector<float32_t>)
#undef OPKIT_SIM_PORT_ATTR_REF
#undef OPKIT_SIM_PORT_ATTR
#undef OPKIT_SIM_PORT_ATTR_OF

Operator &Operator::SetInputAttr(const int32_t index, const char_t *name, const char_t *attr_value) {
  return SetInputAttr(index, name, AscendString(attr_value));
}
Operator &Operator::SetOutputAttr(const int32_t index, const char_t *name, const char_t *attr_value) {
  return SetOutputAttr(index, name, AscendString(attr_value));
}
Operator &Operator::SetInputAttr(const char_t *dst_name, const char_t *name, const char_t *attr_value) {
  return SetInputAttr(dst_name, name, AscendString(attr_value));
}
Operator &Operator::SetOutputAttr(const char_t *dst_name, const char_t *name, const char_t *attr_value) {
  return SetOutputAttr(dst_name, name, AscendString(attr_value));
}

#define OPKIT_SIM_ATTR_REGISTER(by_value)                                \
  void Operator::AttrRegister(const char_t *name, by_value attr_value) { \
    const Attr value = MakeAttr(attr_value);                             \
    Declare(operator_impl_, name, AttrTypeName(value), false, value);    \
  }
OPKIT_SIM_ATTR_REGISTER(int64_t)
OPKIT_SIM_ATTR_REGISTER(float32_t)
OPKIT_SIM_ATTR_REGISTER(bool)
OPKIT_SIM_ATTR_REGISTER(const AscendString &)
OPKIT_SIM_ATTR_REGISTER(const ge::DataType &)
OPKIT_SIM_ATTR_REGISTER(const Tensor &)
OPKIT_SIM_ATTR_REGISTER(const OpBytes &)
OPKIT_SIM_ATTR_REGISTER(const std::vector<int64_t> &)
OPKIT_SIM_ATTR_REGISTER(const std::vector<float32_t> &)
OPKIT_SIM_ATTR_REGISTER(const std::vector<bool> &)
OPKIT_SIM_ATTR_REGISTER(const std::vector<AscendString> &)
OPKIT_SIM_ATTR_REGISTER(const std::vector<ge::DataType> &)
OPKIT_SIM_ATTR_REGISTER(const std::vector<Tensor> &)
OPKIT_SIM_ATTR_REGISTER(const std::vector<std::vector<int64_t>> &)
#undef OPKIT_SIM_ATTR_REGISTER

void Operator::AttrRegister(const char_t *name, const char_t *attr_value) { AttrRegister(name, AscendString(attr_value)); }

void Operator::AttrRegister(const char_t *name, const AttrValue &attr_value) {
  const Attr value = opkit_sim::graph::ValueOf(attr_value);
  Declare(operator_impl_, name, AttrTypeName(value), false, value);
}

void Operator::RequiredAttrRegister(const char_t *name) { RequiredAttrWithTypeRegister(name, ""); }

void Operator::RequiredAttrWithTypeRegister(const char_t *name, const char_t *type) {
  // Both spellings of a string attribute are one type.
  const AscendString spelled(type);
  const char_t *stored = spelled == "AscendString" ? "String" : spelled == "ListAscendString" ? "ListString" : spelled.GetString();
  Declare(operator_impl_, name, stored, true, Attr());
}

}  // namespace ge
