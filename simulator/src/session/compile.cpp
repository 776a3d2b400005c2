// CompileGraph: nodes find their implementation, shapes are inferred, ops that compile or declare launches do so.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "lowering/context_frame.h"
#include "lowering/node_memory.h"
#include "register/custom_op_registry.h"
#include "session/compiled_graph.h"
#include "session/inference.h"
#include "session/report.h"

namespace opkit_sim::session {
namespace {
using graph::GraphDesc;
using graph::NodeDesc;
using lowering::TensorSpec;

bool Is(const NodeDesc &node, const char *type) { return std::strcmp(node.type.GetString(), type) == 0; }
bool IsData(const NodeDesc &node) { return Is(node, "Data"); }
bool IsConst(const NodeDesc &node) { return Is(node, "Const") || Is(node, "Constant"); }

const ge::Tensor *ConstantOf(const NodeDesc &node) {
  const auto value = node.attrs.find(ge::AscendString("value"));
  return value == node.attrs.end() ? nullptr : std::get_if<ge::Tensor>(&value->second);
}

std::string Shown(const gert::Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape.GetDim(i));
  }
  return text + "]";
}

// Logical addresses while an op declares: apart from each other, none of them memory.
void *LogicalAddress(size_t value) { return reinterpret_cast<void *>((value + 1) << 20); }

class Compiler {
 public:
  Compiler(GraphDesc &graph, const lowering::CompileOptions &options)
      : graph_(graph), options_(options), values_of_node_(graph.nodes.size()), compiled_(std::make_shared<CompiledGraph>()) {}

  std::shared_ptr<const CompiledGraph> Run() {
    compiled_->name = graph_.name;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!AddNode(n)) {
        return nullptr;
      }
    }
    for (const size_t input : graph_.inputs) {
      compiled_->inputs.push_back(values_of_node_[input].front());
    }
    for (const graph::Source &output : graph_.outputs) {
      compiled_->outputs.push_back(ValueOf(output));
    }
    for (CompiledNode &node : compiled_->nodes) {
      if (!CompileOp(node) || !DeclareLaunches(node)) {
        return nullptr;
      }
    }
    return compiled_;
  }

 private:
  size_t ValueOf(const graph::Source &source) const { return values_of_node_[source.node][source.output]; }

  bool AddNode(size_t n) {
    NodeDesc &node = graph_.nodes[n];
    PropagateInputs(node);
    if (IsData(node)) {
      return AddData(n, node);
    }
    if (IsConst(node)) {
      return AddConstant(n, node);
    }
    if (Is(node, "Variable") || Is(node, "VariableV2")) {
      report::Error("E19999", "node %s is a %s: graphs with Variables are not supported by CompileGraph", node.name.GetString(),
                    node.type.GetString());
      return false;
    }
    return AddCustom(n, node);
  }

  // Inference works on what a producer gives now; of a desc that the user put on an input only the format stays.
  void PropagateInputs(NodeDesc &node) const {
    for (graph::InputDesc &input : node.inputs) {
      if (input.source.IsConnected()) {
        const ge::TensorDesc &given = graph_.nodes[input.source.node].outputs[input.source.output].desc;
        input.desc.SetShape(given.GetShape());
        input.desc.SetOriginShape(given.GetShape());
        input.desc.SetDataType(given.GetDataType());
      }
    }
  }

  bool AddValue(size_t n, const NodeDesc &node, CompiledValue value, const ge::TensorDesc &desc) {
    value.spec = lowering::SpecOf(desc);
    const char *name = node.name.GetString();
    const std::string shape = Shown(value.spec.shape.GetOriginShape());
    if (!value.spec.IsStatic()) {
      report::Error("E19999", "graph %s, node %s (type %s): shape %s has unknown dims. dynamic-shape execution isn't simulated",
                    graph_.name.GetString(), name, node.type.GetString(), shape.c_str());
      return false;
    }
    const int64_t bytes = value.spec.Bytes();
    if (bytes < 0) {
      report::Error("E19999", "graph %s, node %s (type %s): no size in bytes for shape %s of dtype %d", graph_.name.GetString(), name,
                    node.type.GetString(), shape.c_str(), static_cast<int>(value.spec.dtype));
      return false;
    }
    value.bytes = static_cast<size_t>(bytes);
    values_of_node_[n].push_back(compiled_->values.size());
    compiled_->values.push_back(std::move(value));
    return true;
  }

  // Data passes its input desc on; a graph may have set only one of the two.
  bool AddData(size_t n, NodeDesc &node) {
    if (!node.inputs.empty() && node.inputs.front().has_desc) {
      node.outputs.front().desc = node.inputs.front().desc;
    }
    CompiledValue value;
    value.origin = CompiledValue::Origin::kGraphInput;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      value.index = graph_.inputs[i] == n ? i : value.index;
    }
    return AddValue(n, node, std::move(value), node.outputs.front().desc);
  }

  bool AddConstant(size_t n, NodeDesc &node) {
    const ge::Tensor *constant = ConstantOf(node);
    if (constant == nullptr) {
      report::Error("E19999", "node %s (type %s) has no attr value", node.name.GetString(), node.type.GetString());
      return false;
    }
    node.outputs.front().desc = constant->GetTensorDesc();
    CompiledValue value;
    value.origin = CompiledValue::Origin::kConstant;
    value.constant = *constant;
    if (!AddValue(n, node, std::move(value), node.outputs.front().desc)) {
      return false;
    }
    const size_t expected = compiled_->values.back().bytes;
    if (constant->GetSize() != expected) {
      report::Error("E19999", "node %s (type %s): its value has %zu bytes, its desc asks for %zu", node.name.GetString(),
                    node.type.GetString(), constant->GetSize(), expected);
      return false;
    }
    return true;
  }

  bool AddCustom(size_t n, NodeDesc &node) {
    ge::BaseCustomOp *op = custom_op::Instance(node.type.GetString());
    if (op == nullptr) {
      report::Error("EZ3003", "No supported Ops kernel and engine are found for [%s], optype [%s].", node.name.GetString(),
                    node.type.GetString());
      return false;
    }
    if (!HasRequiredAttrs(node) || !Infer(*op, node, ConstantsFeeding(node))) {
      return false;
    }
    CompiledNode compiled;
    compiled.name = node.name;
    compiled.type = node.type;
    compiled.eager = dynamic_cast<ge::EagerExecuteOp *>(op);
    compiled.updater = dynamic_cast<ge::ArgsUpdater *>(op);
    compiled.annotated = dynamic_cast<ge::AnnotatedArgsOp *>(op);
    for (const size_t i : lowering::PresentInputs(node)) {
      compiled.inputs.push_back(ValueOf(node.inputs[i].source));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      CompiledValue value;
      value.index = i;
      value.node = compiled_->nodes.size();
      if (!AddValue(n, node, std::move(value), node.outputs[i].desc)) {
        return false;
      }
      compiled.shared_input_of_output.push_back(SharedInput(node, i));
    }
    compiled.outputs = values_of_node_[n];
    compiled.info = std::make_shared<const lowering::NodeInfo>(node);
    ops_.push_back(op);
    compiled_->nodes.push_back(std::move(compiled));
    return true;
  }

  static bool HasRequiredAttrs(const NodeDesc &node) {
    for (const graph::AttrDecl &attr : node.proto.attrs) {
      if (attr.is_required && node.attrs.count(attr.name) == 0) {
        report::Error("E19999", "node %s (type %s): the required attr %s isn't set", node.name.GetString(), node.type.GetString(),
                      attr.name.GetString());
        return false;
      }
    }
    return true;
  }

  std::vector<const ge::Tensor *> ConstantsFeeding(const NodeDesc &node) const {
    std::vector<const ge::Tensor *> constants;
    for (const graph::InputDesc &input : node.inputs) {
      const bool is_constant = input.source.IsConnected() && IsConst(graph_.nodes[input.source.node]);
      constants.push_back(is_constant ? ConstantOf(graph_.nodes[input.source.node]) : nullptr);
    }
    return constants;
  }

  static size_t SharedInput(const NodeDesc &node, size_t output) {
    const std::vector<size_t> present = lowering::PresentInputs(node);
    for (size_t i = 0; i < present.size(); ++i) {
      if (node.inputs[present[i]].name == node.outputs[output].name) {
        return i;
      }
    }
    return lowering::kNotShared;
  }

  // The tensors of a node as compile-time contexts show them: no data, and an address only where it is asked for.
  std::vector<gert::Tensor> Tensors(const std::vector<size_t> &values, bool with_address) const {
    std::vector<gert::Tensor> tensors;
    for (const size_t v : values) {
      const CompiledValue &value = compiled_->values[v];
      gert::Tensor tensor(value.spec.shape, value.spec.format, value.spec.dtype);
      if (with_address) {
        tensor.SetData(gert::TensorData(LogicalAddress(v), nullptr, value.bytes, gert::kOnDeviceHbm));
      }
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  template <typename Call>
  ge::graphStatus WithContext(const CompiledNode &node, bool with_address, const void *additional, Call call) const {
    std::vector<gert::Tensor> inputs = Tensors(node.inputs, with_address);
    std::vector<gert::Tensor> outputs = Tensors(node.outputs, with_address);
    lowering::ContextFrame frame(inputs.size() + 1, outputs.size(), node.info->get());
    for (size_t i = 0; i < inputs.size(); ++i) {
      frame.SetInput(i, &inputs[i]);
    }
    frame.SetInput(inputs.size(), const_cast<void *>(additional));
    for (size_t i = 0; i < outputs.size(); ++i) {
      frame.SetOutput(i, &outputs[i]);
    }
    return call(frame);
  }

  bool CompileOp(const CompiledNode &node) const {
    auto *compilable = dynamic_cast<ge::CompilableOp *>(ops_[static_cast<size_t>(&node - compiled_->nodes.data())]);
    if (compilable == nullptr) {
      return true;
    }
    const ge::graphStatus status = WithContext(node, false, &options_, [compilable](lowering::ContextFrame &frame) {
      return compilable->Compile(frame.As<gert::OpCompileContext>());
    });
    if (status != ge::GRAPH_SUCCESS) {
      report::Error("E19999", "[Compile][CustomOp] compile failed, op_name:%s, op_type:%s", node.name.GetString(), node.type.GetString());
    }
    return status == ge::GRAPH_SUCCESS;
  }

  bool DeclareLaunches(CompiledNode &node) const {
    if (!node.IsDeclared() || IsFolded(node)) {
      return true;
    }
    const ge::graphStatus status = WithContext(node, true, &node.declared, [&node](lowering::ContextFrame &frame) {
      return node.annotated->DeclareLaunchArgs(*frame.As<gert::AnnotatedArgsContext>());
    });
    if (status != ge::GRAPH_SUCCESS) {
      report::Error("E19999", "DeclareLaunchArgs failed, op_name:%s, op_type:%s, ret %u", node.name.GetString(), node.type.GetString(),
                    status);
      return false;
    }
    if (node.declared.launches.empty()) {
      report::Error("E19999", "Custom op did not call AddLaunch, op_name:%s, op_type:%s", node.name.GetString(), node.type.GetString());
      return false;
    }
    return HasOwnKernelNames(node);
  }

  // GE puts an empty constant in place of a node whose outputs are all empty, long before it asks for launches.
  bool IsFolded(const CompiledNode &node) const {
    const ge::AscendString *option = options_.Find("ge.oo.constantFolding");
    return !node.outputs.empty() && (option == nullptr || *option != "false") &&
           std::all_of(node.outputs.begin(), node.outputs.end(), [this](size_t value) { return compiled_->values[value].bytes == 0; });
  }

  // GE keeps one binary for a name in the whole model, the last one, and only warns.
  bool HasOwnKernelNames(const CompiledNode &node) const {
    for (const CompiledNode &other : compiled_->nodes) {
      for (const lowering::DeclaredLaunch &theirs : other.declared.launches) {
        for (const lowering::DeclaredLaunch &ours : node.declared.launches) {
          if (ours.kernel_name == theirs.kernel_name && ours.binary != theirs.binary) {
            report::Error("E19999", "nodes %s and %s give one kernel name, %s, different binaries", other.name.GetString(),
                          node.name.GetString(), ours.kernel_name.GetString());
            return false;
          }
        }
      }
    }
    return true;
  }

  GraphDesc &graph_;
  const lowering::CompileOptions &options_;
  std::vector<std::vector<size_t>> values_of_node_;  // by node of graph_, then by output
  std::vector<ge::BaseCustomOp *> ops_;              // by node of compiled_
  std::shared_ptr<CompiledGraph> compiled_;
};
}  // namespace

std::shared_ptr<const CompiledGraph> Compile(graph::GraphDesc &graph, const lowering::CompileOptions &options) {
  return Compiler(graph, options).Run();
}
}  // namespace opkit_sim::session
