// Formula: an expression over counts, as vendors publish them with their metrics. Untrusted text:
// its length and its nesting are limited.
//
//   Formula formula = TRY(Formula::parse("100 * ( a / b ) if b > 0 else 0"));
//   formula.names()                              →  {"a", "b"}
//   formula.value(std::vector<double>{1, 4})     →  25
//
// Operators, weakest first: `x if c else y`, | or, & and, comparisons, + -, * / %, unary minus;
// functions min, max (two or more arguments) and d_ratio (0 if the divisor is 0).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

class Formula {
 public:
  /// Error kCorrupt: what is wrong and where, for a message that names the formula.
  static Result<Formula> parse(std::string_view text);

  /// The names in it, each once, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// `values`: for each name, NaN if unknown. NaN or infinite if the result depends on an unknown
  /// value, or on a division by zero.
  [[nodiscard]] double value(std::span<const double> values) const;

 private:
  friend class FormulaParser;
  enum class Op : uint8_t {
    kNumber,
    kName,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kNegate,
    kLess,
    kLessOrEqual,
    kMore,
    kMoreOrEqual,
    kEqual,
    kAnd,
    kOr,
    kMin,
    kMax,
    kRatio,
    kSelect,  // chosen, condition, other
  };
  struct Step {
    Op op;
    double number = 0;
    size_t name = 0;
  };
  static double apply(Op op, double left, double right);

  std::vector<std::string> names_;
  std::vector<Step> steps_;  // in postfix order
};

}  // namespace sonde
