// What is behind ge::AttrValue.
#ifndef OPKIT_SIM_SRC_GRAPH_ATTR_VALUE_IMPL_H_
#define OPKIT_SIM_SRC_GRAPH_ATTR_VALUE_IMPL_H_

#include "graph/attr.h"
#include "graph/attr_value.h"

namespace ge {

class AttrValueImpl {
 public:
  opkit_sim::graph::Attr value;
};

}  // namespace ge

namespace opkit_sim::graph {

inline Attr ValueOf(const ge::AttrValue &attr_value) { return attr_value.impl == nullptr ? Attr() : attr_value.impl->value; }

// Into a new value, so that handles on the one that `attr_value` was don't change.
inline ge::graphStatus LoadValue(const AttrMap &attrs, const ge::AscendString &name, ge::AttrValue &attr_value) {
  const auto found = attrs.find(name);
  if (found == attrs.end()) {
    return ge::GRAPH_FAILED;
  }
  attr_value = ge::AttrValue();
  attr_value.impl->value = found->second;
  return ge::GRAPH_SUCCESS;
}

}  // namespace opkit_sim::graph

#endif  // OPKIT_SIM_SRC_GRAPH_ATTR_VALUE_IMPL_H_
