#include "graph/inference_context.h"

#include <map>

namespace ge {

class ShapeAndTypeImpl {
 public:
  Shape shape;
  DataType data_type = DT_UNDEFINED;
};

ShapeAndType::ShapeAndType() : shape_and_type_impl_(std::make_shared<ShapeAndTypeImpl>()) {}

ShapeAndType::ShapeAndType(const Shape &shape, DataType data_type) : ShapeAndType() {
  SetShape(shape);
  SetType(data_type);
}

void ShapeAndType::SetShape(const Shape &shape) { shape_and_type_impl_->shape = shape; }
void ShapeAndType::SetType(DataType data_type) { shape_and_type_impl_->data_type = data_type; }
Shape ShapeAndType::GetShape() const { return shape_and_type_impl_->shape; }
DataType ShapeAndType::GetDataType() const { return shape_and_type_impl_->data_type; }

struct InnerInferenceContext {
  std::vector<std::vector<ShapeAndType>> inputs;
  std::vector<std::vector<ShapeAndType>> outputs;
  std::vector<AscendString> marks;
  std::map<AscendString, ResourceContext *> resources;
  std::set<AscendString> relied_on;
  std::set<AscendString> changed;
};

InferenceContext::InferenceContext(std::unique_ptr<InnerInferenceContext> &inner_context)
    : inner_inference_context_(std::move(inner_context)) {}

std::unique_ptr<InferenceContext> InferenceContext::Create() {
  auto inner = std::make_unique<InnerInferenceContext>();
  return std::unique_ptr<InferenceContext>(new InferenceContext(inner));
}

void InferenceContext::SetInputHandleShapesAndTypes(std::vector<std::vector<ShapeAndType>> &&shapes_and_types) {
  inner_inference_context_->inputs = std::move(shapes_and_types);
}

const std::vector<std::vector<ShapeAndType>> &InferenceContext::GetInputHandleShapesAndTypes() const {
  return inner_inference_context_->inputs;
}

void InferenceContext::SetOutputHandleShapesAndTypes(const std::vector<std::vector<ShapeAndType>> &shapes_and_types) {
  inner_inference_context_->outputs = shapes_and_types;
}

void InferenceContext::SetOutputHandleShapesAndTypes(std::vector<std::vector<ShapeAndType>> &&shapes_and_types) {
  inner_inference_context_->outputs = std::move(shapes_and_types);
}

const std::vector<std::vector<ShapeAndType>> &InferenceContext::GetOutputHandleShapesAndTypes() const {
  return inner_inference_context_->outputs;
}

void InferenceContext::SetMarks(const std::vector<AscendString> &marks) { inner_inference_context_->marks = marks; }
void InferenceContext::GetMarks(std::vector<AscendString> &marks) const { marks = inner_inference_context_->marks; }

ResourceContext *InferenceContext::GetResourceContext(const ge::AscendString &key) {
  const auto found = inner_inference_context_->resources.find(key);
  return found == inner_inference_context_->resources.end() ? nullptr : found->second;
}

graphStatus InferenceContext::SetResourceContext(const ge::AscendString &key, ResourceContext *resource_context) {
  inner_inference_context_->resources[key] = resource_context;
  return GRAPH_SUCCESS;
}

graphStatus InferenceContext::RegisterReliedOnResourceKey(const ge::AscendString &key) {
  (void)inner_inference_context_->relied_on.insert(key);
  return GRAPH_SUCCESS;
}

graphStatus InferenceContext::AddChangedResourceKey(const ge::AscendString &key) {
  (void)inner_inference_context_->changed.insert(key);
  return GRAPH_SUCCESS;
}

const std::set<ge::AscendString> &InferenceContext::GetReliedOnResourceKeys() const { return inner_inference_context_->relied_on; }
const std::set<ge::AscendString> &InferenceContext::GetChangedResourceKeys() const { return inner_inference_context_->changed; }
void InferenceContext::ClearChangedResourceKeys() { inner_inference_context_->changed.clear(); }

}  // namespace ge
