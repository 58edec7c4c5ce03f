#include "analysis/counts/formula.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

double value(std::string_view text, const std::vector<double>& values = {}) {
  Result<Formula> formula = Formula::parse(text);
  if (!formula) {
    ADD_FAILURE() << text << ": " << formula.error().message;
    return 0;
  }
  return formula->value(values);
}

std::string error(std::string_view text) {
  Result<Formula> formula = Formula::parse(text);
  return formula ? "none" : formula.error().message;
}

TEST(Formula, Arithmetic) {
  EXPECT_EQ(value("1 + 2 * 3 - 4 / 2"), 5);
  EXPECT_EQ(value("10-4-3"), 3);
  EXPECT_EQ(value("100 * ( a / b )", {1, 4}), 25);
  EXPECT_EQ(value("--2*-3"), -6);
  EXPECT_EQ(value("1e-3 * 1E3 + .5"), 1.5);
  EXPECT_EQ(value("7 % 4"), 3);
  EXPECT_EQ(value("min( 3, max( 1, 2 ), 5 )"), 2);
  EXPECT_EQ(value("d_ratio(1, 0)"), 0);
}

TEST(Formula, Choices) {
  EXPECT_EQ(value("a if a > b else b", {1, 4}), 4);
  EXPECT_EQ(value("1 if 0 else 2 if 1 else 3"), 2);
  EXPECT_EQ(value("( 1 if ( a >= 2 & b == 0 ) else 0 ) + 1", {2, 0}), 2);
  EXPECT_EQ(value("1 < 2 or 1 / 0"), 1);
  EXPECT_EQ(value("a / b if b > 0 else 0", {1, 0}), 0) << "the other branch does not matter";
}

TEST(Formula, UnknownValuesHaveNoResult) {
  double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(value("a + b", {1, unknown})));
  EXPECT_TRUE(std::isnan(value("1 if a > 0 else 2", {unknown})));
  EXPECT_TRUE(std::isnan(value("min(a, 1)", {unknown})));
  EXPECT_TRUE(std::isnan(value("0 / 0")));
  EXPECT_TRUE(std::isinf(value("1 / 0")));
}

TEST(Formula, NamesInOrder) {
  Formula formula = Formula::parse("INST_RETIRED.ANY / a + #slots * INST_RETIRED.ANY").value();
  EXPECT_THAT(formula.names(), ElementsAre("INST_RETIRED.ANY", "a", "#slots"));
}

TEST(Formula, SaysWhatIsWrong) {
  EXPECT_EQ(error("1 +"), "it ends too early");
  EXPECT_EQ(error("(1"), "')' is missing at byte 2");
  EXPECT_EQ(error("1 2"), "'2' is not expected at byte 2");
  EXPECT_EQ(error("sin(1)"), "no function is called 'sin'");
  EXPECT_EQ(error("min(1)"), "min() with 1 arguments");
  EXPECT_EQ(error("1 if 2"), "'else' is missing at byte 6");
  EXPECT_EQ(error("1..2"), "'1..2' is not expected at byte 0");
  EXPECT_THAT(error("a $ b"), HasSubstr("'$'"));
  EXPECT_EQ(error(std::string(1000, '(')), "nested deeper than 100");
  EXPECT_EQ(error(std::string(100000, '-')), "longer than 64 KB");
  EXPECT_NE(error(""), "none");
}

}  // namespace
}  // namespace sonde
