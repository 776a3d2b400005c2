// The node behind ge::Operator: ports, wiring, attributes and the prototype that its REG_OP class declared.
#ifndef OPKIT_SIM_SRC_GRAPH_OPERATOR_IMPL_H_
#define OPKIT_SIM_SRC_GRAPH_OPERATOR_IMPL_H_

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "graph/graph_internal.h"
#include "graph/operator.h"

namespace ge {

// An input or output of one node; a dynamic port has one for each member.
struct OperatorPort {
  AscendString name;
  size_t decl = 0U;  // index into the prototype's inputs or outputs
  size_t member = 0U;
  TensorDesc desc;
  bool has_desc = false;
  opkit_sim::graph::AttrMap attrs;
  // Inputs only. By name, because creating dynamic members moves positions.
  OperatorImplPtr source;
  AscendString source_output;
};

// Sources are owned, consumers are not: a chain lives as long as someone holds its end, and nothing forms a cycle.
class OperatorImpl : public std::enable_shared_from_this<OperatorImpl> {
 public:
  using Ports = std::vector<OperatorPort>;

  OperatorImpl(AscendString op_name, AscendString op_type) : name(std::move(op_name)), type(std::move(op_type)) {}

  static const OperatorImplPtr &Of(const Operator &op) { return op.operator_impl_; }
  static Operator Wrap(OperatorImplPtr impl) { return Operator(std::move(impl)); }

  static OperatorPort *Find(Ports &ports, const AscendString &port_name);
  static OperatorPort *At(Ports &ports, size_t index) { return index < ports.size() ? &ports[index] : nullptr; }
  static size_t IndexOf(const Ports &ports, const AscendString &port_name);  // kNone if there is none
  static size_t MembersOf(const Ports &ports, const std::vector<opkit_sim::graph::PortDecl> &decls, const AscendString &port_name);

  // Declares a port once; a second declaration of the name is the one that is there.
  size_t Declare(std::vector<opkit_sim::graph::PortDecl> &decls, const char *port_name, opkit_sim::graph::PortKind kind, const char *dtype);
  void AddPort(Ports &ports, size_t decl, const AscendString &port_name);
  // `num` members of a dynamic port before the port at `index`; refused if the port has members.
  void AddMembers(Ports &ports, std::vector<opkit_sim::graph::PortDecl> &decls, const char *port_name, uint32_t num, const char *dtype,
                  size_t index);

  // Wires an input to an output of `from`. What can't be wired is reported and remembered in `fault`.
  void Connect(const AscendString &input, const OperatorImplPtr &from, const AscendString &output);
  // What a wiring without an output gets if `from` has several.
  void Refuse(const AscendString &input, const OperatorImplPtr &from);
  void Disconnect();
  graphStatus UpdateOutput(OperatorPort &port, const TensorDesc &desc);
  // A port counts if it isn't an optional input that is neither wired nor described.
  bool Counts(const OperatorPort &port) const;

  AscendString name;
  AscendString type;
  opkit_sim::graph::Proto proto;
  Ports inputs;
  Ports outputs;
  opkit_sim::graph::AttrMap attrs;
  std::vector<std::weak_ptr<OperatorImpl>> consumers;
  std::vector<OperatorImplPtr> control_sources;
  std::vector<std::weak_ptr<OperatorImpl>> control_consumers;
  std::map<std::pair<AscendString, uint32_t>, SubgraphBuilder> subgraph_builders;
  std::map<AscendString, uint32_t> subgraph_counts;
  InferenceContextPtr inference_context;
  AscendString fault;  // the first wiring mistake, for the graph that is built from this node

 private:
  __attribute__((format(printf, 2, 3))) void Remember(const char *format, ...);
};

}  // namespace ge

#endif  // OPKIT_SIM_SRC_GRAPH_OPERATOR_IMPL_H_
