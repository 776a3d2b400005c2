// The interfaces a custom op implements and the macro that registers it: what a class derives from decides what the framework does with it.
#ifndef OPKIT_SIM_GRAPH_CUSTOM_OP_H_
#define OPKIT_SIM_GRAPH_CUSTOM_OP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "exe_graph/runtime/annotated_args_context.h"
#include "exe_graph/runtime/eager_op_execution_context.h"
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/op_compile_context.h"
#include "exe_graph/runtime/update_args_context.h"
#include "graph/ascend_string.h"
#include "graph/error_codes.h"

namespace ge {
/// One instance serves every node of its type, in all graphs: members can't hold the state of a node.
class BaseCustomOp {
 public:
  virtual ~BaseCustomOp() = default;
};

/// Output dtypes and shapes; without it a static graph can't hold the op. InferDataType is called first.
class ShapeInferOp : virtual public BaseCustomOp {
 public:
  ~ShapeInferOp() override = default;
  virtual graphStatus InferShape(gert::InferShapeContext *ctx) = 0;
  virtual graphStatus InferDataType(gert::InferDataTypeContext *ctx) = 0;
};

/// Launches the kernel. In a static graph that happens once, when the graph is loaded; what it launched is replayed on every run.
class EagerExecuteOp : virtual public BaseCustomOp {
 public:
  ~EagerExecuteOp() override = default;
  virtual graphStatus Execute(gert::EagerOpExecutionContext *ctx) = 0;
};

/// Rewrites the addresses in its argument blocks when those bound to the graph changed. Any status but success fails the run.
class ArgsUpdater : virtual public BaseCustomOp {
 public:
  ~ArgsUpdater() override = default;
  virtual graphStatus UpdateHostArgs(gert::UpdateArgsContext *ctx) = 0;
};

/// Declares launches and where addresses lie in their arguments, instead of refreshing them itself.
class AnnotatedArgsOp : virtual public BaseCustomOp {
 public:
  ~AnnotatedArgsOp() override = default;
  virtual graphStatus DeclareLaunchArgs(gert::AnnotatedArgsContext &ctx) = 0;
};

/// Builds the kernel while the graph is compiled.
class CompilableOp : virtual public BaseCustomOp {
 public:
  ~CompilableOp() override = default;
  virtual graphStatus Compile(gert::OpCompileContext *ctx) = 0;
};

/// Carries the kernel in an offline model, in a form of its own.
class PortableOp : virtual public BaseCustomOp {
 public:
  ~PortableOp() override = default;
  virtual graphStatus Serialize(std::vector<uint8_t> &buffer) = 0;
  virtual graphStatus Deserialize(const std::vector<uint8_t> &buffer) = 0;
};

using BaseOpCreator = std::function<std::unique_ptr<BaseCustomOp>()>;
using CustomOpCreateFunc = ge::BaseCustomOp *(*)();

/// Of two registrations of a type the first one counts.
class CustomOpCreatorRegister {
 public:
  CustomOpCreatorRegister(const AscendString &operator_type, const BaseOpCreator &op_creator);
  CustomOpCreatorRegister(const AscendString &operator_type, const CustomOpCreateFunc op_creator);
  ~CustomOpCreatorRegister() = default;
};
}  // namespace ge

// The registered type is the macro's argument as written: use the bare class name, inside its namespace.
#define REG_AUTO_MAPPING_OP(custom_op_class) REG_AUTO_MAPPING_OP_UNIQ(__COUNTER__, custom_op_class)
#define REG_AUTO_MAPPING_OP_UNIQ(ctr, custom_op_class)                                               \
  static ge::BaseCustomOp *REG_JOIN(custom_op_pull_creator, ctr)() { return new custom_op_class(); } \
  static const ge::CustomOpCreatorRegister REG_JOIN(custom_op_register, ctr)(#custom_op_class, REG_JOIN(custom_op_pull_creator, ctr))
#define REG_JOIN(g_register, y) g_register##y

#endif  // OPKIT_SIM_GRAPH_CUSTOM_OP_H_
