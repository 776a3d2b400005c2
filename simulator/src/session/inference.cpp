#include "session/inference.h"

#include <cstddef>

#include "lowering/context_frame.h"
#include "lowering/node_info.h"
#include "lowering/tensor_spec.h"
#include "session/report.h"

namespace opkit_sim::session {
namespace {
using lowering::ContextFrame;
using lowering::NodeInfo;
using lowering::SpecOf;
using lowering::TensorSpec;

bool Fail(const graph::NodeDesc &node, const char *function, ge::graphStatus status) {
  report::Error("E19999", "[Call][CustomOpInferShape] failed, %s of op_desc[%s], op_type[%s], ret[%d]", function, node.name.GetString(),
                node.type.GetString(), static_cast<int>(status));
  return false;
}

bool InferDataType(ge::ShapeInferOp &op, graph::NodeDesc &node) {
  const NodeInfo info(node);
  const std::vector<size_t> present = lowering::PresentInputs(node);
  ContextFrame frame(present.size(), node.outputs.size(), info.get());
  // A dtype is small enough to lie in its cell.
  const auto put = [](AsyncAnyValue &cell, ge::DataType dtype) { *reinterpret_cast<ge::DataType *>(cell.data.inplace) = dtype; };
  for (size_t i = 0; i < present.size(); ++i) {
    put(frame.Input(i), node.inputs[present[i]].desc.GetDataType());
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    put(frame.Output(i), node.outputs[i].has_desc ? node.outputs[i].desc.GetDataType() : ge::DT_UNDEFINED);
  }
  const ge::graphStatus status = op.InferDataType(frame.As<gert::InferDataTypeContext>());
  if (status != ge::GRAPH_SUCCESS) {
    return Fail(node, "InferDataType", status);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    node.outputs[i].desc.SetDataType(*reinterpret_cast<ge::DataType *>(frame.Output(i).data.inplace));
  }
  return true;
}

gert::Tensor InputTensor(const ge::TensorDesc &desc, const ge::Tensor *constant) {
  const TensorSpec spec = SpecOf(desc);
  gert::Tensor tensor(spec.shape, spec.format, spec.dtype);
  if (constant != nullptr) {
    auto *data = const_cast<uint8_t *>(constant->GetData());
    tensor.SetData(gert::TensorData(data, nullptr, constant->GetSize(), gert::kOnHost));
  }
  return tensor;
}

bool InferShape(ge::ShapeInferOp &op, graph::NodeDesc &node, const std::vector<const ge::Tensor *> &constants) {
  const NodeInfo info(node);
  const std::vector<size_t> present = lowering::PresentInputs(node);
  ContextFrame frame(present.size(), node.outputs.size(), info.get());
  std::vector<gert::Tensor> inputs;
  for (const size_t i : present) {
    inputs.push_back(InputTensor(node.inputs[i].desc, constants[i]));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    frame.SetInput(i, &inputs[i]);
  }
  std::vector<gert::Tensor> outputs;
  for (const graph::OutputDesc &output : node.outputs) {
    outputs.push_back(output.has_desc ? InputTensor(output.desc, nullptr) : gert::Tensor());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    frame.SetOutput(i, &outputs[i]);
  }
  const ge::graphStatus status = op.InferShape(frame.As<gert::InferShapeContext>());
  if (status != ge::GRAPH_SUCCESS) {
    return Fail(node, "InferShape", status);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorSpec spec;
    spec.shape.MutableOriginShape() = outputs[i].GetOriginShape();
    spec.shape.MutableStorageShape() = outputs[i].GetOriginShape();
    spec.dtype = node.outputs[i].desc.GetDataType();
    lowering::WriteTo(spec, node.outputs[i].desc);
  }
  return true;
}
}  // namespace

bool Infer(ge::BaseCustomOp &op, graph::NodeDesc &node, const std::vector<const ge::Tensor *> &constants) {
  auto *infer = dynamic_cast<ge::ShapeInferOp *>(&op);
  if (infer != nullptr) {
    return InferDataType(*infer, node) && InferShape(*infer, node, constants);
  }
  for (const graph::OutputDesc &output : node.outputs) {
    if (!output.has_desc) {
      report::Error("E19999", "op %s (type %s) has no ShapeInferOp and its output %s no desc, so its shape is unknown: %s",
                    node.name.GetString(), node.type.GetString(), output.name.GetString(), "dynamic-shape execution isn't simulated");
      return false;
    }
  }
  return true;
}
}  // namespace opkit_sim::session
