// An attribute value of any type, for calls that don't know the type at compile time.
#ifndef OPKIT_SIM_GRAPH_ATTR_VALUE_H_
#define OPKIT_SIM_GRAPH_ATTR_VALUE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"
#include "graph/tensor.h"
#include "graph/types.h"

// Programs written against the toolkits rely on these names: their attr_value.h puts them into the global namespace.
using std::make_shared;
using std::map;
using std::pair;
using std::string;
using std::to_string;
using std::unique_ptr;
using std::vector;

namespace ge {

class AttrValueImpl;

// A handle: copies share the value. Getters return GRAPH_FAILED where the value has another type.
class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY AttrValue {
 public:
  using INT = int64_t;
  using FLOAT = float32_t;
  using STR = std::string;

  AttrValue();
  ~AttrValue() = default;
  AttrValue(const AttrValue &) = default;
  AttrValue &operator=(const AttrValue &) = default;

  // GetValue<AttrValue::INT>(v): T names the stored type (INT, FLOAT or STR), `val` takes it converted.
  template <typename T, typename DT>
  graphStatus GetValue(DT &val) const {
    T stored{};
    const graphStatus status = GetStored(stored);
    if (status == GRAPH_SUCCESS) {
      val = DT(stored);
    }
    return status;
  }
  graphStatus GetValue(AscendString &val) { return GetAttrValue(val); }

  template <typename T, typename DT>
  static T CreateFrom(DT &&val) {
    return T(std::forward<DT>(val));
  }

#define OPKIT_SIM_ATTR_VALUE(...)                                \
  graphStatus SetAttrValue(const __VA_ARGS__ &attr_value) const; \
  graphStatus GetAttrValue(__VA_ARGS__ &attr_value) const;
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

  std::shared_ptr<AttrValueImpl> impl;

 private:
  friend class AttrValueImpl;
  graphStatus GetStored(int64_t &val) const { return GetAttrValue(val); }
  graphStatus GetStored(float32_t &val) const { return GetAttrValue(val); }
  graphStatus GetStored(std::string &val) const {
    AscendString text;
    const graphStatus status = GetAttrValue(text);
    val.assign(text.GetString(), text.GetLength());
    return status;
  }
};

}  // namespace ge

#endif  // OPKIT_SIM_GRAPH_ATTR_VALUE_H_
