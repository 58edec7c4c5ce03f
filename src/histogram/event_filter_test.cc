#include "histogram/event_filter.h"

#include <gtest/gtest.h>

#include <map>

namespace sonde {
namespace {

/// Evaluates a filter for fields that are numbers.
bool passes(std::string_view text, const std::map<std::string, int64_t>& fields) {
  std::vector<FilterTest> tests = parse_event_filter(text).value();
  return passes_tests(tests, [&](const FilterTest& test) {
    return compare_numbers(static_cast<uint64_t>(fields.at(test.field)), test.operation,
                           test.number, true);
  });
}

TEST(EventFilter, AgreesWithTheExpression) {
  for (int64_t a : {-2, 0, 1, 7})
    for (int64_t b : {0, 1, 5})
      for (int64_t c : {0, 3}) {
        std::map<std::string, int64_t> fields{{"a", a}, {"b", b}, {"c", c}};
        EXPECT_EQ(passes("a > 0 && b == 1 || c != 3", fields), (a > 0 && b == 1) || c != 3);
        EXPECT_EQ(passes("a > 0 && (b == 1 || c != 3)", fields), a > 0 && (b == 1 || c != 3));
        EXPECT_EQ(passes("!(a<=-2||b>=5)&&!(c==0)", fields), !(a <= -2 || b >= 5) && c != 0);
        EXPECT_EQ(passes("!!(a & 0x2) || (b < 1 && !(c > 2 && a == 7))", fields),
                  (a & 2) != 0 || (b < 1 && !(c > 2 && a == 7)));
      }
  EXPECT_TRUE(passes("", {}));
}

TEST(EventFilter, OperandsMayBeText) {
  std::vector<FilterTest> tests = parse_event_filter("comm == dd || name != \"a b\"").value();
  ASSERT_EQ(tests.size(), 2u);
  EXPECT_EQ(tests[0].text, "dd");
  EXPECT_EQ(tests[1].text, "a b");
  EXPECT_TRUE(tests[0].is_text && tests[1].is_text);
  EXPECT_TRUE(parse_event_filter("name == \"12\"").value()[0].is_text);
  EXPECT_EQ(parse_event_filter("job->next->size>0").value()[0].field, "job->next->size");
}

TEST(EventFilter, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string text, message;
  };
  std::string many = "a == 1";
  for (int i = 0; i < HISTOGRAM_TESTS; ++i) many += " || a == 1";
  for (const Case& one :
       {Case{"a", "expected one of == != < <= > >= & at 'the end'"},
        Case{"a == ", "expected a number or text at 'the end'"},
        Case{"(a == 1", "expected ) at 'the end'"},
        Case{"a == 1 b == 2", "expected && or || at 'b == 2'"}, Case{"a ~ x*", "glob, at '~ x*'"},
        Case{"a < x", "text is compared with == and != only"},
        Case{"a == \"x", "a quote is not closed"}, Case{many, "more than 16 comparisons"},
        Case{std::string(100, '('), "too many parentheses"},
        Case{"a == " + std::string(32, 'x'), "more than 31 characters"}}) {
    auto tests = parse_event_filter(one.text);
    ASSERT_FALSE(tests) << one.text;
    EXPECT_NE(tests.error().message.find(one.message), std::string::npos) << tests.error().message;
  }
}

}  // namespace
}  // namespace sonde
