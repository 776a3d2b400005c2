#include "negate_op.h"

#include <cstdint>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/acl_rt_compile.h"
#include "graph/custom_op.h"

namespace {
const char *const kSource = R"(
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void negate(GM_ADDR x, GM_ADDR z, uint64_t n) {
  AscendC::GlobalTensor<float> x_gm, z_gm;
  x_gm.SetGlobalBuffer((__gm__ float *)x, n);
  z_gm.SetGlobalBuffer((__gm__ float *)z, n);
  for (uint64_t i = AscendC::GetBlockIdx(); i < n; i += AscendC::GetBlockNum()) {
    z_gm.SetValue(i, -x_gm.GetValue(i));
  }
}
)";

struct Args {
  const void *x;
  void *z;
  uint64_t n;
};

aclrtFuncHandle Build() {
  aclrtcProg program = nullptr;
  const char *options[] = {"--npu-arch=dav-2201"};
  size_t size = 0;
  std::vector<char> binary;
  if (aclrtcCreateProg(&program, kSource, "negate.asc", 0, nullptr, nullptr) == ACL_SUCCESS &&
      aclrtcCompileProg(program, 1, options) == ACL_SUCCESS && aclrtcGetBinDataSize(program, &size) == ACL_SUCCESS) {
    binary.resize(size);
    (void)aclrtcGetBinData(program, binary.data());
  }
  (void)aclrtcDestroyProg(&program);
  aclrtBinHandle handle = nullptr;
  aclrtFuncHandle function = nullptr;
  if (!binary.empty() && aclrtBinaryLoadFromData(binary.data(), binary.size(), nullptr, &handle) == ACL_SUCCESS) {
    (void)aclrtBinaryGetFunction(handle, "negate", &function);
  }
  return function;
}
}  // namespace

namespace ge {
class NegateWrongly : public EagerExecuteOp, public ArgsUpdater, public ShapeInferOp {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    static const aclrtFuncHandle function = Build();
    const gert::Tensor *x = ctx->GetInputTensor(0);
    const gert::Tensor *z = ctx->MallocOutputTensor(0, x->GetShape(), x->GetFormat(), x->GetDataType());
    if (function == nullptr || z == nullptr) {
      return GRAPH_FAILED;
    }
    Args args = {x->GetAddr(), const_cast<void *>(z->GetAddr()), static_cast<uint64_t>(x->GetShapeSize())};
    const gert::KernelArgs *device = ctx->MallocReadOnlyDevArgs(&args, sizeof(args));
    if (device == nullptr) {
      return GRAPH_FAILED;
    }
    const aclError status = aclrtLaunchKernelV2(function, 4, device->args_data, device->args_size, nullptr, ctx->GetStream());
    return status == ACL_SUCCESS ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *ctx) override {
    auto *args = static_cast<Args *>(ctx->GetKernelArgs(gert::Placement::kPlacementHost, 0)->args_data);
    args->x = ctx->GetInputTensor(0)->GetAddr();
    // The mistake: z is bound by the first run that has user memory, and then stays there.
    if (++updates_ <= 2) {
      args->z = const_cast<void *>(ctx->GetOutputTensor(0)->GetAddr());
    }
    return GRAPH_SUCCESS;
  }
  graphStatus InferShape(gert::InferShapeContext *ctx) override {
    *ctx->GetOutputShape(0) = *ctx->GetInputShape(0);
    return GRAPH_SUCCESS;
  }
  graphStatus InferDataType(gert::InferDataTypeContext *ctx) override { return ctx->SetOutputDataType(0, ctx->GetInputDataType(0)); }

 private:
  int updates_ = 0;
};
REG_AUTO_MAPPING_OP(NegateWrongly);
}  // namespace ge
