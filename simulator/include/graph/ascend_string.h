// A shared immutable string that crosses library borders whichever std::string the two sides were built with.
#ifndef OPKIT_SIM_GRAPH_ASCEND_STRING_H_
#define OPKIT_SIM_GRAPH_ASCEND_STRING_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "graph/types.h"

namespace ge {

class AscendStringImpl;

// Never null inside: an empty one, and one made from nullptr, read as "".
class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY AscendString {
 public:
  AscendString() = default;
  ~AscendString() = default;
  AscendString(const AscendString &) = default;
  AscendString(AscendString &&) noexcept = default;
  AscendString &operator=(const AscendString &) = default;
  AscendString &operator=(AscendString &&) noexcept = default;

  AscendString(const char_t *const name);
  // May hold NUL bytes; GetString then shows the part before the first.
  AscendString(const char_t *const name, size_t length);

  const char_t *GetString() const;
  size_t GetLength() const;
  size_t Find(const AscendString &ascend_string) const;  // static_cast<size_t>(-1) where it doesn't occur
  size_t Hash() const;

  bool operator<(const AscendString &d) const;
  bool operator>(const AscendString &d) const;
  bool operator<=(const AscendString &d) const;
  bool operator>=(const AscendString &d) const;
  bool operator==(const AscendString &d) const;
  bool operator!=(const AscendString &d) const;
  bool operator==(const char_t *const d) const;
  bool operator!=(const char_t *const d) const;

 private:
  friend class AscendStringImpl;
  std::shared_ptr<const AscendStringImpl> impl_;
};

}  // namespace ge

namespace std {
template <>
struct hash<ge::AscendString> {
  size_t operator()(const ge::AscendString &name) const { return name.Hash(); }
};
}  // namespace std

#endif  // OPKIT_SIM_GRAPH_ASCEND_STRING_H_
