#include "graph/ascend_string.h"

#include <string>
#include <string_view>

namespace ge {

class AscendStringImpl {
 public:
  explicit AscendStringImpl(std::string_view chars) : text(chars) {}

  static std::string_view View(const AscendString &string) { return string.impl_ == nullptr ? std::string_view("") : string.impl_->text; }

  const std::string text;
};

namespace {

std::string_view OrEmpty(const char_t *chars) { return chars == nullptr ? std::string_view("") : std::string_view(chars); }

}  // namespace

AscendString::AscendString(const char_t *const name) {
  if (name != nullptr) {
    impl_ = std::make_shared<AscendStringImpl>(name);
  }
}

AscendString::AscendString(const char_t *const name, size_t length) {
  if (name != nullptr) {
    impl_ = std::make_shared<AscendStringImpl>(std::string_view(name, length));
  }
}

// data() ends in NUL: it is the impl's std::string, or a literal.
const char_t *AscendString::GetString() const { return AscendStringImpl::View(*this).data(); }

size_t AscendString::GetLength() const { return AscendStringImpl::View(*this).size(); }

size_t AscendString::Find(const AscendString &ascend_string) const {
  return AscendStringImpl::View(*this).find(AscendStringImpl::View(ascend_string));
}

size_t AscendString::Hash() const { return std::hash<std::string_view>()(AscendStringImpl::View(*this)); }

bool AscendString::operator<(const AscendString &d) const { return AscendStringImpl::View(*this) < AscendStringImpl::View(d); }
bool AscendString::operator>(const AscendString &d) const { return d < *this; }
bool AscendString::operator<=(const AscendString &d) const { return !(d < *this); }
bool AscendString::operator>=(const AscendString &d) const { return !(*this < d); }
bool AscendString::operator==(const AscendString &d) const { return AscendStringImpl::View(*this) == AscendStringImpl::View(d); }
bool AscendString::operator!=(const AscendString &d) const { return !(*this == d); }
bool AscendString::operator==(const char_t *const d) const { return AscendStringImpl::View(*this) == OrEmpty(d); }
bool AscendString::operator!=(const char_t *const d) const { return !(*this == d); }

}  // namespace ge
