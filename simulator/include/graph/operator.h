// Operator: a node of a graph under construction, its wiring, descs and attributes.
//
// An Operator is a handle: copies are the same node, and a derived class made by REG_OP adds calls but no state.
#ifndef OPKIT_SIM_GRAPH_OPERATOR_H_
#define OPKIT_SIM_GRAPH_OPERATOR_H_

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"
#include "graph/inference_context.h"
#include "graph/tensor.h"
#include "graph/types.h"

// Log hooks: a program may define them before this header.
#ifndef USER_GE_LOGI
#define USER_GE_LOGI(...)
#endif
#ifndef USER_GE_LOGW
#define USER_GE_LOGW(...)
#endif
#ifndef USER_GE_LOGE
#define USER_GE_LOGE(...)
#endif

namespace ge {

class AttrValue;
class Graph;
class NamedAttrs;
class Operator;
class OperatorImpl;

using SubgraphBuilder = std::function<Graph()>;
using OperatorImplPtr = std::shared_ptr<OperatorImpl>;
using OperatorPtr = std::shared_ptr<Operator>;

// Programs written inside namespace ge rely on these.
using std::function;
using std::shared_ptr;
using std::string;

class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY Operator {
 public:
  using OpInt = int64_t;
  using OpFloat = float32_t;
  using OpString = std::string;
  using OpAscendString = AscendString;
  using OpBool = bool;
  using OpTensor = Tensor;
  using OpType = ge::DataType;
  using OpNamedAttrs = ge::NamedAttrs;
  using OpListInt = std::vector<int64_t>;
  using OpListFloat = std::vector<float32_t>;
  using OpListString = std::vector<std::string>;
  using OpListAscendString = std::vector<AscendString>;
  using OpListAcendString = OpListAscendString;
  using OpListBool = std::vector<bool>;
  using OpListTensor = std::vector<Tensor>;
  using OpBytes = std::vector<uint8_t>;
  using OpListListInt = std::vector<std::vector<int64_t>>;
  using OpListType = std::vector<ge::DataType>;
  using OpListNamedAttrs = std::vector<ge::NamedAttrs>;

  Operator() = default;  // empty: IsEmpty() holds, every call on it fails
  explicit Operator(const char_t *type);
  Operator(const char_t *name, const char_t *type);
  Operator(const AscendString &name, const AscendString &type);
  ATTRIBUTED_DEPRECATED(Operator(const char_t *)) explicit Operator(const std::string &type) : Operator(type.c_str()) {}
  ATTRIBUTED_DEPRECATED(Operator(const char_t *, const char_t *))
  Operator(const std::string &name, const std::string &type) : Operator(name.c_str(), type.c_str()) {}
  virtual ~Operator() = default;
  Operator(const Operator &) = default;
  Operator &operator=(const Operator &) = default;

  bool IsEmpty() const;
  graphStatus GetName(AscendString &name) const;
  graphStatus GetOpType(AscendString &type) const;
  ATTRIBUTED_DEPRECATED(graphStatus GetName(AscendString &) const) std::string GetName() const {
    AscendString name;
    (void)GetName(name);
    return name.GetString();
  }
  ATTRIBUTED_DEPRECATED(graphStatus GetOpType(AscendString &) const) std::string GetOpType() const {
    AscendString type;
    (void)GetOpType(type);
    return type.GetString();
  }

  // Wiring. An input takes one source for good: wiring it again is refused, and the graph that holds it doesn't build. The input's desc
  // becomes the source's, except for a format that was set before. Without an output name or index the source must have one output only.
  Operator &SetInput(const char_t *dst_name, const Operator &src_oprt);
  Operator &SetInput(const char_t *dst_name, const Operator &src_oprt, const char_t *name);
  Operator &SetInput(const char_t *dst_name, const Operator &src_oprt, uint32_t index);
  Operator &SetInput(uint32_t dst_index, const Operator &src_oprt, uint32_t src_index);
  // The same for member `dst_index` of the dynamic input `dst_name`.
  Operator &SetInput(const char_t *dst_name, uint32_t dst_index, const Operator &src_oprt, const char_t *name);
  Operator &SetInput(const char_t *dst_name, uint32_t dst_index, const Operator &src_oprt);
  ATTRIBUTED_DEPRECATED(Operator &SetInput(const char_t *, const Operator &))
  Operator &SetInput(const std::string &dst_name, const Operator &src_oprt) { return SetInput(dst_name.c_str(), src_oprt); }
  ATTRIBUTED_DEPRECATED(Operator &SetInput(const char_t *, const Operator &, const char_t *))
  Operator &SetInput(const std::string &dst_name, const Operator &src_oprt, const std::string &name) {
    return SetInput(dst_name.c_str(), src_oprt, name.c_str());
  }
  ATTRIBUTED_DEPRECATED(Operator &SetInput(const char_t *, const Operator &, uint32_t))
  Operator &SetInput(const std::string &dst_name, const Operator &src_oprt, uint32_t index) {
    return SetInput(dst_name.c_str(), src_oprt, index);
  }
  Operator &AddControlInput(const Operator &src_oprt);
  // Takes this operator out of all wiring, on both sides.
  void BreakConnect() const;

  // The value of the Const that feeds an input; GRAPH_FAILED if none does.
  graphStatus GetInputConstData(const char_t *dst_name, Tensor &data) const;
  ATTRIBUTED_DEPRECATED(graphStatus GetInputConstData(const char_t *, Tensor &) const)
  graphStatus GetInputConstData(const std::string &dst_name, Tensor &data) const { return GetInputConstData(dst_name.c_str(), data); }

  // Descs, by port name (member 2 of a dynamic port "x" is "x2") or by position.
  // Getters hand out copies; an unknown port gives a default desc.
  TensorDesc GetInputDescByName(const char_t *name) const;
  TensorDesc GetInputDesc(uint32_t index) const;
  graphStatus TryGetInputDesc(const char_t *name, TensorDesc &tensor_desc) const;
  graphStatus UpdateInputDesc(const char_t *name, const TensorDesc &tensor_desc);
  graphStatus UpdateInputDesc(const uint32_t index, const TensorDesc &tensor_desc);
  TensorDesc GetOutputDescByName(const char_t *name) const;
  TensorDesc GetOutputDesc(uint32_t index) const;
  // Also updates the inputs that this output feeds.
  graphStatus UpdateOutputDesc(const char_t *name, const TensorDesc &tensor_desc);
  graphStatus UpdateOutputDesc(const uint32_t index, const TensorDesc &tensor_desc);
  ATTRIBUTED_DEPRECATED(TensorDesc GetInputDescByName(const char_t *) const)
  TensorDesc GetInputDesc(const std::string &name) const { return GetInputDescByName(name.c_str()); }
  ATTRIBUTED_DEPRECATED(graphStatus TryGetInputDesc(const char_t *, TensorDesc &) const)
  graphStatus TryGetInputDesc(const std::string &name, TensorDesc &tensor_desc) const { return TryGetInputDesc(name.c_str(), tensor_desc); }
  ATTRIBUTED_DEPRECATED(graphStatus UpdateInputDesc(const char_t *, const TensorDesc &))
  graphStatus UpdateInputDesc(const std::string &name, const TensorDesc &tensor_desc) { return UpdateInputDesc(name.c_str(), tensor_desc); }
  ATTRIBUTED_DEPRECATED(TensorDesc GetOutputDescByName(const char_t *) const)
  TensorDesc GetOutputDesc(const std::string &name) const { return GetOutputDescByName(name.c_str()); }
  ATTRIBUTED_DEPRECATED(graphStatus UpdateOutputDesc(const char_t *, const TensorDesc &))
  graphStatus UpdateOutputDesc(const std::string &name, const TensorDesc &tensor_desc) {
    return UpdateOutputDesc(name.c_str(), tensor_desc);
  }

  // Members of a dynamic port; the count is 0 for a port that isn't dynamic or has none yet.
  int32_t GetDynamicInputNum(const char_t *name) const;
  int32_t GetDynamicOutputNum(const char_t *name) const;
  TensorDesc GetDynamicInputDesc(const char_t *name, uint32_t index) const;
  TensorDesc GetDynamicOutputDesc(const char_t *name, uint32_t index) const;
  graphStatus UpdateDynamicInputDesc(const char_t *name, uint32_t index, const TensorDesc &tensor_desc);
  graphStatus UpdateDynamicOutputDesc(const char_t *name, uint32_t index, const TensorDesc &tensor_desc);
  ATTRIBUTED_DEPRECATED(int32_t GetDynamicInputNum(const char_t *) const)
  int32_t GetDynamicInputNum(const std::string &name) const { return GetDynamicInputNum(name.c_str()); }
  ATTRIBUTED_DEPRECATED(int32_t GetDynamicOutputNum(const char_t *) const)
  int32_t GetDynamicOutputNum(const std::string &name) const { return GetDynamicOutputNum(name.c_str()); }
  ATTRIBUTED_DEPRECATED(TensorDesc GetDynamicInputDesc(const char_t *, uint32_t) const)
  TensorDesc GetDynamicInputDesc(const std::string &name, uint32_t index) const { return GetDynamicInputDesc(name.c_str(), index); }
  ATTRIBUTED_DEPRECATED(TensorDesc GetDynamicOutputDesc(const char_t *, uint32_t) const)
  TensorDesc GetDynamicOutputDesc(const std::string &name, uint32_t index) const { return GetDynamicOutputDesc(name.c_str(), index); }
  ATTRIBUTED_DEPRECATED(graphStatus UpdateDynamicInputDesc(const char_t *, uint32_t, const TensorDesc &))
  graphStatus UpdateDynamicInputDesc(const std::string &name, uint32_t index, const TensorDesc &tensor_desc) {
    return UpdateDynamicInputDesc(name.c_str(), index, tensor_desc);
  }
  ATTRIBUTED_DEPRECATED(graphStatus UpdateDynamicOutputDesc(const char_t *, uint32_t, const TensorDesc &))
  graphStatus UpdateDynamicOutputDesc(const std::string &name, uint32_t index, const TensorDesc &tensor_desc) {
    return UpdateDynamicOutputDesc(name.c_str(), index, tensor_desc);
  }

  // `push_back` appends new members behind all existing inputs; otherwise they go to the front. ByIndex: before the input at `index`.
  void DynamicInputRegister(const char_t *name, const uint32_t num, bool is_push_back = true);
  void DynamicInputRegister(const char_t *name, const uint32_t num, const char_t *datatype_symbol, bool is_push_back = true);
  void DynamicInputRegisterByIndex(const char_t *name, const uint32_t num, size_t index);
  void DynamicOutputRegister(const char_t *name, const uint32_t num, bool is_push_back = true);
  void DynamicOutputRegister(const char_t *name, const uint32_t num, const char_t *datatype_symbol, bool is_push_back = true);

  // Counts members of dynamic ports, and optional inputs only once they are wired or have a desc.
  size_t GetInputsSize() const;
  size_t GetOutputsSize() const;

  // Runs the function that INFER_FUNC_REG registered for this type; GRAPH_FAILED if none was.
  graphStatus InferShapeAndType();
  // GRAPH_FAILED if a required attribute was never set, then what VERIFY_FUNC_REG registered, if anything.
  graphStatus VerifyAllAttr(bool disable_common_verifier = false);
  void SetInferenceContext(const InferenceContextPtr &inference_context);
  InferenceContextPtr GetInferenceContext() const;

  // Attributes. A set on an undeclared name adds it; a get with another type than the stored one fails, except among the integer widths if
  // the value fits.
#define OPKIT_SIM_OPERATOR_ATTR(by_value, ...)                                                                  \
  Operator &SetAttr(const char_t *name, by_value attr_value);                                                   \
  graphStatus GetAttr(const char_t *name, __VA_ARGS__ &attr_value) const;                                       \
  ATTRIBUTED_DEPRECATED(Operator &SetAttr(const char_t *, by_value))                                            \
  Operator &SetAttr(const std::string &name, by_value attr_value) { return SetAttr(name.c_str(), attr_value); } \
  ATTRIBUTED_DEPRECATED(graphStatus GetAttr(const char_t *, __VA_ARGS__ &) const)                               \
  graphStatus GetAttr(const std::string &name, __VA_ARGS__ &attr_value) const { return GetAttr(name.c_str(), attr_value); }
#define OPKIT_SIM_OPERATOR_ATTR_REF(...) OPKIT_SIM_OPERATOR_ATTR(const __VA_ARGS__ &, __VA_ARGS__)
  OPKIT_SIM_OPERATOR_ATTR(int64_t, int64_t)
  OPKIT_SIM_OPERATOR_ATTR(int32_t, int32_t)
  OPKIT_SIM_OPERATOR_ATTR(uint32_t, uint32_t)
  OPKIT_SIM_OPERATOR_ATTR(float32_t, float32_t)
  OPKIT_SIM_OPERATOR_ATTR(bool, bool)
  OPKIT_SIM_OPERATOR_ATTR_REF(ge::DataType)
  OPKIT_SIM_OPERATOR_ATTR_REF(Tensor)
  OPKIT_SIM_OPERATOR_ATTR_REF(OpBytes)
  OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<int64_t>)
  OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<int32_t>)
  OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<uint32_t>)
  OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<float32_t>)
  OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<bool>)
  OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<ge::DataType>)
  OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<Tensor>)
  OPKIT_SIM_OPERATOR_ATTR_REF(std::vector<std::vector<int64_t>>)
#undef OPKIT_SIM_OPERATOR_ATTR_REF
#undef OPKIT_SIM_OPERATOR_ATTR
  Operator &SetAttr(const char_t *name, std::initializer_list<int64_t> &&attr_value);
  Operator &SetAttr(const char_t *name, const char_t *attr_value);
  Operator &SetAttr(const char_t *name, const AscendString &attr_value);
  graphStatus GetAttr(const char_t *name, AscendString &attr_value) const;
  Operator &SetAttr(const char_t *name, const std::vector<AscendString> &attr_values);
  graphStatus GetAttr(const char_t *name, std::vector<AscendString> &attr_values) const;
  Operator &SetAttr(const char_t *name, AttrValue &&attr_value);
  Operator &SetAttr(const char_t *name, const AttrValue &attr_value);
  graphStatus GetAttr(const char_t *name, AttrValue &attr_value) const;
  ATTRIBUTED_DEPRECATED(Operator &SetAttr(const char_t *, std::initializer_list<int64_t> &&))
  Operator &SetAttr(const std::string &name, std::initializer_list<int64_t> &&attr_value) {
    return SetAttr(name.c_str(), std::move(attr_value));
  }
  ATTRIBUTED_DEPRECATED(Operator &SetAttr(const char_t *, AttrValue &&))
  Operator &SetAttr(const std::string &name, AttrValue &&attr_value) { return SetAttr(name.c_str(), std::move(attr_value)); }
  ATTRIBUTED_DEPRECATED(graphStatus GetAttr(const char_t *, AttrValue &) const)
  graphStatus GetAttr(const std::string &name, AttrValue &attr_value) const { return GetAttr(name.c_str(), attr_value); }
  Operator &SetAttr(const std::string &name, const std::string &attr_value) {
    return SetAttr(name.c_str(), AscendString(attr_value.data(), attr_value.size()));
  }
  graphStatus GetAttr(const std::string &name, std::string &attr_value) const {
    AscendString text;
    const graphStatus status = GetAttr(name.c_str(), text);
    if (status == GRAPH_SUCCESS) {
      attr_value.assign(text.GetString(), text.GetLength());
    }
    return status;
  }
  Operator &SetAttr(const std::string &name, const std::vector<std::string> &attr_value) {
    std::vector<AscendString> texts;
    for (const std::string &value : attr_value) {
      texts.emplace_back(value.data(), value.size());
    }
    return SetAttr(name.c_str(), texts);
  }
  graphStatus GetAttr(const std::string &name, std::vector<std::string> &attr_value) const {
    std::vector<AscendString> texts;
    const graphStatus status = GetAttr(name.c_str(), texts);
    if (status == GRAPH_SUCCESS) {
      attr_value.clear();
      for (const AscendString &text : texts) {
        attr_value.emplace_back(text.GetString(), text.GetLength());
      }
    }
    return status;
  }

  // Name to type ("Int", "ListFloat", ...): of all attributes, or of those that the prototype declares.
  graphStatus GetAllAttrNamesAndTypes(std::map<AscendString, AscendString> &attr_name_types) const;
  graphStatus GetAllIrAttrNamesAndTypes(std::map<AscendString, AscendString> &attr_name_types) const;
  ATTRIBUTED_DEPRECATED(graphStatus GetAllAttrNamesAndTypes(std::map<AscendString, AscendString> &) const)
  std::map<std::string, std::string> GetAllAttrNamesAndTypes() const {
    std::map<AscendString, AscendString> found;
    (void)GetAllAttrNamesAndTypes(found);
    std::map<std::string, std::string> result;
    for (const auto &[name, type] : found) {
      result[name.GetString()] = type.GetString();
    }
    return result;
  }

  // Attributes of one input or output, by position or port name.
#define OPKIT_SIM_PORT_ATTR(by_value, ...)                                                             \
  Operator &SetInputAttr(const int32_t index, const char_t *name, by_value attr_value);                \
  graphStatus GetInputAttr(const int32_t index, const char_t *name, __VA_ARGS__ &attr_value) const;    \
  Operator &SetOutputAttr(const int32_t index, const char_t *name, by_value attr_value);               \
  graphStatus GetOutputAttr(const int32_t index, const char_t *name, __VA_ARGS__ &attr_value) const;   \
  Operator &SetInputAttr(const char_t *dst_name, const char_t *name, by_value attr_value);             \
  graphStatus GetInputAttr(const char_t *dst_name, const char_t *name, __VA_ARGS__ &attr_value) const; \
  Operator &SetOutputAttr(const char_t *dst_name, const char_t *name, by_value attr_value);            \
  graphStatus GetOutputAttr(const char_t *dst_name, const char_t *name, __VA_ARGS__ &attr_value) const;
#define OPKIT_SIM_PORT_ATTR_REF(...) OPKIT_SIM_PORT_ATTR(const __VA_ARGS__ &, __VA_ARGS__)
  OPKIT_SIM_PORT_ATTR(int64_t, int64_t)
  OPKIT_SIM_PORT_ATTR(int32_t, int32_t)
  OPKIT_SIM_PORT_ATTR(uint32_t, uint32_t)
  OPKIT_SIM_PORT_ATTR(float32_t, float32_t)
  OPKIT_SIM_PORT_ATTR(bool, bool)
  OPKIT_SIM_PORT_ATTR_REF(AscendString)
  OPKIT_SIM_PORT_ATTR_REF(std::vector<AscendString>)
  OPKIT_SIM_PORT_ATTR_REF(std::vector<int64_t>)
  OPKIT_SIM_PORT_ATTR_REF(std::vector<int32_t>)
  OPKIT_SIM_PORT_ATTR_REF(std::vector<uint32_t>)
  OPKIT_SIM_PORT_ATTR_REF(std::vector<bool>)
  OPKIT_SIM_PORT_ATTR_REF(std::vector<float32_t>)
#undef OPKIT_SIM_PORT_ATTR_REF
#undef OPKIT_SIM_PORT_ATTR
  Operator &SetInputAttr(const int32_t index, const char_t *name, const char_t *attr_value);
  Operator &SetOutputAttr(const int32_t index, const char_t *name, const char_t *attr_value);
  Operator &SetInputAttr(const char_t *dst_name, const char_t *name, const char_t *attr_value);
  Operator &SetOutputAttr(const char_t *dst_name, const char_t *name, const char_t *attr_value);

  // Subgraphs: declared by GRAPH and DYNAMIC_GRAPH. A getter without a builder gives an empty function, or a Graph that isn't valid.
  void SubgraphCountRegister(const char_t *ir_name, uint32_t count);
  void SetSubgraphBuilder(const char_t *ir_name, uint32_t index, const SubgraphBuilder &builder);
  size_t GetSubgraphNamesCount() const;
  graphStatus GetSubgraphNames(std::vector<AscendString> &names) const;
  SubgraphBuilder GetSubgraphBuilder(const char_t *name) const;
  SubgraphBuilder GetDynamicSubgraphBuilder(const char_t *name, uint32_t index) const;
  Graph GetSubgraph(const char_t *name) const;
  Graph GetDynamicSubgraph(const char_t *name, uint32_t index) const;

  void AttrRegister(const char_t *name, const AttrValue &attr_value);

 protected:
  explicit Operator(OperatorImplPtr &&op_impl);

  // The hooks that REG_OP's macros call. A type text that is a string literal arrives with its quotes and names a symbol of DATATYPE.
  void InputRegister(const char_t *name);
  void InputRegister(const char_t *name, const char_t *datatype_symbol);
  void OptionalInputRegister(const char_t *name);
  void OptionalInputRegister(const char_t *name, const char_t *datatype_symbol);
  void OutputRegister(const char_t *name);
  void OutputRegister(const char_t *name, const char_t *datatype_symbol);
  void AttrRegister(const char_t *name, int64_t attr_value);
  void AttrRegister(const char_t *name, float32_t attr_value);
  void AttrRegister(const char_t *name, bool attr_value);
  void AttrRegister(const char_t *name, const char_t *attr_value);
  void AttrRegister(const char_t *name, const AscendString &attr_value);
  void AttrRegister(const char_t *name, const ge::DataType &attr_value);
  void AttrRegister(const char_t *name, const Tensor &attr_value);
  void AttrRegister(const char_t *name, const OpBytes &attr_value);
  void AttrRegister(const char_t *name, const std::vector<int64_t> &attr_value);
  void AttrRegister(const char_t *name, const std::vector<float32_t> &attr_value);
  void AttrRegister(const char_t *name, const std::vector<bool> &attr_value);
  void AttrRegister(const char_t *name, const std::vector<AscendString> &attr_value);
  void AttrRegister(const char_t *name, const std::vector<ge::DataType> &attr_value);
  void AttrRegister(const char_t *name, const std::vector<Tensor> &attr_value);
  void AttrRegister(const char_t *name, const std::vector<std::vector<int64_t>> &attr_value);
  void RequiredAttrRegister(const char_t *name);
  void RequiredAttrWithTypeRegister(const char_t *name, const char_t *type);
  void DataTypeRegister(const char_t *datatype_symbol, const TensorType &type_range);
  void DataTypeRegister(const char_t *datatype_symbol, const ListTensorType &list_type_range);
  void DataTypeRegister(const char_t *datatype_symbol, const Promote &promote_rule);
  void SubgraphRegister(const char_t *ir_name, bool dynamic);

 private:
  friend class OperatorImpl;
  OperatorImplPtr operator_impl_;
};

}  // namespace ge

#endif  // OPKIT_SIM_GRAPH_OPERATOR_H_
