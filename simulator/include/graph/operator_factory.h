// The process-wide registries of operator types: creators (prototypes), shape inference, verification.
#ifndef OPKIT_SIM_GRAPH_OPERATOR_FACTORY_H_
#define OPKIT_SIM_GRAPH_OPERATOR_FACTORY_H_

#include <functional>
#include <string>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"
#include "graph/operator.h"
#include "graph/types.h"

namespace ge {

using OpCreator = std::function<Operator(const std::string &)>;
using OpCreatorV2 = std::function<Operator(const AscendString &)>;
using InferShapeFunc = std::function<graphStatus(Operator &)>;
using VerifyFunc = std::function<graphStatus(Operator &)>;

class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY OperatorFactory {
 public:
  // An empty Operator, and a warning, for a type that nobody registered.
  static Operator CreateOperator(const char_t *const operator_name, const char_t *const operator_type);
  static bool IsExistOp(const char_t *const operator_type);
  static graphStatus GetOpsTypeList(std::vector<AscendString> &all_ops);

  ATTRIBUTED_DEPRECATED(static Operator CreateOperator(const char_t *, const char_t *))
  static Operator CreateOperator(const std::string &operator_name, const std::string &operator_type) {
    return CreateOperator(operator_name.c_str(), operator_type.c_str());
  }
  ATTRIBUTED_DEPRECATED(static bool IsExistOp(const char_t *))
  static bool IsExistOp(const std::string &operator_type) { return IsExistOp(operator_type.c_str()); }
  ATTRIBUTED_DEPRECATED(static graphStatus GetOpsTypeList(std::vector<AscendString> &))
  static graphStatus GetOpsTypeList(std::vector<std::string> &all_ops) {
    std::vector<AscendString> types;
    const graphStatus status = GetOpsTypeList(types);
    all_ops.clear();
    for (const AscendString &type : types) {
      all_ops.emplace_back(type.GetString());
    }
    return status;
  }
};

// Static objects of these register when their library is loaded. The first registration of a type stays; later ones are dropped silently.
class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(const char_t *const operator_type, OpCreatorV2 const &op_creator);
  ATTRIBUTED_DEPRECATED(OperatorCreatorRegister(const char_t *, OpCreatorV2 const &))
  OperatorCreatorRegister(const std::string &operator_type, OpCreator const &op_creator)
      : OperatorCreatorRegister(operator_type.c_str(),
                                OpCreatorV2([op_creator](const AscendString &name) { return op_creator(std::string(name.GetString())); })) {
  }
  ~OperatorCreatorRegister() = default;
};

class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY InferShapeFuncRegister {
 public:
  InferShapeFuncRegister(const char_t *const operator_type, const InferShapeFunc &infer_shape_func);
  ATTRIBUTED_DEPRECATED(InferShapeFuncRegister(const char_t *, const InferShapeFunc &))
  InferShapeFuncRegister(const std::string &operator_type, const InferShapeFunc &infer_shape_func)
      : InferShapeFuncRegister(operator_type.c_str(), infer_shape_func) {}
  ~InferShapeFuncRegister() = default;
};

class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY VerifyFuncRegister {
 public:
  VerifyFuncRegister(const char_t *const operator_type, const VerifyFunc &verify_func);
  ATTRIBUTED_DEPRECATED(VerifyFuncRegister(const char_t *, const VerifyFunc &))
  VerifyFuncRegister(const std::string &operator_type, const VerifyFunc &verify_func)
      : VerifyFuncRegister(operator_type.c_str(), verify_func) {}
  ~VerifyFuncRegister() = default;
};

}  // namespace ge

#endif  // OPKIT_SIM_GRAPH_OPERATOR_FACTORY_H_
