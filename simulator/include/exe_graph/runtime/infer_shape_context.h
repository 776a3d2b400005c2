// What ShapeInferOp::InferShape gets: input shapes to read, output shapes to write.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_INFER_SHAPE_CONTEXT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_INFER_SHAPE_CONTEXT_H_

#include <type_traits>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "exe_graph/runtime/shape.h"

namespace gert {
/// An input cell holds a Tensor, whose first member is its origin shape: both readings give the same address. A dim of -1 is unknown.
class InferShapeContext : public ExtendedKernelContext {
 public:
  const Shape *GetInputShape(const size_t index) const { return GetInputPointer<Shape>(index); }
  const Shape *GetRequiredInputShape(const size_t ir_index) const { return GetDynamicInputPointer<Shape>(ir_index, 0); }
  const Shape *GetOptionalInputShape(const size_t ir_index) const { return GetDynamicInputPointer<Shape>(ir_index, 0); }
  const Shape *GetDynamicInputShape(const size_t ir_index, const size_t relative_index) const {
    return GetDynamicInputPointer<Shape>(ir_index, relative_index);
  }

  /// Has an address only if the input is a constant of the graph.
  const Tensor *GetInputTensor(const size_t index) const { return GetInputPointer<Tensor>(index); }
  const Tensor *GetRequiredInputTensor(const size_t ir_index) const { return GetDynamicInputPointer<Tensor>(ir_index, 0); }
  const Tensor *GetOptionalInputTensor(const size_t ir_index) const { return GetDynamicInputPointer<Tensor>(ir_index, 0); }
  const Tensor *GetDynamicInputTensor(const size_t ir_index, const size_t relative_index) const {
    return GetDynamicInputPointer<Tensor>(ir_index, relative_index);
  }

  Shape *GetOutputShape(const size_t index) { return GetOutputPointer<Shape>(index); }
};

static_assert(std::is_standard_layout<InferShapeContext>::value && sizeof(InferShapeContext) == sizeof(KernelContext),
              "contexts add no members");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_INFER_SHAPE_CONTEXT_H_
