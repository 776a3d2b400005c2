// The hooks of ge::Operator that REG_OP calls to declare ports, type symbols and subgraphs.
#include <algorithm>

#include "graph/graph.h"
#include "graph/operator_impl.h"
#include "metadef/type_sets.h"

namespace ge {

using opkit_sim::graph::PortKind;
using opkit_sim::graph::SymbolDecl;

namespace {

void DeclareInput(const OperatorImplPtr &impl, const char_t *name, PortKind kind, const char_t *dtype) {
  if (impl != nullptr && name != nullptr && dtype != nullptr) {
    impl->AddPort(impl->inputs, impl->Declare(impl->proto.inputs, name, kind, dtype), AscendString(name));
  }
}

void DeclareSymbol(const OperatorImplPtr &impl, const char_t *name, SymbolDecl symbol) {
  if (impl != nullptr && name != nullptr) {
    symbol.name = AscendString(name);
    impl->proto.symbols.push_back(std::move(symbol));
  }
}

}  // namespace

void Operator::InputRegister(const char_t *name) { InputRegister(name, ""); }
void Operator::InputRegister(const char_t *name, const char_t *datatype_symbol) {
  DeclareInput(operator_impl_, name, PortKind::kRequired, datatype_symbol);
}

void Operator::OptionalInputRegister(const char_t *name) { OptionalInputRegister(name, ""); }
void Operator::OptionalInputRegister(const char_t *name, const char_t *datatype_symbol) {
  DeclareInput(operator_impl_, name, PortKind::kOptional, datatype_symbol);
}

void Operator::OutputRegister(const char_t *name) { OutputRegister(name, ""); }
void Operator::OutputRegister(const char_t *name, const char_t *datatype_symbol) {
  if (operator_impl_ != nullptr && name != nullptr && datatype_symbol != nullptr) {
    const size_t decl = operator_impl_->Declare(operator_impl_->proto.outputs, name, PortKind::kRequired, datatype_symbol);
    operator_impl_->AddPort(operator_impl_->outputs, decl, AscendString(name));
  }
}

void Operator::DataTypeRegister(const char_t *datatype_symbol, const TensorType &type_range) {
  SymbolDecl symbol;
  symbol.types = type_range.tensor_type_impl_->types;
  DeclareSymbol(operator_impl_, datatype_symbol, std::move(symbol));
}

void Operator::DataTypeRegister(const char_t *datatype_symbol, const ListTensorType &list_type_range) {
  SymbolDecl symbol;
  symbol.types = list_type_range.tensor_type.tensor_type_impl_->types;
  symbol.is_list = true;
  DeclareSymbol(operator_impl_, datatype_symbol, std::move(symbol));
}

void Operator::DataTypeRegister(const char_t *datatype_symbol, const Promote &promote_rule) {
  SymbolDecl symbol;
  for (const char *name : promote_rule.Syms()) {
    symbol.promotes.emplace_back(name);
  }
  DeclareSymbol(operator_impl_, datatype_symbol, std::move(symbol));
}

// ---- subgraphs ----

void Operator::SubgraphRegister(const char_t *ir_name, bool dynamic) {
  if (operator_impl_ != nullptr && ir_name != nullptr) {
    operator_impl_->proto.subgraphs.emplace_back(ir_name);
    (void)operator_impl_->subgraph_counts.emplace(AscendString(ir_name), dynamic ? 0U : 1U);
  }
}

void Operator::SubgraphCountRegister(const char_t *ir_name, uint32_t count) {
  if (operator_impl_ != nullptr && ir_name != nullptr) {
    operator_impl_->subgraph_counts[AscendString(ir_name)] = count;
  }
}

void Operator::SetSubgraphBuilder(const char_t *ir_name, uint32_t index, const SubgraphBuilder &builder) {
  if (operator_impl_ == nullptr || ir_name == nullptr) {
    return;
  }
  const auto count = operator_impl_->subgraph_counts.find(AscendString(ir_name));
  if (count != operator_impl_->subgraph_counts.end() && index < count->second) {
    operator_impl_->subgraph_builders[{AscendString(ir_name), index}] = builder;
  }
}

size_t Operator::GetSubgraphNamesCount() const { return operator_impl_ == nullptr ? 0U : operator_impl_->proto.subgraphs.size(); }

graphStatus Operator::GetSubgraphNames(std::vector<AscendString> &names) const {
  if (operator_impl_ == nullptr) {
    return GRAPH_FAILED;
  }
  names = operator_impl_->proto.subgraphs;
  return GRAPH_SUCCESS;
}

SubgraphBuilder Operator::GetSubgraphBuilder(const char_t *name) const { return GetDynamicSubgraphBuilder(name, 0U); }

SubgraphBuilder Operator::GetDynamicSubgraphBuilder(const char_t *name, uint32_t index) const {
  if (operator_impl_ == nullptr) {
    return nullptr;
  }
  const auto found = operator_impl_->subgraph_builders.find({AscendString(name), index});
  return found == operator_impl_->subgraph_builders.end() ? nullptr : found->second;
}

Graph Operator::GetSubgraph(const char_t *name) const { return GetDynamicSubgraph(name, 0U); }

Graph Operator::GetDynamicSubgraph(const char_t *name, uint32_t index) const {
  const SubgraphBuilder builder = GetDynamicSubgraphBuilder(name, index);
  return builder ? builder() : Graph();
}

}  // namespace ge
