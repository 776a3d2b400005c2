// A tokenizer for preprocessed C++ and a walk over its scopes.
#include "rtc/entry_scan.h"

#include <cctype>
#include <cstring>
#include <utility>

namespace opkit_sim::rtc {
namespace {

struct Token {
  std::string text;
  size_t offset;
  std::string file;
  unsigned line;
};

bool IsWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80; }
bool IsWord(char c) { return IsWordStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Tokenizer {
 public:
  explicit Tokenizer(const std::string &text) : text_(text) {}

  std::vector<Token> Run() {
    std::vector<Token> tokens;
    bool is_line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        is_line_start = true;
        continue;
      }
      if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
        continue;
      }
      if (c == '#' && is_line_start) {
        LineMarker();
        continue;
      }
      is_line_start = false;
      const size_t begin = at_;
      const unsigned line = line_;
      Advance();
      tokens.push_back(Token{text_.substr(begin, at_ - begin), begin, file_, line});
    }
    return tokens;
  }

  bool HasOperatorHeader() const { return has_operator_header_; }

 private:
  // `# 12 "file" 1 3`: the next line is line 12 of file. Other directives (#pragma) pass.
  void LineMarker() {
    size_t end = text_.find('\n', at_);
    if (end == std::string::npos) end = text_.size();
    const std::string directive = text_.substr(at_, end - at_);
    unsigned number = 0;
    int quote = 0;
    if ((std::sscanf(directive.c_str(), "# %u \"%n", &number, &quote) == 1 ||
         std::sscanf(directive.c_str(), "#line %u \"%n", &number, &quote) == 1) &&
        quote != 0) {
      file_.clear();
      for (size_t i = static_cast<size_t>(quote); i < directive.size() && directive[i] != '"'; ++i) {
        if (directive[i] == '\\' && i + 1 < directive.size()) ++i;
        file_ += directive[i];
      }
      line_ = number - 1;  // the newline that ends the marker counts up
      constexpr char kHeader[] = "/kernel_operator.h";
      constexpr size_t kLength = sizeof kHeader - 1;
      if (file_.size() >= kLength && file_.compare(file_.size() - kLength, kLength, kHeader) == 0) has_operator_header_ = true;
    }
    at_ = end;
  }

  void Advance() {
    const char c = text_[at_];
    if (IsWordStart(c)) {
      const size_t begin = at_;
      while (at_ < text_.size() && IsWord(text_[at_])) ++at_;
      if (at_ < text_.size() && text_[at_] == '"' && text_[at_ - 1] == 'R' && at_ - begin <= 3) RawString();
      return;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      // Digit separators would otherwise open a character literal.
      while (at_ < text_.size() &&
             (IsWord(text_[at_]) || text_[at_] == '.' || (text_[at_] == '\'' && at_ + 1 < text_.size() && IsWord(text_[at_ + 1])))) {
        ++at_;
      }
      return;
    }
    if (c == '"' || c == '\'') {
      Literal(c);
      return;
    }
    if (c == ':' && text_.compare(at_, 2, "::") == 0) {
      at_ += 2;
      return;
    }
    ++at_;
  }

  void Literal(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  void RawString() {
    const size_t open = text_.find('(', at_);
    if (open == std::string::npos) {
      at_ = text_.size();
      return;
    }
    const std::string closing = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    size_t end = text_.find(closing, open);
    end = end == std::string::npos ? text_.size() : end + closing.size();
    for (; at_ < end; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }

  const std::string &text_;
  size_t at_ = 0;
  std::string file_;
  unsigned line_ = 1;
  bool has_operator_header_ = false;
};

bool IsIdentifier(const std::string &text) { return !text.empty() && IsWordStart(text[0]); }

// Words that may stand before a parenthesis in a declaration without being the function's name.
bool IsAttributeWord(const std::string &text) {
  return text == "__attribute__" || text == "alignas" || text == "decltype" || text == "noexcept" || text == "__launch_bounds__" ||
         text == "__declspec";
}

// Words that end a parameter without being its name.
bool IsTypeWord(const std::string &text) {
  static const char *const kWords[] = {"int",    "char", "short", "long",     "float", "double",   "bool",     "unsigned",
                                       "signed", "void", "const", "volatile", "auto",  "char16_t", "char32_t", "wchar_t"};
  for (const char *word : kWords) {
    if (text == word) return true;
  }
  return false;
}

class Walker {
 public:
  explicit Walker(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<Entry> Run() {
    for (size_t at = 0; at < tokens_.size();) at = Step(at);
    return std::move(entries_);
  }

 private:
  struct Scope {
    std::string name;     // of a namespace; empty for every other brace
    bool is_transparent;  // a namespace or extern "C": declarations follow
  };

  const std::string &Text(size_t at) const {
    static const std::string empty;
    return at < tokens_.size() ? tokens_[at].text : empty;
  }

  // Behind the closing token that belongs to the opening one at `at`.
  size_t SkipGroup(size_t at) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      const std::string &text = Text(at);
      if (text == "(" || text == "[" || text == "{") ++depth;
      if ((text == ")" || text == "]" || text == "}") && --depth == 0) return at + 1;
    }
    return at;
  }

  size_t SkipAngles(size_t at) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      const std::string &text = Text(at);
      if (text == "(" || text == "[" || text == "{") {
        at = SkipGroup(at) - 1;
        continue;
      }
      if (text == "<") ++depth;
      if (text == ">" && --depth == 0) return at + 1;
    }
    return at;
  }

  size_t Step(size_t at) {
    const std::string &text = Text(at);
    if (text == "namespace") return Namespace(at);
    if (text == "extern" && !Text(at + 1).empty() && Text(at + 1)[0] == '"') {
      if (Text(at + 2) == "{") {
        scopes_.push_back(Scope{"", true});
        declaration_ = at + 3;
        return at + 3;
      }
      return at + 2;
    }
    if (text == "{") {
      scopes_.push_back(Scope{"", false});
      return at + 1;
    }
    if (text == "}") {
      if (!scopes_.empty()) scopes_.pop_back();
      declaration_ = at + 1;
      return at + 1;
    }
    if (text == ";") {
      declaration_ = at + 1;
      return at + 1;
    }
    if (text == kEntryMark) return Declaration(at);
    return at + 1;
  }

  size_t Namespace(size_t at) {
    std::string name;
    size_t next = at + 1;
    while (next < tokens_.size() && Text(next) != "{" && Text(next) != ";" && Text(next) != "=") {
      if (Text(next) == "[" || Text(next) == "(") {
        next = SkipGroup(next);
        continue;
      }
      if (Text(next) == "::" || (IsIdentifier(Text(next)) && Text(next) != "inline" && !IsAttributeWord(Text(next)))) name += Text(next);
      ++next;
    }
    if (Text(next) != "{") return next;
    scopes_.push_back(Scope{name, true});
    declaration_ = next + 1;
    return next + 1;
  }

  // The tokens between the mark and the function's name; the parameter list; then a body, or not.
  size_t Declaration(size_t mark) {
    size_t at = mark + 1;
    while (at < tokens_.size()) {
      const std::string &text = Text(at);
      if (text == ";" || text == "{" || text == "}") return at;
      if (text == "[") {
        at = SkipGroup(at);
        continue;
      }
      if (Text(at + 1) == "(" && IsIdentifier(text)) {
        if (!IsAttributeWord(text)) break;
        at = SkipGroup(at + 1);
        continue;
      }
      ++at;
    }
    if (at >= tokens_.size()) return at;
    Entry entry;
    entry.name = Qualified(Text(at));
    entry.file = tokens_[at].file;
    entry.line = tokens_[at].line;
    entry.is_template = Text(declaration_) == "template";
    const size_t behind = SkipGroup(at + 1);
    entry.parameters = Parameters(at + 2, behind - 1);
    size_t body = behind;
    while (IsAttributeWord(Text(body)) || Text(body) == "[") {
      if (Text(body) != "[") ++body;
      if (Text(body) == "[" || Text(body) == "(") body = SkipGroup(body);
    }
    if (Text(body) != "{") return behind;
    const size_t end = SkipGroup(body);
    entry.core_type = CoreType(body, end);
    entries_.push_back(std::move(entry));
    declaration_ = end;
    return end;
  }

  std::string Qualified(const std::string &name) const {
    std::string qualified;
    for (const Scope &scope : scopes_) {
      if (!scope.name.empty()) qualified += scope.name + "::";
    }
    return qualified + name;
  }

  std::vector<std::string> Parameters(size_t at, size_t end) const {
    std::vector<std::string> names;
    std::string last;
    size_t words = 0;
    bool is_default = false;
    bool has_any = false;
    const auto finish = [&] {
      const bool has_name = words >= 2 && !IsTypeWord(last);
      names.push_back(has_name ? last : "arg" + std::to_string(names.size()));
      last.clear();
      words = 0;
      is_default = false;
    };
    while (at < end) {
      const std::string &text = Text(at);
      has_any = true;
      if (text == "<" && !is_default) {
        at = SkipAngles(at);
        ++words;
        last.clear();
        continue;
      }
      if (text == "(" || text == "[" || text == "{") {
        at = SkipGroup(at);
        continue;
      }
      if (text == ",") {
        finish();
      } else if (text == "=") {
        is_default = true;
      } else if (text == "::") {
        if (words > 0) --words;
      } else if (text == "*" || text == "&") {
        // A declarator's star counts as the type being complete: `uint8_t *x`, but not `uint8_t *`.
        last.clear();
        ++words;
      } else if (IsIdentifier(text) && !is_default) {
        last = text;
        ++words;
      }
      ++at;
    }
    const bool is_void = has_any && words == 1 && last == "void";
    if (has_any && !is_void) finish();
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty()) names[i] = "arg" + std::to_string(i);
    }
    return names;
  }

  // KERNEL_TASK_TYPE_DEFAULT leaves the name of the type in the body.
  std::string CoreType(size_t at, size_t end) const {
    for (; at < end; ++at) {
      const std::string &text = Text(at);
      if (text.compare(0, 12, "KERNEL_TYPE_") != 0) continue;
      if (text == "KERNEL_TYPE_AIV_ONLY" || text == "KERNEL_TYPE_MIX_AIV_1_0") return "aiv";
      if (text == "KERNEL_TYPE_AIC_ONLY" || text == "KERNEL_TYPE_MIX_AIC_1_0") return "aic";
      return "mix";
    }
    return "aiv";
  }

  std::vector<Token> tokens_;
  std::vector<Scope> scopes_;
  std::vector<Entry> entries_;
  size_t declaration_ = 0;  // first token of the declaration that is being read
};

}  // namespace

Scan ScanEntries(std::string preprocessed) {
  Scan scan;
  Tokenizer tokenizer(preprocessed);
  std::vector<Token> tokens = tokenizer.Run();
  scan.has_operator_header = tokenizer.HasOperatorHeader();
  for (const Token &token : tokens) {
    if (token.text == kEntryMark) preprocessed.replace(token.offset, token.text.size(), token.text.size(), ' ');
  }
  scan.entries = Walker(std::move(tokens)).Run();
  scan.text = std::move(preprocessed);
  return scan;
}

}  // namespace opkit_sim::rtc
