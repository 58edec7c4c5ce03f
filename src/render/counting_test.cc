#include "render/counting.h"

#include <gtest/gtest.h>

#include "base/sink.h"

namespace sonde::render {
namespace {

using view::CountGrouping;
using Format = CountStyle::Format;

view::CountPage one_row() {
  view::CountPage page;
  page.events = {{.name = "cs", .unit = "", .cgroup = "", .is_fraction = false}};
  page.units.resize(1);
  view::CountRow row;
  row.value = 1234567;
  row.enabled_ns = 1000;
  row.running_ns = 333;
  view::CountMetric metric;
  metric.name = "rate";
  metric.value = 1500;
  metric.format = "%8.3f";
  metric.unit = metric.title = "/sec";
  metric.divisor = 1000;
  metric.prefix = "K";
  metric.is_column = false;
  row.metrics = {metric};
  page.rows = {row};
  return page;
}

std::string written(const CountStyle& style, const view::CountPage& page) {
  StringSink out;
  make_count_writer(style, out)->page(page);
  return out.text();
}

TEST(CountText, PartsStandAtTheirPlaces) {
  EXPECT_EQ(written({}, one_row()),
            "           1234567      cs                               #    1.500 K/sec"
            "                    (33.30%)\n");
}

TEST(CountText, DigitsAreGroupedByTheLocale) {
  EXPECT_TRUE(written({.thousands = ","}, one_row()).starts_with("         1,234,567      cs"));
  view::CountPage page = one_row();
  page.events[0].is_fraction = true;
  page.rows[0].value = 123456.789;
  EXPECT_TRUE(written({.thousands = ","}, page).starts_with("        123,456.79      cs"));
  page.rows[0].value = 123;
  EXPECT_TRUE(written({.thousands = ","}, page).starts_with("            123.00      cs"));
}

TEST(CountText, FurtherMetricsStandBelow) {
  view::CountPage page = one_row();
  page.rows[0].metrics.push_back(page.rows[0].metrics[0]);
  EXPECT_NE(
      written({}, page).find("\n                                                  #    1.500"),
      std::string::npos);
}

TEST(CountText, HeadingsComeEvery25Intervals) {
  StringSink out;
  std::unique_ptr<CountWriter> writer = make_count_writer({.intervals = true}, out);
  view::CountPage page = one_row();
  page.time_ns = 1'000'000'005;
  for (int i = 0; i < 26; ++i) writer->page(page);
  size_t headings = 0;
  for (size_t at = out.text().find('#'); at != std::string::npos;
       at = out.text().find("\n#", at + 1))
    ++headings;
  EXPECT_EQ(headings, 2u);
  EXPECT_TRUE(
      out.text().starts_with("#           time             counts unit events\n"
                             "     1.000000005            1234567      cs"));
}

TEST(CountText, ColoursAreOnlyForThoseWhoSeeThem) {
  view::CountPage page = one_row();
  page.rows[0].metrics[0].level = view::CountMetric::Level::kVeryHigh;
  EXPECT_EQ(written({}, page).find('\033'), std::string::npos);
  EXPECT_NE(written({.color = true}, page).find("\033[31m   1.500\033[m"), std::string::npos);
}

TEST(CountText, TheMeanOfRunsHasTheErrorsPrecision) {
  StringSink out;
  std::unique_ptr<CountWriter> writer =
      make_count_writer({.several_runs = true, .run_table = true}, out);
  view::CountSummary summary;
  summary.title = "'x'";
  summary.runs = 2;
  summary.elapsed_s = {1.0, 1.5};
  summary.mean_s = 1.25;
  summary.error_s = 0.25;
  writer->end(summary);
  EXPECT_EQ(out.text(),
            "             # Table of individual measurements:\n"
            "             1.000 (-0.250) ######\n"
            "             1.500 (+0.250) ####\n"
            "\n"
            "             # Final result:\n"
            "             1.250 +- 0.250 seconds time elapsed  ( +- 20.00% )\n\n");
}

TEST(CountCsv, FieldsInPerfsOrder) {
  CountStyle style{.format = Format::kCsv, .separator = ";", .several_runs = true};
  EXPECT_EQ(written(style, one_row()), "1234567;;cs;0.00%;333;33.30;1.500;K/sec\n");
  view::CountPage page = one_row();
  page.rows[0].metrics.push_back(page.rows[0].metrics[0]);
  page.grouping = CountGrouping::kSocket;
  page.units[0] = {CountGrouping::kSocket, "S", "0"};
  page.rows[0].cpus = 2;
  EXPECT_EQ(written({.format = Format::kCsv}, page),
            "S0,2,1234567,,cs,333,33.30,1.500,K/sec\nS0,2,,,,,,1.500,K/sec\n");
}

TEST(CountJson, StringsAreQuoted) {
  view::CountPage page = one_row();
  page.events[0].name = "a\"b\\c";
  EXPECT_EQ(
      written({.format = Format::kJson}, page),
      "{\"counter-value\" : \"1234567.000000\", \"unit\" : \"\", \"event\" : \"a\\\"b\\\\c\", "
      "\"event-runtime\" : 333, \"pcnt-running\" : 33.30, \"metric-value\" : 1.500000, "
      "\"metric-unit\" : \"K/sec\"}\n");
}

TEST(CountColumns, NumbersAreWholeSinceATitleHasNoPrefix) {
  view::CountPage page = one_row();
  page.rows[0].metrics[0].is_column = true;
  EXPECT_EQ(written({.metric_only = true}, page), "                /sec \n            1500.000 \n");
}

TEST(CountColumns, UnitsWithoutAMetricHaveAGap) {
  view::CountPage page = one_row();
  page.grouping = CountGrouping::kCpu;
  page.units = {{CountGrouping::kCpu, "CPU", "0"}, {CountGrouping::kCpu, "CPU", "1"}};
  page.rows[0].metrics[0].is_column = true;
  page.rows.push_back(page.rows[0]);
  page.rows[1].unit = 1;
  page.rows[1].metrics.clear();
  CountStyle style{.format = Format::kCsv, .grouping = CountGrouping::kCpu, .metric_only = true};
  EXPECT_EQ(written(style, page), "cpu,/sec,\nCPU0,1500.000,\nCPU1,,\n");
  style.format = Format::kJson;
  EXPECT_EQ(written(style, page),
            "{\"cpu\" : \"0\", \"/sec\" : \"1500.000\"}\n{\"cpu\" : \"1\"}\n");
}

}  // namespace
}  // namespace sonde::render
