// REG_OP and its clauses: an operator prototype as a C++ class with typed calls, and its registration.
//
//   namespace ge {
//   REG_OP(Add)
//       .INPUT(x1, "T").INPUT(x2, "T").OUTPUT(y, "T")
//       .DATATYPE(T, TensorType::NumberType())
//       .OP_END_FACTORY_REG(Add)
//   }
//
// REG_OP opens namespace op and a class; each clause closes the registration function that is open, adds its public calls, and opens its
// own registration function, which the one before calls. So a clause ends inside a function body, at an expression that the next clause's
// dot continues, and constructing the class runs the functions in declaration order.
#ifndef OPKIT_SIM_GRAPH_OPERATOR_REG_H_
#define OPKIT_SIM_GRAPH_OPERATOR_REG_H_

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/attr_value.h"
#include "graph/graph.h"
#include "graph/operator.h"
#include "graph/operator_factory.h"
#include "graph/tensor.h"
#include "graph/types.h"

#ifndef FORCE_INLINE
#define FORCE_INLINE __attribute__((always_inline))
#endif

// Strings of any of the three kinds as what Operator stores.
template <typename T>
ge::AscendString ConvertToAscendString(T str) {
  if constexpr (std::is_same_v<T, std::string>) {
    return ge::AscendString(str.data(), str.size());
  } else {
    static_assert(std::is_same_v<T, const char *> || std::is_same_v<T, ge::AscendString>, "a string attribute takes a string");
    return ge::AscendString(str);
  }
}

template <typename T>
std::vector<ge::AscendString> ConvertToListAscendString(T strs) {
  std::vector<ge::AscendString> texts;
  texts.reserve(strs.size());
  for (auto &str : strs) {
    texts.push_back(ConvertToAscendString(std::move(str)));
  }
  return texts;
}

namespace ge {

// Programs written inside namespace ge rely on these.
using std::function;
using std::string;
using std::vector;

// What a clause's dot is applied to.
class OpReg {
 public:
  OpReg &N() { return *this; }
};

#define OPKIT_SIM_NAME_OF_(call, x)                                                                \
  ATTRIBUTED_DEPRECATED(static void call(AscendString &)) static std::string call() { return #x; } \
  static void call(AscendString &name) { name = AscendString(#x); }

#define REG_OP(x)                                                                                                        \
  namespace op {                                                                                                         \
  class x : public Operator {                                                                                            \
    typedef x _THIS_TYPE;                                                                                                \
                                                                                                                         \
   public:                                                                                                               \
    ATTRIBUTED_DEPRECATED(x(const char *)) explicit x(const std::string &name) : Operator(name.c_str(), #x) { __##x(); } \
    explicit x(const char *name) : Operator(name, #x) { __##x(); }                                                       \
    explicit x(const AscendString &name) : Operator(name, AscendString(#x)) { __##x(); }                                 \
    x() : Operator(#x) { __##x(); }                                                                                      \
                                                                                                                         \
   private:                                                                                                              \
    void FORCE_INLINE __##x() {                                                                                          \
      OpReg()

#define OPKIT_SIM_OPEN_(call) \
  N();                        \
  call();                     \
  }                           \
                              \
 public:

#define OPKIT_SIM_CONTINUE_ (void)OpReg()

// ---- attributes ----

// String types have calls beside the common ones, the others have none. `ret` is the prototype's default if the attribute has another type.
#define OPKIT_SIM_TEXT_ATTR_(x, Value, to_stored, ...) \
  graphStatus get_attr_##x(Value &ret) const {         \
    if (Operator::GetAttr(#x, ret) != GRAPH_SUCCESS) { \
      ret = to_stored(__VA_ARGS__);                    \
    }                                                  \
    return GRAPH_SUCCESS;                              \
  }
#define OPKIT_SIM_TEXT_REQUIRED_ATTR_(x, Value) \
  graphStatus get_attr_##x(Value &ret) const { return Operator::GetAttr(#x, ret); }
#define OPKIT_SIM_STRING_SETTERS_(x)        \
  _THIS_TYPE &set_attr_##x(const char *v) { \
    Operator::SetAttr(#x, v);               \
    return *this;                           \
  }                                         \
  _THIS_TYPE &set_attr_##x(const function<AscendString()> &) { return *this; }
#define OPKIT_SIM_LIST_STRING_SETTERS_(x)                        \
  _THIS_TYPE &set_attr_##x(const std::vector<AscendString> &v) { \
    Operator::SetAttr(#x, v);                                    \
    return *this;                                                \
  }                                                              \
  _THIS_TYPE &set_attr_##x(const function<std::vector<AscendString>()> &) { return *this; }

#define ATTR_String(x, ...) OPKIT_SIM_TEXT_ATTR_(x, AscendString, ConvertToAscendString, OpString(__VA_ARGS__)) OPKIT_SIM_STRING_SETTERS_(x)
#define ATTR_AscendString(x, ...) OPKIT_SIM_TEXT_ATTR_(x, AscendString, ConvertToAscendString, OpAscendString(__VA_ARGS__))
#define ATTR_ListString(x, ...) \
  OPKIT_SIM_TEXT_ATTR_(x, std::vector<AscendString>, ConvertToListAscendString, OpListString(__VA_ARGS__)) OPKIT_SIM_LIST_STRING_SETTERS_(x)
#define ATTR_ListAscendString(x, ...) \
  OPKIT_SIM_TEXT_ATTR_(x, std::vector<AscendString>, ConvertToListAscendString, OpListAscendString(__VA_ARGS__))
#define ATTR_Int(x, ...)
#define ATTR_Float(x, ...)
#define ATTR_Bool(x, ...)
#define ATTR_Tensor(x, ...)
#define ATTR_Type(x, ...)
#define ATTR_NamedAttrs(x, ...)
#define ATTR_ListInt(x, ...)
#define ATTR_ListFloat(x, ...)
#define ATTR_ListBool(x, ...)
#define ATTR_ListTensor(x, ...)
#define ATTR_Bytes(x, ...)
#define ATTR_ListListInt(x, ...)
#define ATTR_ListType(x, ...)
#define ATTR_ListNamedAttrs(x, ...)

#define REQUIRED_ATTR_String(x) OPKIT_SIM_TEXT_REQUIRED_ATTR_(x, AscendString) OPKIT_SIM_STRING_SETTERS_(x)
#define REQUIRED_ATTR_AscendString(x) OPKIT_SIM_TEXT_REQUIRED_ATTR_(x, AscendString)
#define REQUIRED_ATTR_ListString(x) OPKIT_SIM_TEXT_REQUIRED_ATTR_(x, std::vector<AscendString>) OPKIT_SIM_LIST_STRING_SETTERS_(x)
#define REQUIRED_ATTR_ListAscendString(x) OPKIT_SIM_TEXT_REQUIRED_ATTR_(x, std::vector<AscendString>)
#define REQUIRED_ATTR_Int(x)
#define REQUIRED_ATTR_Float(x)
#define REQUIRED_ATTR_Bool(x)
#define REQUIRED_ATTR_Tensor(x)
#define REQUIRED_ATTR_Type(x)
#define REQUIRED_ATTR_NamedAttrs(x)
#define REQUIRED_ATTR_ListInt(x)
#define REQUIRED_ATTR_ListFloat(x)
#define REQUIRED_ATTR_ListBool(x)
#define REQUIRED_ATTR_ListTensor(x)
#define REQUIRED_ATTR_Bytes(x)
#define REQUIRED_ATTR_ListListInt(x)
#define REQUIRED_ATTR_ListType(x)
#define REQUIRED_ATTR_ListNamedAttrs(x)

// The default as what AttrRegister takes.
#define OPKIT_SIM_DEFAULT_String(...) ConvertToAscendString(OpString(__VA_ARGS__))
#define OPKIT_SIM_DEFAULT_ListString(...) ConvertToListAscendString(OpListString(__VA_ARGS__))
#define OPKIT_SIM_DEFAULT_AscendString(...) OpAscendString(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_ListAscendString(...) OpListAscendString(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_Int(...) OpInt(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_Float(...) OpFloat(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_Bool(...) OpBool(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_Tensor(...) OpTensor(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_Type(...) OpType(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_NamedAttrs(...) OpNamedAttrs(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_ListInt(...) OpListInt(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_ListFloat(...) OpListFloat(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_ListBool(...) OpListBool(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_ListTensor(...) OpListTensor(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_Bytes(...) OpBytes(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_ListListInt(...) OpListListInt(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_ListType(...) OpListType(__VA_ARGS__)
#define OPKIT_SIM_DEFAULT_ListNamedAttrs(...) OpListNamedAttrs(__VA_ARGS__)

// The setter that takes a function exists in the toolkits and does nothing there either.
#define OPKIT_SIM_ATTR_SETTERS_(x, Type)        \
  _THIS_TYPE &set_attr_##x(const Op##Type &v) { \
    Operator::SetAttr(#x, v);                   \
    return *this;                               \
  }                                             \
  _THIS_TYPE &set_attr_##x(const function<Op##Type()> &) { return *this; }

#define ATTR(x, Type, ...)                                             \
  OPKIT_SIM_OPEN_(__attr_##x)                                          \
  OPKIT_SIM_NAME_OF_(name_attr_##x, x)                                 \
  ATTR_##Type(x, __VA_ARGS__) Op##Type get_attr_##x() const {          \
    Op##Type ret = Op##Type(__VA_ARGS__);                              \
    (void)Operator::GetAttr(#x, ret);                                  \
    return ret;                                                        \
  }                                                                    \
  OPKIT_SIM_ATTR_SETTERS_(x, Type)                                     \
                                                                       \
 private:                                                              \
  void FORCE_INLINE __attr_##x() {                                     \
    Operator::AttrRegister(#x, OPKIT_SIM_DEFAULT_##Type(__VA_ARGS__)); \
    OPKIT_SIM_CONTINUE_

#define REQUIRED_ATTR(x, Type)                            \
  OPKIT_SIM_OPEN_(__required_attr_##x)                    \
  OPKIT_SIM_NAME_OF_(name_attr_##x, x)                    \
  REQUIRED_ATTR_##Type(x) Op##Type get_attr_##x() const { \
    Op##Type ret{};                                       \
    (void)Operator::GetAttr(#x, ret);                     \
    return ret;                                           \
  }                                                       \
  OPKIT_SIM_ATTR_SETTERS_(x, Type)                        \
                                                          \
 private:                                                 \
  void FORCE_INLINE __required_attr_##x() {               \
    Operator::RequiredAttrWithTypeRegister(#x, #Type);    \
    OPKIT_SIM_CONTINUE_

// ---- ports ----

#define DATATYPE(x, t)                          \
  OPKIT_SIM_OPEN_(__datatype_##x)               \
                                                \
 private:                                       \
  void FORCE_INLINE __datatype_##x() {          \
    auto type_range = t;                        \
    Operator::DataTypeRegister(#x, type_range); \
    OPKIT_SIM_CONTINUE_

#define OPKIT_SIM_INPUT_CALLS_(x)                                                      \
  OPKIT_SIM_NAME_OF_(name_in_##x, x)                                                   \
  _THIS_TYPE &set_input_##x(Operator &v) {                                             \
    Operator::SetInput(#x, v);                                                         \
    return *this;                                                                      \
  }                                                                                    \
  _THIS_TYPE &set_input_##x(Operator &v, uint32_t index) {                             \
    Operator::SetInput(#x, v, index);                                                  \
    return *this;                                                                      \
  }                                                                                    \
  ATTRIBUTED_DEPRECATED(_THIS_TYPE &set_input_##x##_by_name(Operator &, const char *)) \
  _THIS_TYPE &set_input_##x(Operator &v, const std::string &srcName) {                 \
    Operator::SetInput(#x, v, srcName.c_str());                                        \
    return *this;                                                                      \
  }                                                                                    \
  _THIS_TYPE &set_input_##x##_by_name(Operator &v, const char *srcName) {              \
    Operator::SetInput(#x, v, srcName);                                                \
    return *this;                                                                      \
  }                                                                                    \
  TensorDesc get_input_desc_##x() const { return Operator::GetInputDescByName(#x); }   \
  graphStatus update_input_desc_##x(const TensorDesc &tensorDesc) { return Operator::UpdateInputDesc(#x, tensorDesc); }

#define INPUT(x, t)                  \
  OPKIT_SIM_OPEN_(__input_##x)       \
  OPKIT_SIM_INPUT_CALLS_(x)          \
                                     \
 private:                            \
  void FORCE_INLINE __input_##x() {  \
    Operator::InputRegister(#x, #t); \
    OPKIT_SIM_CONTINUE_

#define OPTIONAL_INPUT(x, t)                 \
  OPKIT_SIM_OPEN_(__optional_input_##x)      \
  OPKIT_SIM_INPUT_CALLS_(x)                  \
                                             \
 private:                                    \
  void FORCE_INLINE __optional_input_##x() { \
    Operator::OptionalInputRegister(#x, #t); \
    OPKIT_SIM_CONTINUE_

#define OUTPUT(x, t)                                                                                                      \
  OPKIT_SIM_OPEN_(__out_##x)                                                                                              \
  OPKIT_SIM_NAME_OF_(name_out_##x, x)                                                                                     \
  TensorDesc get_output_desc_##x() const { return Operator::GetOutputDescByName(#x); }                                    \
  graphStatus update_output_desc_##x(const TensorDesc &tensorDesc) { return Operator::UpdateOutputDesc(#x, tensorDesc); } \
                                                                                                                          \
 private:                                                                                                                 \
  void FORCE_INLINE __out_##x() {                                                                                         \
    Operator::OutputRegister(#x, #t);                                                                                     \
    OPKIT_SIM_CONTINUE_

#define DYNAMIC_INPUT(x, t)                                                                                        \
  OPKIT_SIM_OPEN_(__dy_input_##x)                                                                                  \
  _THIS_TYPE &create_dynamic_input_##x(uint32_t num, bool isPushBack = true) {                                     \
    Operator::DynamicInputRegister(#x, num, #t, isPushBack);                                                       \
    return *this;                                                                                                  \
  }                                                                                                                \
  _THIS_TYPE &create_dynamic_input_byindex_##x(uint32_t num, size_t index) {                                       \
    Operator::DynamicInputRegisterByIndex(#x, num, index);                                                         \
    return *this;                                                                                                  \
  }                                                                                                                \
  TensorDesc get_dynamic_input_desc_##x(uint32_t index) const { return Operator::GetDynamicInputDesc(#x, index); } \
  graphStatus update_dynamic_input_desc_##x(uint32_t index, const TensorDesc &tensorDesc) {                        \
    return Operator::UpdateDynamicInputDesc(#x, index, tensorDesc);                                                \
  }                                                                                                                \
  _THIS_TYPE &set_dynamic_input_##x(uint32_t dstIndex, Operator &v) {                                              \
    Operator::SetInput(#x, dstIndex, v);                                                                           \
    return *this;                                                                                                  \
  }                                                                                                                \
  _THIS_TYPE &set_dynamic_input_##x(uint32_t dstIndex, Operator &v, const char *srcName) {                         \
    Operator::SetInput(#x, dstIndex, v, srcName);                                                                  \
    return *this;                                                                                                  \
  }                                                                                                                \
  ATTRIBUTED_DEPRECATED(_THIS_TYPE &set_dynamic_input_##x(uint32_t, Operator &, const char *))                     \
  _THIS_TYPE &set_dynamic_input_##x(uint32_t dstIndex, Operator &v, const std::string &srcName) {                  \
    Operator::SetInput(#x, dstIndex, v, srcName.c_str());                                                          \
    return *this;                                                                                                  \
  }                                                                                                                \
                                                                                                                   \
 private:                                                                                                          \
  void FORCE_INLINE __dy_input_##x() {                                                                             \
    Operator::DynamicInputRegister(#x, 0U, #t, true);                                                              \
    OPKIT_SIM_CONTINUE_

#define DYNAMIC_OUTPUT(x, t)                                                                                         \
  OPKIT_SIM_OPEN_(__dy_output_##x)                                                                                   \
  _THIS_TYPE &create_dynamic_output_##x(uint32_t num, bool isPushBack = true) {                                      \
    Operator::DynamicOutputRegister(#x, num, #t, isPushBack);                                                        \
    return *this;                                                                                                    \
  }                                                                                                                  \
  TensorDesc get_dynamic_output_desc_##x(uint32_t index) const { return Operator::GetDynamicOutputDesc(#x, index); } \
  graphStatus update_dynamic_output_desc_##x(uint32_t index, const TensorDesc &tensorDesc) {                         \
    return Operator::UpdateDynamicOutputDesc(#x, index, tensorDesc);                                                 \
  }                                                                                                                  \
                                                                                                                     \
 private:                                                                                                            \
  void FORCE_INLINE __dy_output_##x() {                                                                              \
    Operator::DynamicOutputRegister(#x, 0U, #t, true);                                                               \
    OPKIT_SIM_CONTINUE_

// ---- subgraphs ----

#define GRAPH(x)                                                                                \
  OPKIT_SIM_OPEN_(__graph_##x)                                                                  \
  OPKIT_SIM_NAME_OF_(name_graph_##x, x)                                                         \
  SubgraphBuilder get_subgraph_builder_##x() const { return Operator::GetSubgraphBuilder(#x); } \
  _THIS_TYPE &set_subgraph_builder_##x(const SubgraphBuilder &v) {                              \
    Operator::SetSubgraphBuilder(#x, 0U, v);                                                    \
    return *this;                                                                               \
  }                                                                                             \
  Graph get_subgraph_##x() const { return Operator::GetSubgraph(#x); }                          \
                                                                                                \
 private:                                                                                       \
  void FORCE_INLINE __graph_##x() {                                                             \
    Operator::SubgraphRegister(#x, false);                                                      \
    Operator::SubgraphCountRegister(#x, 1U);                                                    \
    OPKIT_SIM_CONTINUE_

#define DYNAMIC_GRAPH(x)                                                                                                            \
  OPKIT_SIM_OPEN_(__graph_##x)                                                                                                      \
  OPKIT_SIM_NAME_OF_(name_graph_##x, x)                                                                                             \
  _THIS_TYPE &create_dynamic_subgraph_##x(uint32_t num) {                                                                           \
    Operator::SubgraphCountRegister(#x, num);                                                                                       \
    return *this;                                                                                                                   \
  }                                                                                                                                 \
  SubgraphBuilder get_dynamic_subgraph_builder_##x(uint32_t index) const { return Operator::GetDynamicSubgraphBuilder(#x, index); } \
  Graph get_dynamic_subgraph_##x(uint32_t index) const { return Operator::GetDynamicSubgraph(#x, index); }                          \
  _THIS_TYPE &set_dynamic_subgraph_builder_##x(uint32_t index, const SubgraphBuilder &v) {                                          \
    Operator::SetSubgraphBuilder(#x, index, v);                                                                                     \
    return *this;                                                                                                                   \
  }                                                                                                                                 \
                                                                                                                                    \
 private:                                                                                                                           \
  void FORCE_INLINE __graph_##x() {                                                                                                 \
    Operator::SubgraphRegister(#x, true);                                                                                           \
    OPKIT_SIM_CONTINUE_

// ---- the end ----

#define PASTE(g_register, y) g_register##y

#define OPKIT_SIM_CLOSE_CLASS_(x)                                                                                 \
  N();                                                                                                            \
  }                                                                                                               \
  static_assert(std::is_same<x, _THIS_TYPE>::value, "OP_END_FACTORY_REG names another operator than its REG_OP"); \
  }                                                                                                               \
  ;

// A definition of DISABLE_COMPILE_V1 leaves the class usable and its type unregistered. The extra '}' closes namespace op.
#ifdef DISABLE_COMPILE_V1
#define __OP_END_IMPL__(x, y) \
  OPKIT_SIM_CLOSE_CLASS_(x)   \
  }
#else
#define __OP_END_IMPL__(x, y)                                                                                                  \
  OPKIT_SIM_CLOSE_CLASS_(x)                                                                                                    \
  static const OperatorCreatorRegister PASTE(g_register, y)(#x, [](const AscendString &name) -> Operator { return x(name); }); \
  }
#endif
#define OP_END_FACTORY_REG(x) __OP_END_IMPL__(x, __COUNTER__)

// ---- inference and verification functions of a type ----

#define IMPLEMT_INFERFUNC(op_name, func_name) static graphStatus func_name(op::op_name &op)
#define IMPLEMT_COMMON_INFERFUNC(func_name) static graphStatus func_name(Operator &op)
#define IMPLEMT_VERIFIER(op_name, func_name) static graphStatus func_name(op::op_name op)

// The registry calls with a plain Operator. A REG_OP class adds no state, so one
// that is made to share the operator's node is that operator.
#define INFER_VERIFY_FUNC(op_name, x)   \
  [](Operator &v) {                     \
    op::op_name typed;                  \
    static_cast<Operator &>(typed) = v; \
    return x(typed);                    \
  }
#define COMMON_INFER_VERIFY_FUNC(x) [](Operator &v) { return x(v); }

#define __INFER_FUNC_REG_IMPL__(op_name, x, n) static const InferShapeFuncRegister PASTE(if_register, n)(#op_name, x)
#define __VERIFY_FUNC_REG_IMPL__(op_name, x, n) static const VerifyFuncRegister PASTE(vf_register, n)(#op_name, x)
#define INFER_FUNC_REG(op_name, x) __INFER_FUNC_REG_IMPL__(op_name, INFER_VERIFY_FUNC(op_name, x), __COUNTER__)
#define COMMON_INFER_FUNC_REG(op_name, x) __INFER_FUNC_REG_IMPL__(op_name, COMMON_INFER_VERIFY_FUNC(x), __COUNTER__)
#define VERIFY_FUNC_REG(op_name, x) __VERIFY_FUNC_REG_IMPL__(op_name, INFER_VERIFY_FUNC(op_name, x), __COUNTER__)

// For COMMON_INFER_FUNC_REG: the output is like the input.
#define ELMTWISE_INFER_SHAPEANDTYPE(in_name, out_name)      \
  [](Operator op) -> graphStatus {                          \
    const TensorDesc from = op.GetInputDescByName(in_name); \
    TensorDesc to = op.GetOutputDescByName(out_name);       \
    to.SetShape(from.GetShape());                           \
    to.SetOriginShape(from.GetShape());                     \
    to.SetDataType(from.GetDataType());                     \
    return op.UpdateOutputDesc(out_name, to);               \
  }

}  // namespace ge

#endif  // OPKIT_SIM_GRAPH_OPERATOR_REG_H_
