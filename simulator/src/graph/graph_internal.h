// The door from graph building to the session: a finished graph as plain values that the session owns and may change.
//
// `Describe` copies: nothing in a GraphDesc is shared with the user's operators, so inference may overwrite descs freely, and an operator
// that is changed after AddGraph doesn't reach a graph that was added. Change a shape by SetShape: a copy of a GraphDesc shares dims (see
// ge::Shape). No std::string crosses here (the libraries serve both string ABIs).
#ifndef OPKIT_SIM_SRC_GRAPH_GRAPH_INTERNAL_H_
#define OPKIT_SIM_SRC_GRAPH_GRAPH_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/graph.h"
#include "graph/operator.h"
#include "graph/tensor.h"
#include "graph/types.h"

#include "graph/attr.h"

namespace opkit_sim::graph {

constexpr size_t kNone = static_cast<size_t>(-1);

enum class PortKind : uint32_t { kRequired, kOptional, kDynamic };

struct PortDecl {
  ge::AscendString name;
  PortKind kind = PortKind::kRequired;
  ge::AscendString dtype;  // the text in INPUT(x, <text>), with the quotes of a symbol removed
  bool is_symbol = false;  // the text was a string literal: it names a member of Proto::symbols
};

struct AttrDecl {
  ge::AscendString name;
  ge::AscendString type;  // as AttrTypeName
  bool is_required = false;
  Attr default_value;  // std::monostate for a required one
};

struct SymbolDecl {
  ge::AscendString name;
  std::vector<ge::DataType> types;         // empty if it promotes
  bool is_list = false;                    // ListTensorType: each member of a dynamic port on its own
  std::vector<ge::AscendString> promotes;  // the symbols that Promote names
};

// What REG_OP declared, in its order.
struct Proto {
  std::vector<PortDecl> inputs;
  std::vector<PortDecl> outputs;
  std::vector<AttrDecl> attrs;
  std::vector<SymbolDecl> symbols;
  std::vector<ge::AscendString> subgraphs;
};

struct Source {
  size_t node = kNone;  // index into GraphDesc::nodes
  size_t output = 0U;   // instance index among that node's outputs
  bool IsConnected() const { return node != kNone; }
};

struct InputDesc {
  ge::AscendString name;  // "x"; member 2 of a dynamic port "x" is "x2"
  size_t port = 0U;       // index into Proto::inputs (the IR index)
  size_t member = 0U;     // 0 unless the port is dynamic
  Source source;
  ge::TensorDesc desc;    // of a connected input: the source's output desc, in the format that the user gave this input
  bool has_desc = false;  // the user set it, or wired it to an output whose desc is set
};

struct OutputDesc {
  ge::AscendString name;
  size_t port = 0U;  // index into Proto::outputs
  size_t member = 0U;
  ge::TensorDesc desc;
  bool has_desc = false;  // the user set it with update_output_desc_*
};

struct NodeDesc {
  ge::AscendString name;
  ge::AscendString type;
  Proto proto;
  std::vector<InputDesc>
      inputs;  // instance order (dynamic members where create_dynamic_input_* put them), unconnected optional ones included
  std::vector<OutputDesc> outputs;
  AttrMap attrs;                       // set ones and defaults; a required one that was never set isn't in here. Tensors share their bytes.
  std::vector<size_t> control_inputs;  // nodes that must run before
};

struct GraphDesc {
  ge::AscendString name;  // empty: the graph was never named
  // Topological order; among ready nodes the order in which the graph met them. With
  // outputs or targets, only what they need, and all Data nodes.
  std::vector<NodeDesc> nodes;
  std::vector<size_t> inputs;   // Data nodes; position = index of the graph's input (attr "index" is renumbered to it)
  std::vector<Source> outputs;  // in the order of SetOutputs; an operator given without an index gives all its outputs
  std::vector<size_t> targets;  // SetTargets
};

// GRAPH_SUCCESS, or GRAPH_FAILED with one sentence in `error`: nothing to run, two nodes of one name, a cycle, a required input without a
// source, an input whose source isn't reachable from the graph, an unknown port.
ge::graphStatus Describe(const ge::Graph &graph, GraphDesc &desc, ge::AscendString &error);

// For AddGraph, which takes a Graph object once: true the first time it is called
// for this graph (copies of a Graph are one graph), then false.
bool MarkAdded(const ge::Graph &graph);

// The prototype that a type's REG_OP declares; false if no creator is registered for it.
bool FindProto(const char *op_type, Proto &proto);

}  // namespace opkit_sim::graph

#endif  // OPKIT_SIM_SRC_GRAPH_GRAPH_INTERNAL_H_
