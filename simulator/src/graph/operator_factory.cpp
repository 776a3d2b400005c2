#include "graph/operator_factory.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "graph/operator_impl.h"
#include "graph/operator_registry.h"
#include "metadef/report.h"

namespace ge {
namespace {

// Filled by static registrars of any library, in any order, possibly from several threads that load libraries.
template <typename Function>
class Registry {
 public:
  void Add(const char_t *type, const Function &function) {
    if (type != nullptr && function) {
      const std::lock_guard<std::mutex> lock(mutex_);
      (void)functions_.emplace(AscendString(type), function);
    }
  }

  Function Find(const AscendString &type) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = functions_.find(type);
    return found == functions_.end() ? Function() : found->second;
  }

  std::vector<AscendString> Types() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<AscendString> types;
    for (const auto &[type, function] : functions_) {
      types.push_back(type);
    }
    return types;
  }

 private:
  std::mutex mutex_;
  std::map<AscendString, Function> functions_;
};

// Never destroyed: they hold code of libraries that may be gone by then.
Registry<OpCreatorV2> &Creators() {
  static auto *const registry = new Registry<OpCreatorV2>;
  return *registry;
}

Registry<InferShapeFunc> &Inferences() {
  static auto *const registry = new Registry<InferShapeFunc>;
  return *registry;
}

Registry<VerifyFunc> &Verifications() {
  static auto *const registry = new Registry<VerifyFunc>;
  return *registry;
}

}  // namespace

Operator OperatorFactory::CreateOperator(const char_t *const operator_name, const char_t *const operator_type) {
  const OpCreatorV2 creator = Creators().Find(AscendString(operator_type));
  if (!creator) {
    opkit_sim::ReportWarning("[Create][Operator] No op_proto of [%s] registered by AscendString.", AscendString(operator_type).GetString());
    return Operator();
  }
  return creator(AscendString(operator_name));
}

bool OperatorFactory::IsExistOp(const char_t *const operator_type) {
  return static_cast<bool>(Creators().Find(AscendString(operator_type)));
}

graphStatus OperatorFactory::GetOpsTypeList(std::vector<AscendString> &all_ops) {
  all_ops = Creators().Types();
  return all_ops.empty() ? GRAPH_FAILED : GRAPH_SUCCESS;
}

OperatorCreatorRegister::OperatorCreatorRegister(const char_t *const operator_type, OpCreatorV2 const &op_creator) {
  Creators().Add(operator_type, op_creator);
}

InferShapeFuncRegister::InferShapeFuncRegister(const char_t *const operator_type, const InferShapeFunc &infer_shape_func) {
  Inferences().Add(operator_type, infer_shape_func);
}

VerifyFuncRegister::VerifyFuncRegister(const char_t *const operator_type, const VerifyFunc &verify_func) {
  Verifications().Add(operator_type, verify_func);
}

}  // namespace ge

namespace opkit_sim::graph {

ge::InferShapeFunc FindInferShape(const ge::AscendString &op_type) { return ge::Inferences().Find(op_type); }

ge::VerifyFunc FindVerify(const ge::AscendString &op_type) { return ge::Verifications().Find(op_type); }

ge::AscendString NameForType(const char *op_type) {
  static std::atomic<uint32_t> count{0U};
  return ge::AscendString((std::string(op_type) + "_" + std::to_string(count.fetch_add(1U))).c_str());
}

bool IsDataType(const ge::AscendString &op_type) {
  return op_type == "Data" || op_type == "RefData" || op_type == "AippData" || op_type == "AnnData";
}

bool IsConstType(const ge::AscendString &op_type) { return op_type == "Const" || op_type == "Constant"; }

bool FindProto(const char *op_type, Proto &proto) {
  const ge::OpCreatorV2 creator = ge::Creators().Find(ge::AscendString(op_type));
  if (!creator) {
    return false;
  }
  const ge::Operator sample = creator(ge::AscendString(op_type));
  if (sample.IsEmpty()) {
    return false;
  }
  proto = ge::OperatorImpl::Of(sample)->proto;
  return true;
}

}  // namespace opkit_sim::graph
