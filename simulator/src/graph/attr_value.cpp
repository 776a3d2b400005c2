#include "graph/attr_value_impl.h"

#include <array>

namespace opkit_sim::graph {

const char *AttrTypeName(const Attr &attr) {
  static constexpr std::array<const char *, std::variant_size_v<Attr>> kNames = {
      "",          "Int",      "Float",      "Bool",     "String",     "Type",  "Tensor",     "ListInt",
      "ListFloat", "ListBool", "ListString", "ListType", "ListTensor", "Bytes", "ListListInt"};
  return kNames[attr.index()];
}

}  // namespace opkit_sim::graph

namespace ge {

AttrValue::AttrValue() : impl(std::make_shared<AttrValueImpl>()) {}

#define OPKIT_SIM_ATTR_VALUE(...)                                                              \
  graphStatus AttrValue::SetAttrValue(const __VA_ARGS__ &attr_value) const {                   \
    impl->value = opkit_sim::graph::MakeAttr(attr_value);                                      \
    return GRAPH_SUCCESS;                                                                      \
  }                                                                                            \
  graphStatus AttrValue::GetAttrValue(__VA_ARGS__ &attr_value) const {                         \
    return opkit_sim::graph::ReadAttr(impl->value, attr_value) ? GRAPH_SUCCESS : GRAPH_FAILED; \
  }
OPKIT_SIM_ATTR_VALUE(int64_t)
OPKIT_SIM_ATTR_VALUE(float32_t)
OPKIT_SIM_ATTR_VALUE(bool)
OPKIT_SIM_ATTR_VALUE(AscendString)
OPKIT_SIM_ATTR_VALUE(ge::DataType)
OPKIT_SIM_ATTR_VALUE(Tensor)
OPKIT_SIM_ATTR_VALUE(std::vector<int64_t>)
OPKIT_SIM_ATTR_VALUE(std::vector<float32_t>)
OPKIT_SIM_ATTR_VALUE(std::vector<bool>)
OPKIT_SIM_ATTR_VALUE(std::vector<AscendString>)
OPKIT_SIM_ATTR_VALUE(std::vector<ge::DataType>)
OPKIT_SIM_ATTR_VALUE(std::vector<Tensor>)
OPKIT_SIM_ATTR_VALUE(std::vector<std::vector<int64_t>>)
#undef OPKIT_SIM_ATTR_VALUE

}  // namespace ge
