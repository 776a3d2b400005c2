// Custom ops that count how often they are called and note the addresses that they saw. All of them compute z = x + y.
#ifndef OPKIT_SIM_TESTS_SESSION_COUNTING_OPS_H_
#define OPKIT_SIM_TESTS_SESSION_COUNTING_OPS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/custom_op.h"
#include "graph/operator_reg.h"
#include "session/add_kernel.h"

namespace session_test {
struct Calls {
  int execute = 0;
  int update = 0;
  std::vector<std::string> inference;
  std::vector<const void *> execute_addresses;  // of the last call: x, y, z
  std::vector<const void *> update_addresses;
  std::vector<std::string> nodes;  // that Execute was called for
};

inline Calls &CallsOf(const std::string &type) {
  static std::map<std::string, Calls> calls;
  return calls[type];
}

inline std::vector<const void *> Addresses(const gert::EagerOpExecutionContext &ctx) {
  return {ctx.GetInputTensor(0)->GetAddr(), ctx.GetInputTensor(1)->GetAddr(), ctx.GetOutputTensor(0)->GetAddr()};
}

inline AddArgs ArgsOf(const gert::EagerOpExecutionContext &ctx) {
  const std::vector<const void *> addresses = Addresses(ctx);
  return {addresses[0], addresses[1], const_cast<void *>(addresses[2]), static_cast<uint64_t>(ctx.GetInputTensor(0)->GetShapeSize())};
}

inline void NoteExecute(const gert::EagerOpExecutionContext &ctx) {
  Calls &calls = CallsOf(ctx.GetNodeType());
  ++calls.execute;
  calls.execute_addresses = Addresses(ctx);
  calls.nodes.emplace_back(ctx.GetNodeName());
}

inline bool BindOutput(gert::EagerOpExecutionContext *ctx) {
  const gert::Tensor *x = ctx->GetInputTensor(0);
  return ctx->MallocOutputTensor(0, x->GetShape(), x->GetFormat(), x->GetDataType()) != nullptr;
}

inline ge::graphStatus Launch(const gert::EagerOpExecutionContext &ctx, const gert::KernelArgs *args) {
  if (args == nullptr) {
    return ge::GRAPH_FAILED;
  }
  const aclError status = aclrtLaunchKernelV2(AddFunction(), 4, args->args_data, args->args_size, nullptr, ctx.GetStream());
  return status == ACL_SUCCESS ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}

inline ge::graphStatus LaunchByHostArgs(const gert::EagerOpExecutionContext &ctx, AddArgs args) {
  const aclError status = aclrtLaunchKernelWithHostArgs(AddFunction(), 4, ctx.GetStream(), nullptr, &args, sizeof(args), nullptr, 0);
  return status == ACL_SUCCESS ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}

// z has the shape and dtype of x.
class LikeX : public ge::ShapeInferOp {
 public:
  ge::graphStatus InferDataType(gert::InferDataTypeContext *ctx) override {
    CallsOf(ctx->GetNodeType()).inference.emplace_back("dtype");
    return ctx->SetOutputDataType(0, ctx->GetInputDataType(0));
  }
  ge::graphStatus InferShape(gert::InferShapeContext *ctx) override {
    CallsOf(ctx->GetNodeType()).inference.emplace_back("shape");
    *ctx->GetOutputShape(0) = *ctx->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
  }
};
}  // namespace session_test

namespace ge {
#define OPKIT_TEST_ADD_PROTO(type) \
  REG_OP(type).INPUT(x, "T").INPUT(y, "T").OUTPUT(z, "T").DATATYPE(T, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(type)

OPKIT_TEST_ADD_PROTO(UpdatedAdd);
OPKIT_TEST_ADD_PROTO(FixedAdd);

class UpdatedAdd : public EagerExecuteOp, public ArgsUpdater, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    session_test::NoteExecute(*ctx);
    if (!session_test::BindOutput(ctx)) {
      return GRAPH_FAILED;
    }
    // On the heap and gone before the launch: the framework must have taken its own copy.
    const auto args = std::make_unique<session_test::AddArgs>(session_test::ArgsOf(*ctx));
    const gert::KernelArgs *registered = ctx->MallocReadOnlyDevArgs(args.get(), sizeof(*args));
    *args = {};
    return session_test::Launch(*ctx, registered);
  }
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *ctx) override {
    session_test::Calls &calls = session_test::CallsOf(ctx->GetNodeType());
    ++calls.update;
    calls.update_addresses = session_test::Addresses(*ctx);
    const gert::KernelArgs *host = ctx->GetKernelArgs(gert::Placement::kPlacementHost, 0);
    if (host == nullptr || host->args_size != sizeof(session_test::AddArgs)) {
      return GRAPH_FAILED;
    }
    *static_cast<session_test::AddArgs *>(host->args_data) = session_test::ArgsOf(*ctx);
    return GRAPH_SUCCESS;
  }
};
REG_AUTO_MAPPING_OP(UpdatedAdd);

class FixedAdd : public EagerExecuteOp, public session_test::LikeX {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    session_test::NoteExecute(*ctx);
    return session_test::BindOutput(ctx) ? session_test::LaunchByHostArgs(*ctx, session_test::ArgsOf(*ctx)) : GRAPH_FAILED;
  }
};
REG_AUTO_MAPPING_OP(FixedAdd);
}  // namespace ge

#endif  // OPKIT_SIM_TESTS_SESSION_COUNTING_OPS_H_
