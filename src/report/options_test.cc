#include "report/options.h"

#include <gtest/gtest.h>

namespace sonde::report {
namespace {

TEST(CallGraphOptions, WordsComeInAnyOrderAndMayBeAbbreviated) {
  CallGraphOptions whole, short_words;
  ASSERT_TRUE(parse_call_graph("fractal,2.5,10,caller,address,count", whole));
  ASSERT_TRUE(parse_call_graph("addr,caller,2.5,frac,10,co", short_words));
  for (const CallGraphOptions& options : {whole, short_words}) {
    EXPECT_TRUE(options.given);
    EXPECT_EQ(options.style, view::GraphStyle::kRelative);
    EXPECT_EQ(options.min_percent, 2.5);
    EXPECT_EQ(options.print_limit, 10u);
    EXPECT_TRUE(options.caller_order);
    EXPECT_EQ(options.key, CallKey::kAddress);
    EXPECT_EQ(options.value, view::GraphValue::kCount);
  }
}

TEST(CallGraphOptions, NoneEndsThem) {
  CallGraphOptions options;
  ASSERT_TRUE(parse_call_graph("none,nonsense", options));
  EXPECT_EQ(options.style, view::GraphStyle::kNone);
}

TEST(CallGraphOptions, AnUnknownWordIsNamed) {
  CallGraphOptions options;
  Result<> parsed = parse_call_graph("graph,nonsense", options);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kUsage);
  EXPECT_NE(parsed.error().message.find("'nonsense'"), std::string::npos);
}

TEST(PercentLimit, AlsoLimitsCallGraphs) {
  ReportOptions options;
  ASSERT_TRUE(set_percent_limit(options, "1.5%"));
  EXPECT_EQ(options.percent_limit, 1.5);
  EXPECT_EQ(options.call_graph.min_percent, 1.5);
  EXPECT_FALSE(set_percent_limit(options, "-1"));
}

}  // namespace
}  // namespace sonde::report
