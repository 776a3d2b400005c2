// The value of an attribute inside the simulator: one variant instead of one code path a type.
#ifndef OPKIT_SIM_SRC_GRAPH_ATTR_H_
#define OPKIT_SIM_SRC_GRAPH_ATTR_H_

#include <cstdint>
#include <map>
#include <variant>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/tensor.h"
#include "graph/types.h"

namespace opkit_sim::graph {

// std::monostate: declared by REQUIRED_ATTR and never set. (ge::NamedAttrs has no public definition in the toolkits either.)
using Attr = std::variant<std::monostate, int64_t, float, bool, ge::AscendString, ge::DataType, ge::Tensor, std::vector<int64_t>,
                          std::vector<float>, std::vector<bool>, std::vector<ge::AscendString>, std::vector<ge::DataType>,
                          std::vector<ge::Tensor>, std::vector<uint8_t>, std::vector<std::vector<int64_t>>>;

using AttrMap = std::map<ge::AscendString, Attr>;

// The alternative's name as operator prototypes spell it ("Int", "ListFloat", "Bytes", ...); "" for std::monostate.
const char *AttrTypeName(const Attr &attr);

// Reads `attr` as T, narrowing the stored int64_t where T is a narrower integer; false if the type or the range doesn't fit.
template <typename T>
bool ReadAttr(const Attr &attr, T &value);

// The other way round: int32_t and uint32_t are stored as int64_t.
template <typename T>
Attr MakeAttr(const T &value);

}  // namespace opkit_sim::graph

#include "graph/attr_convert.h"

#endif  // OPKIT_SIM_SRC_GRAPH_ATTR_H_
