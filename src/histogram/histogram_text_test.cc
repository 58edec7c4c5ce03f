#include "histogram/histogram_text.h"

#include <gtest/gtest.h>

#include "base/json_value.h"
#include "histogram/histogram_svg.h"

namespace sonde {
namespace {

HistogramSet sizes() {
  HistogramSet set;
  set.title = "bytes of a:b";
  set.value_name = "bytes";
  Histogram histogram{.key = "x"};
  for (uint64_t value : {1u, 5u, 6u, 7u, 30u})
    histogram.add(set.scale.bucket_of(value, false), 1, value);
  set.histograms = {histogram};
  return set;
}

TEST(HistogramText, RowsAreAlignedAndWhole) {
  StringSink text;
  write_histograms(text, sizes(), 10, 60);
  EXPECT_EQ(text.text(), R"(bytes of a:b

5 events, mean 9.8, p50 <= 7, p90 <= 31, p99 <= 31
            bytes  count  percent
                1      1    20.0%  |########                |
      2 ..      3      0     0.0%  |                        |
      4 ..      7      3    60.0%  |########################|
      8 ..     15      0     0.0%  |                        |
     16 ..     31      1    20.0%  |########                |
)");
}

TEST(HistogramText, TimesHaveUnits) {
  EXPECT_EQ(duration_text(0), "0ns");
  EXPECT_EQ(duration_text(512), "512ns");
  EXPECT_EQ(duration_text(999.9), "1us");
  EXPECT_EQ(duration_text(4096), "4.1us");
  EXPECT_EQ(duration_text(65536), "65.5us");
  EXPECT_EQ(duration_text(262144), "262us");
  EXPECT_EQ(duration_text(999'999), "1ms");
  EXPECT_EQ(duration_text(1.5e9), "1.5s");
}

TEST(HistogramText, KeysAreShownSafely) {
  HistogramSet set = sizes();
  set.key_name = "comm";
  set.histograms[0].key = "a\x1b[2J\xff<b>";
  EXPECT_EQ(key_text(set, set.histograms[0]), "comm a?[2J\uFFFD<b>");
  StringSink json, svg;
  write_histograms_json(json, set);
  auto parsed = JsonValue::parse(json.text(), "json");
  ASSERT_TRUE(parsed) << json.text();
  EXPECT_EQ(parsed->find("histograms")->array()[0].find("count")->number(), 5);
  write_histograms_svg(svg, set, 10);
  EXPECT_EQ(svg.text().find("<b>"), std::string::npos);
}

TEST(HistogramText, OpenBucketsAndNoEvents) {
  HistogramSet set = sizes();
  set.scale = {.size = 5, .from = 5, .to = 20};
  set.histograms[0].buckets = {{-1, 1}, {0, 3}, {3, 1}};
  StringSink text;
  write_histograms(text, set, 10, 60);
  EXPECT_NE(text.text().find("below         4      1"), std::string::npos) << text.text();
  EXPECT_NE(text.text().find("20    and up      1"), std::string::npos) << text.text();
  set.histograms.clear();
  StringSink none, svg;
  write_histograms(none, set, 10, 60);
  EXPECT_EQ(none.text(), "bytes of a:b\n\n  no events\n");
  write_histograms_svg(svg, set, 10);
  EXPECT_TRUE(svg.text().ends_with("</svg>\n"));
}

TEST(HistogramText, DifferencesAreWhatCameInBetween) {
  HistogramSet before = sizes(), now = sizes();
  now.histograms[0].add(3, 2, 11);
  now.histograms.push_back({.key = "y", .buckets = {{1, 1}}, .count = 1, .sum = 1});
  HistogramSet made = difference(now, before);
  ASSERT_EQ(made.histograms.size(), 2u);
  EXPECT_EQ(made.histograms[0].buckets, (std::map<int32_t, uint64_t>{{3, 2}}));
  EXPECT_EQ(made.histograms[0].sum, 11u);
  EXPECT_EQ(made.histograms[1].key, "y");
  EXPECT_TRUE(difference(now, now).histograms.empty());
}

}  // namespace
}  // namespace sonde
