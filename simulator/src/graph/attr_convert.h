// Conversions between the C++ types of the public attribute calls and the variant that stores them.
#ifndef OPKIT_SIM_SRC_GRAPH_ATTR_CONVERT_H_
#define OPKIT_SIM_SRC_GRAPH_ATTR_CONVERT_H_

#include <limits>
#include <type_traits>

#include "graph/attr.h"

namespace opkit_sim::graph {

template <typename T>
constexpr bool kIsNarrowInt = std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t>;

template <typename T>
bool NarrowInt(int64_t wide, T &value) {
  if (wide < static_cast<int64_t>(std::numeric_limits<T>::min()) || wide > static_cast<int64_t>(std::numeric_limits<T>::max())) {
    return false;
  }
  value = static_cast<T>(wide);
  return true;
}

template <typename T>
bool ReadAttr(const Attr &attr, T &value) {
  if constexpr (kIsNarrowInt<T>) {
    const int64_t *wide = std::get_if<int64_t>(&attr);
    return wide != nullptr && NarrowInt(*wide, value);
  } else if constexpr (std::is_same_v<T, std::vector<int32_t>> || std::is_same_v<T, std::vector<uint32_t>>) {
    const std::vector<int64_t> *wide = std::get_if<std::vector<int64_t>>(&attr);
    if (wide == nullptr) {
      return false;
    }
    T narrow(wide->size());
    for (size_t i = 0U; i < wide->size(); ++i) {
      if (!NarrowInt((*wide)[i], narrow[i])) {
        return false;
      }
    }
    value = std::move(narrow);
    return true;
  } else {
    const T *stored = std::get_if<T>(&attr);
    if (stored == nullptr) {
      return false;
    }
    value = *stored;
    return true;
  }
}

template <typename T>
Attr MakeAttr(const T &value) {
  if constexpr (kIsNarrowInt<T>) {
    return Attr(static_cast<int64_t>(value));
  } else if constexpr (std::is_same_v<T, std::vector<int32_t>> || std::is_same_v<T, std::vector<uint32_t>>) {
    return Attr(std::vector<int64_t>(value.begin(), value.end()));
  } else {
    return Attr(value);
  }
}

}  // namespace opkit_sim::graph

#endif  // OPKIT_SIM_SRC_GRAPH_ATTR_CONVERT_H_
