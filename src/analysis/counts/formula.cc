#include "analysis/counts/formula.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace sonde {
namespace {

bool begins_name(char c) {
  char lower = to_ascii_lower(c);
  return (lower >= 'a' && lower <= 'z') || c == '_' || c == '#';
}

bool continues_name(char c) {
  return begins_name(c) || is_ascii_digit(c) || c == '.' || c == ':';
}

}  // namespace

/// Recursive descent; emits steps in postfix order.
class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  Result<Formula> run() {
    constexpr size_t kLongest = 64 * 1024;
    if (text_.size() > kLongest) return fail(ErrorCode::kCorrupt, "longer than 64 KB");
    next();
    TRY(choice());
    if (!token_.empty()) return unexpected();
    return std::move(formula_);
  }

 private:
  using Op = Formula::Op;
  static constexpr size_t kMostNames = 1000;

  /// x [if condition else y]
  Result<> choice() {
    constexpr int kDeepest = 100;
    if (++depth_ > kDeepest) return fail(ErrorCode::kCorrupt, "nested deeper than 100");
    TRY(disjunction());
    if (accept("if")) {
      TRY(disjunction());
      TRY(expect("else"));
      TRY(choice());
      emit(Op::kSelect);
    }
    --depth_;
    return {};
  }

  Result<> disjunction() {
    TRY(conjunction());
    while (accept("|") || accept("or")) {
      TRY(conjunction());
      emit(Op::kOr);
    }
    return {};
  }

  Result<> conjunction() {
    TRY(comparison());
    while (accept("&") || accept("and")) {
      TRY(comparison());
      emit(Op::kAnd);
    }
    return {};
  }

  Result<> comparison() {
    TRY(sum());
    while (true) {
      Op op = accept("<")    ? Op::kLess
              : accept("<=") ? Op::kLessOrEqual
              : accept(">")  ? Op::kMore
              : accept(">=") ? Op::kMoreOrEqual
              : accept("==") ? Op::kEqual
                             : Op::kNumber;
      if (op == Op::kNumber) return {};
      TRY(sum());
      emit(op);
    }
  }

  Result<> sum() {
    TRY(product());
    while (true) {
      Op op = accept("+") ? Op::kAdd : accept("-") ? Op::kSubtract : Op::kNumber;
      if (op == Op::kNumber) return {};
      TRY(product());
      emit(op);
    }
  }

  Result<> product() {
    TRY(factor());
    while (true) {
      Op op = accept("*")   ? Op::kMultiply
              : accept("/") ? Op::kDivide
              : accept("%") ? Op::kRemainder
                            : Op::kNumber;
      if (op == Op::kNumber) return {};
      TRY(factor());
      emit(op);
    }
  }

  Result<> factor() {
    size_t minuses = 0;
    while (accept("-")) ++minuses;
    TRY(primary());
    if (minuses % 2 == 1) emit(Op::kNegate);
    return {};
  }

  Result<> primary() {
    if (accept("(")) {
      TRY(choice());
      return expect(")");
    }
    if (token_.empty()) return unexpected();
    if (is_ascii_digit(token_[0]) || token_[0] == '.') return number();
    if (!begins_name(token_[0]) || token_ == "if" || token_ == "else") return unexpected();
    std::string_view name = token_;
    next();
    if (token_ == "(") return call(name);
    auto known = std::ranges::find(formula_.names_, name);
    auto index = static_cast<size_t>(known - formula_.names_.begin());
    if (index == kMostNames) return fail(ErrorCode::kCorrupt, "more than {} names", kMostNames);
    if (known == formula_.names_.end()) formula_.names_.emplace_back(name);
    formula_.steps_.push_back({.op = Op::kName, .name = index});
    return {};
  }

  Result<> number() {
    double value = 0;
    auto [end, error] = std::from_chars(token_.data(), token_.data() + token_.size(), value);
    if (error != std::errc() || end != token_.data() + token_.size()) return unexpected();
    formula_.steps_.push_back({.op = Op::kNumber, .number = value});
    next();
    return {};
  }

  Result<> call(std::string_view name) {
    Op op = name == "min"       ? Op::kMin
            : name == "max"     ? Op::kMax
            : name == "d_ratio" ? Op::kRatio
                                : Op::kNumber;
    if (op == Op::kNumber) return fail(ErrorCode::kCorrupt, "no function is called '{}'", name);
    TRY(expect("("));
    TRY(choice());
    size_t arguments = 1;
    while (accept(",")) {
      TRY(choice());
      emit(op);
      ++arguments;
    }
    if (arguments < 2 || (op == Op::kRatio && arguments > 2))
      return fail(ErrorCode::kCorrupt, "{}() with {} arguments", name, arguments);
    return expect(")");
  }

  void emit(Op op) { formula_.steps_.push_back({.op = op}); }

  bool accept(std::string_view token) {
    if (token_ != token) return false;
    next();
    return true;
  }

  Result<> expect(std::string_view token) {
    if (accept(token)) return {};
    return fail(ErrorCode::kCorrupt, "'{}' is missing at byte {}", token,
                token_.empty() ? text_.size() : offset());
  }

  [[nodiscard]] std::unexpected<Error> unexpected() const {
    if (token_.empty()) return fail(ErrorCode::kCorrupt, "it ends too early");
    return fail(ErrorCode::kCorrupt, "'{}' is not expected at byte {}", token_, offset());
  }

  [[nodiscard]] size_t offset() const { return static_cast<size_t>(token_.data() - text_.data()); }

  void next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    size_t start = at_;
    if (at_ == text_.size()) {
      token_ = {};
      return;
    }
    char first = text_[at_++];
    if (begins_name(first)) {
      while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    } else if (is_ascii_digit(first) || first == '.') {
      take_number();
    } else if ((first == '<' || first == '>' || first == '=') && at_ < text_.size() &&
               text_[at_] == '=') {
      ++at_;
    }
    token_ = text_.substr(start, at_ - start);
  }

  /// "12", "0.5", "1e-9": a sign belongs to the number only after its "e".
  void take_number() {
    while (at_ < text_.size()) {
      char c = text_[at_], before = text_[at_ - 1];
      bool sign = (c == '-' || c == '+') && (before == 'e' || before == 'E');
      if (!is_ascii_digit(c) && c != '.' && c != 'e' && c != 'E' && !sign) return;
      ++at_;
    }
  }

  std::string_view text_, token_;
  size_t at_ = 0;
  int depth_ = 0;
  Formula formula_;
};

Result<Formula> Formula::parse(std::string_view text) {
  return FormulaParser(text).run();
}

double Formula::apply(Op op, double left, double right) {
  // A comparison with an unknown value is unknown, not false.
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(left) || std::isnan(right)) return kUnknown;
  switch (op) {
    case Op::kAdd:
      return left + right;
    case Op::kSubtract:
      return left - right;
    case Op::kMultiply:
      return left * right;
    case Op::kDivide:
      return left / right;
    case Op::kRemainder:
      return std::fmod(left, right);
    case Op::kLess:
      return left < right;
    case Op::kLessOrEqual:
      return left <= right;
    case Op::kMore:
      return left > right;
    case Op::kMoreOrEqual:
      return left >= right;
    case Op::kEqual:
      return left == right;
    case Op::kAnd:
      return left != 0 && right != 0;
    case Op::kOr:
      return left != 0 || right != 0;
    case Op::kMin:
      return std::min(left, right);
    case Op::kMax:
      return std::max(left, right);
    case Op::kRatio:
      return right == 0 ? 0 : left / right;
    default:
      return kUnknown;
  }
}

double Formula::value(std::span<const double> values) const {
  std::vector<double> stack;
  auto pop = [&] {
    double top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Step& step : steps_) {
    switch (step.op) {
      case Op::kNumber:
        stack.push_back(step.number);
        break;
      case Op::kName:
        stack.push_back(values[step.name]);
        break;
      case Op::kNegate:
        stack.back() = -stack.back();
        break;
      case Op::kSelect: {
        double other = pop(), condition = pop(), chosen = pop();
        stack.push_back(std::isnan(condition) ? condition : condition != 0 ? chosen : other);
        break;
      }
      default: {
        double right = pop(), left = pop();
        stack.push_back(apply(step.op, left, right));
        break;
      }
    }
  }
  return stack.back();
}

}  // namespace sonde
