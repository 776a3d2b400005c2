// What inference functions of resource operators pass to each other beside shapes and types.
#ifndef OPKIT_SIM_GRAPH_INFERENCE_CONTEXT_H_
#define OPKIT_SIM_GRAPH_INFERENCE_CONTEXT_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"
#include "graph/resource_context.h"
#include "graph/tensor.h"
#include "graph/types.h"

namespace ge {

class ShapeAndTypeImpl;

class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY ShapeAndType {
 public:
  ShapeAndType();
  ShapeAndType(const Shape &shape, DataType data_type);
  ~ShapeAndType() = default;
  ShapeAndType(const ShapeAndType &) = default;
  ShapeAndType &operator=(const ShapeAndType &) = default;

  void SetShape(const Shape &shape);
  void SetType(DataType data_type);
  Shape GetShape() const;
  DataType GetDataType() const;

 private:
  std::shared_ptr<ShapeAndTypeImpl> shape_and_type_impl_;
};

struct InnerInferenceContext;

class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY InferenceContext {
 public:
  static std::unique_ptr<InferenceContext> Create();
  ~InferenceContext() = default;
  InferenceContext(const InferenceContext &context) = delete;
  InferenceContext(InferenceContext &&context) = delete;
  InferenceContext &operator=(const InferenceContext &context) = delete;
  InferenceContext &operator=(InferenceContext &&context) = delete;

  void SetInputHandleShapesAndTypes(std::vector<std::vector<ShapeAndType>> &&shapes_and_types);
  const std::vector<std::vector<ShapeAndType>> &GetInputHandleShapesAndTypes() const;
  void SetOutputHandleShapesAndTypes(const std::vector<std::vector<ShapeAndType>> &shapes_and_types);
  void SetOutputHandleShapesAndTypes(std::vector<std::vector<ShapeAndType>> &&shapes_and_types);
  const std::vector<std::vector<ShapeAndType>> &GetOutputHandleShapesAndTypes() const;

  void SetMarks(const std::vector<AscendString> &marks);
  void GetMarks(std::vector<AscendString> &marks) const;
  ATTRIBUTED_DEPRECATED(void SetMarks(const std::vector<AscendString> &)) void SetMarks(const std::vector<std::string> &marks) {
    std::vector<AscendString> texts;
    for (const std::string &mark : marks) {
      texts.emplace_back(mark.c_str());
    }
    SetMarks(texts);
  }
  ATTRIBUTED_DEPRECATED(void GetMarks(std::vector<AscendString> &) const) std::vector<std::string> GetMarks() const {
    std::vector<AscendString> texts;
    GetMarks(texts);
    std::vector<std::string> marks;
    for (const AscendString &text : texts) {
      marks.emplace_back(text.GetString());
    }
    return marks;
  }

  // The store doesn't own what it points to; nullptr for a key that nobody set.
  ResourceContext *GetResourceContext(const ge::AscendString &key);
  graphStatus SetResourceContext(const ge::AscendString &key, ResourceContext *resource_context);
  graphStatus RegisterReliedOnResourceKey(const ge::AscendString &key);
  graphStatus AddChangedResourceKey(const ge::AscendString &key);
  const std::set<ge::AscendString> &GetReliedOnResourceKeys() const;
  const std::set<ge::AscendString> &GetChangedResourceKeys() const;
  void ClearChangedResourceKeys();

 private:
  explicit InferenceContext(std::unique_ptr<InnerInferenceContext> &inner_context);
  std::shared_ptr<InnerInferenceContext> inner_inference_context_;
};

using InferenceContextPtr = std::shared_ptr<InferenceContext>;

}  // namespace ge

#endif  // OPKIT_SIM_GRAPH_INFERENCE_CONTEXT_H_
