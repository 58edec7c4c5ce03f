#include "probe/name_filter.h"

#include "base/text.h"

namespace sonde {

/// Shunting yard: operators wait on a stack until one that binds less arrives.
class NameFilterParser {
 public:
  explicit NameFilterParser(std::string_view text) : text_(text) {}

  Result<NameFilter> parse() {
    while (skip_blanks(), at_ < text_.size()) TRY(take());
    if (wants_operand_) return wrong("a name is missing at the end");
    while (!waiting_.empty()) {
      if (waiting_.back() == '(') return wrong("')' is missing");
      apply_last();
    }
    return std::move(filter_);
  }

 private:
  using Kind = NameFilter::Kind;

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size()); }

  Result<> take() {
    char c = text_[at_];
    if (c == '!' || c == '(') {
      if (!wants_operand_) return wrong("'&' or '|' is missing before it");
      waiting_ += c;
      ++at_;
      return {};
    }
    if (c == '&' || c == '|' || c == ')') {
      if (wants_operand_) return wrong("a name is missing before it");
      ++at_;
      return c == ')' ? close() : push_operator(c);
    }
    if (!wants_operand_) return wrong("'&' or '|' is missing before it");
    filter_.steps_.push_back({.kind = Kind::kGlob, .glob = take_glob()});
    wants_operand_ = false;
    return {};
  }

  std::string take_glob() {
    size_t begin = at_;
    bool in_brackets = false;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size())
        ++at_;
      else if (in_brackets)
        in_brackets = c != ']';
      else if (c == '[')
        in_brackets = text_.find(']', at_) != std::string_view::npos;
      else if (std::string_view("!&|() \t").find(c) != std::string_view::npos)
        break;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  static int binding(char c) { return c == '!' ? 3 : c == '&' ? 2 : c == '|' ? 1 : 0; }

  Result<> push_operator(char c) {
    while (!waiting_.empty() && binding(waiting_.back()) >= binding(c)) apply_last();
    waiting_ += c;
    wants_operand_ = true;
    return {};
  }

  Result<> close() {
    while (!waiting_.empty() && waiting_.back() != '(') apply_last();
    if (waiting_.empty()) return wrong("'(' is missing");
    waiting_.pop_back();
    return {};
  }

  void apply_last() {
    char c = waiting_.back();
    waiting_.pop_back();
    filter_.steps_.push_back({.kind = c == '!' ? Kind::kNot : c == '&' ? Kind::kAnd : Kind::kOr});
  }

  [[nodiscard]] std::unexpected<Error> wrong(std::string_view why) const {
    return fail(ErrorCode::kBadEvent,
                "filter '{}': {} (at character {}); combine globs with '!', '&', '|' and "
                "parentheses",
                text_, why, at_ + 1);
  }

  std::string_view text_;
  size_t at_ = 0;
  bool wants_operand_ = true;
  std::string waiting_;
  NameFilter filter_;
};

Result<NameFilter> NameFilter::parse(std::string_view text) {
  return NameFilterParser(text).parse();
}

bool NameFilter::matches(std::string_view name) const {
  if (steps_.empty()) return true;
  std::vector<bool> values;
  for (const Step& step : steps_) {
    if (step.kind == Kind::kGlob) {
      values.push_back(glob_match(step.glob, name));
      continue;
    }
    bool last = values.back();
    if (step.kind == Kind::kNot) {
      values.back() = !last;
      continue;
    }
    values.pop_back();
    values.back() = step.kind == Kind::kAnd ? values.back() && last : values.back() || last;
  }
  return values.back();
}

}  // namespace sonde
