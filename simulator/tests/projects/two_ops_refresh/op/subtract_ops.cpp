#include <dlfcn.h>

#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/acl_rt_compile.h"
#include "graph/custom_op.h"
#include "subtract_ops.h"

namespace {
struct Args {
  const void *x;
  const void *y;
  void *z;
};

std::string SourceText() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void *>(&SourceText), &info) == 0) {
    return "";
  }
  const std::string library = info.dli_fname;
  std::ifstream file(library.substr(0, library.rfind('/')) + "/subtract.asc");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

aclrtFuncHandle Build() {
  const std::string source = SourceText();
  aclrtcProg program = nullptr;
  if (source.empty() || aclrtcCreateProg(&program, source.c_str(), "subtract.asc", 0, nullptr, nullptr) != ACL_SUCCESS) {
    return nullptr;
  }
  const char *options[] = {"--npu-arch=dav-2201"};
  size_t size = 0;
  std::vector<char> binary;
  if (aclrtcCompileProg(program, 1, options) == ACL_SUCCESS && aclrtcGetBinDataSize(program, &size) == ACL_SUCCESS) {
    binary.resize(size);
    (void)aclrtcGetBinData(program, binary.data());
  }
  (void)aclrtcDestroyProg(&program);
  aclrtBinaryLoadOption magic{};
  magic.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
  magic.value.magic = ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
  aclrtBinaryLoadOptions load{&magic, 1};
  aclrtBinHandle handle = nullptr;
  aclrtFuncHandle function = nullptr;
  if (binary.empty() || aclrtBinaryLoadFromData(binary.data(), binary.size(), &load, &handle) != ACL_SUCCESS ||
      aclrtBinaryGetFunction(handle, "subtract", &function) != ACL_SUCCESS) {
    return nullptr;
  }
  return function;
}

aclrtFuncHandle Function() {
  static std::once_flag once;
  static aclrtFuncHandle function = nullptr;
  std::call_once(once, [] { function = Build(); });
  return function;
}

Args Fill(const gert::EagerOpExecutionContext &ctx) {
  return {ctx.GetInputTensor(0)->GetAddr(), ctx.GetInputTensor(1)->GetAddr(), const_cast<void *>(ctx.GetOutputTensor(0)->GetAddr())};
}

ge::graphStatus LaunchOnDeviceArgs(gert::EagerOpExecutionContext *ctx) {
  const gert::Tensor *x = ctx->GetInputTensor(0);
  if (Function() == nullptr || ctx->MallocOutputTensor(0, x->GetShape(), x->GetFormat(), x->GetDataType()) == nullptr) {
    return ge::GRAPH_FAILED;
  }
  Args args = Fill(*ctx);
  const gert::KernelArgs *device = ctx->MallocReadOnlyDevArgs(&args, sizeof(args));
  const auto blocks = static_cast<uint32_t>(x->GetShapeSize() / 256);
  const bool is_launched = device != nullptr && aclrtLaunchKernelV2(Function(), blocks, device->args_data, device->args_size, nullptr,
                                                                    ctx->GetStream()) == ACL_SUCCESS;
  return is_launched ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}
}  // namespace

namespace ge {
class SubtractCopied : public EagerExecuteOp, public ShapeInferOp {
 public:
  graphStatus Execute(gert::EagerOpExecutionContext *ctx) override { return LaunchOnDeviceArgs(ctx); }
  graphStatus InferShape(gert::InferShapeContext *ctx) override {
    *ctx->GetOutputShape(0) = *ctx->GetInputShape(0);
    return GRAPH_SUCCESS;
  }
  graphStatus InferDataType(gert::InferDataTypeContext *ctx) override { return ctx->SetOutputDataType(0, ctx->GetInputDataType(0)); }
};
REG_AUTO_MAPPING_OP(SubtractCopied);

class SubtractRefreshed : public SubtractCopied, public ArgsUpdater {
 public:
  graphStatus UpdateHostArgs(gert::UpdateArgsContext *ctx) override {
    const gert::KernelArgs *host = ctx->GetKernelArgs(gert::Placement::kPlacementHost, 0);
    if (host == nullptr || host->args_size < sizeof(Args)) {
      return GRAPH_FAILED;
    }
    *static_cast<Args *>(host->args_data) = Fill(*ctx);
    return GRAPH_SUCCESS;
  }
};
REG_AUTO_MAPPING_OP(SubtractRefreshed);
}  // namespace ge
