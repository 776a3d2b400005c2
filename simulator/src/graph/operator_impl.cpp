#include "graph/operator_impl.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "metadef/report.h"
#include "metadef/tensor_internal.h"

namespace ge {

using opkit_sim::graph::kNone;
using opkit_sim::graph::PortDecl;
using opkit_sim::graph::PortKind;

OperatorPort *OperatorImpl::Find(Ports &ports, const AscendString &port_name) { return At(ports, IndexOf(ports, port_name)); }

size_t OperatorImpl::IndexOf(const Ports &ports, const AscendString &port_name) {
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const OperatorPort &port) { return port.name == port_name; });
  return found == ports.end() ? kNone : static_cast<size_t>(found - ports.begin());
}

size_t OperatorImpl::MembersOf(const Ports &ports, const std::vector<PortDecl> &decls, const AscendString &port_name) {
  return static_cast<size_t>(std::count_if(ports.begin(), ports.end(), [&](const OperatorPort &port) {
    return decls[port.decl].kind == PortKind::kDynamic && decls[port.decl].name == port_name;
  }));
}

size_t OperatorImpl::Declare(std::vector<PortDecl> &decls, const char *port_name, PortKind kind, const char *dtype) {
  const AscendString key(port_name);
  const auto found = std::find_if(decls.begin(), decls.end(), [&](const PortDecl &decl) { return decl.name == key; });
  if (found != decls.end()) {
    return static_cast<size_t>(found - decls.begin());
  }
  PortDecl decl;
  decl.name = key;
  decl.kind = kind;
  const std::string text(dtype);
  decl.is_symbol = text.size() >= 2U && text.front() == '"' && text.back() == '"';
  decl.dtype = decl.is_symbol ? AscendString(text.c_str() + 1, text.size() - 2U) : AscendString(dtype);
  decls.push_back(decl);
  return decls.size() - 1U;
}

void OperatorImpl::AddPort(Ports &ports, size_t decl, const AscendString &port_name) {
  if (IndexOf(ports, port_name) != kNone) {
    return;
  }
  OperatorPort port;
  port.name = port_name;
  port.decl = decl;
  ports.push_back(port);
}

void OperatorImpl::AddMembers(Ports &ports, std::vector<PortDecl> &decls, const char *port_name, uint32_t num, const char *dtype,
                              size_t index) {
  const size_t decl = Declare(decls, port_name, PortKind::kDynamic, dtype);
  if (num == 0U) {
    return;
  }
  if (decls[decl].kind != PortKind::kDynamic || MembersOf(ports, decls, decls[decl].name) > 0U) {
    Remember("dynamic port [%s] of op [%s] already has members or isn't dynamic", port_name, name.GetString());
    return;
  }
  Ports members(num);
  for (uint32_t i = 0U; i < num; ++i) {
    members[i].name = AscendString((std::string(port_name) + std::to_string(i)).c_str());
    members[i].decl = decl;
    members[i].member = i;
  }
  const size_t at = std::min(index, ports.size());
  (void)ports.insert(ports.begin() + static_cast<std::ptrdiff_t>(at), members.begin(), members.end());
}

void OperatorImpl::Connect(const AscendString &input, const OperatorImplPtr &from, const AscendString &output) {
  OperatorPort *port = Find(inputs, input);
  if (port == nullptr) {
    Remember("op [%s] (%s) has no input [%s]", name.GetString(), type.GetString(), input.GetString());
    return;
  }
  if (from == nullptr) {
    Remember("input [%s] of op [%s] was wired to an empty operator", input.GetString(), name.GetString());
    return;
  }
  OperatorPort *source = Find(from->outputs, output);
  if (source == nullptr) {
    Remember("op [%s] (%s) has no output [%s] for input [%s] of op [%s]", from->name.GetString(), from->type.GetString(),
             output.GetString(), input.GetString(), name.GetString());
    return;
  }
  if (port->source != nullptr) {
    Remember("input [%s] of op [%s] was wired twice, to [%s] and then to [%s]", input.GetString(), name.GetString(),
             port->source->name.GetString(), from->name.GetString());
    return;
  }
  port->source = from;
  port->source_output = output;
  from->consumers.push_back(weak_from_this());
  // A format that was set on the input stays, and an input without one reads as ND whatever the source's is: the toolkits' rule.
  TensorDesc desc = TensorAdapter::Detach(source->desc);
  desc.SetFormat(port->has_desc ? port->desc.GetFormat() : FORMAT_ND);
  desc.SetOriginFormat(port->has_desc ? port->desc.GetOriginFormat() : FORMAT_ND);
  port->desc = desc;
  port->has_desc = port->has_desc || source->has_desc;
}

void OperatorImpl::Refuse(const AscendString &input, const OperatorImplPtr &from) {
  Remember(
      "input [%s] of op [%s] names no output of op [%s], which has %zu: a source without an output name must be a single output operator",
      input.GetString(), name.GetString(), from->name.GetString(), from->outputs.size());
}

void OperatorImpl::Disconnect() {
  for (OperatorPort &port : inputs) {
    port.source.reset();
    port.source_output = AscendString();
  }
  control_sources.clear();
  const auto forget = [this](std::vector<OperatorImplPtr> &sources) {
    sources.erase(std::remove(sources.begin(), sources.end(), shared_from_this()), sources.end());
  };
  for (const std::weak_ptr<OperatorImpl> &weak : consumers) {
    if (const OperatorImplPtr consumer = weak.lock()) {
      for (OperatorPort &port : consumer->inputs) {
        if (port.source.get() == this) {
          port.source.reset();
          port.source_output = AscendString();
        }
      }
    }
  }
  for (const std::weak_ptr<OperatorImpl> &weak : control_consumers) {
    if (const OperatorImplPtr consumer = weak.lock()) {
      forget(consumer->control_sources);
    }
  }
  consumers.clear();
  control_consumers.clear();
}

graphStatus OperatorImpl::UpdateOutput(OperatorPort &port, const TensorDesc &desc) {
  port.desc = TensorAdapter::Detach(desc);
  port.has_desc = true;
  for (const std::weak_ptr<OperatorImpl> &weak : consumers) {
    if (const OperatorImplPtr consumer = weak.lock()) {
      for (OperatorPort &fed : consumer->inputs) {
        if (fed.source.get() == this && fed.source_output == port.name) {
          fed.desc = TensorAdapter::Detach(desc);
          fed.has_desc = true;
        }
      }
    }
  }
  return GRAPH_SUCCESS;
}

bool OperatorImpl::Counts(const OperatorPort &port) const {
  return proto.inputs[port.decl].kind != PortKind::kOptional || port.source != nullptr || port.has_desc;
}

void OperatorImpl::Remember(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  (void)std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  opkit_sim::ReportError("%s", text);
  if (fault.GetLength() == 0U) {
    fault = AscendString(text);
  }
}

}  // namespace ge
