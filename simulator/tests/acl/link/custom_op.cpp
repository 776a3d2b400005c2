// A custom-op library: uses what such libraries use from lowering, graph, graph_base, metadef, acl_rt and acl_rtc.
#include "graph/custom_op.h"
#include "acl/acl_rt.h"
#include "acl/acl_rt_compile.h"
#include "graph/operator_reg.h"

namespace ge {

REG_OP(LinkTestOp)
    .INPUT(x, TensorType({DT_FLOAT}))
    .OUTPUT(y, TensorType({DT_FLOAT}))
    .OP_END_FACTORY_REG(LinkTestOp)

        class LinkTestOp : public EagerExecuteOp,
    public ArgsUpdater, public ShapeInferOp {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *context) override {
    const gert::Tensor *x = context->GetInputTensor(0);
    gert::Tensor *y = context->MallocOutputTensor(0, x->GetShape(), x->GetFormat(), x->GetDataType());
    void *args[2] = {const_cast<void *>(x->GetAddr()), y->GetAddr()};
    const gert::KernelArgs *device_args = context->MallocReadOnlyDevArgs(args, sizeof args);
    aclrtcProg program = nullptr;
    aclrtcCreateProg(&program, "", "", 0, nullptr, nullptr);
    aclrtcDestroyProg(&program);
    return device_args != nullptr && aclrtSynchronizeStream(context->GetStream()) == ACL_SUCCESS ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *context) override {
    return context->GetKernelArgs(gert::Placement::kPlacementHost, 0) != nullptr ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  graphStatus InferShape(gert::InferShapeContext *context) override {
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
  }
  graphStatus InferDataType(gert::InferDataTypeContext *context) override {
    return context->SetOutputDataType(0, context->GetInputDataType(0));
  }
};
REG_AUTO_MAPPING_OP(LinkTestOp);

}  // namespace ge
