#include "analysis/comparison/baseline.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

Baseline example() {
  Baseline baseline;
  baseline.tool = "0.1.0";
  baseline.host = "here \"quoted\"";
  baseline.machine = "x86_64";
  baseline.processor = "A processor";
  baseline.kernel = "6.1";
  baseline.cpus = 2;
  baseline.runs.command = {"sh", "-c", "a\nb"};
  baseline.runs.runs = 3;
  baseline.runs.pace_ns = {1e6, 1.5e6, 0.1};
  baseline.runs.metrics.resize(2);
  MeasuredMetric& clock = baseline.runs.metrics[0];
  clock.name = "task-clock";
  clock.unit = "msec";
  clock.is_fraction = clock.goes_by_pace = true;
  clock.values = {0.1, 0.2, 0.3000000000000001};
  baseline.runs.metrics[1].name = "cycles";
  baseline.runs.metrics[1].status = MeasuredMetric::Status::kNotSupported;
  return baseline;
}

TEST(Baseline, IsReadAsItWasWritten) {
  std::string text = baseline_text(example());
  EXPECT_TRUE(looks_like_baseline(text));
  Result<Baseline> read = parse_baseline(text, "f");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, example());
}

std::string refusal(std::string_view text) {
  Result<Baseline> read = parse_baseline(text, "f");
  return read ? "none" : read.error().message;
}

TEST(Baseline, OtherFilesAreRefused) {
  for (const char* text : {"", "{}", "[1]", "{\"a\":1}", "perf.data", "{\"sonde_baseline\":"})
    EXPECT_EQ(refusal(text), "f: no file of `stat --save`") << text;
  EXPECT_EQ(refusal("{\"sonde_baseline\":1}"), "f: its field 'tool' is missing or makes no sense");
  EXPECT_EQ(refusal("{\"sonde_baseline\":99}"),
            "f: written by a later Sonde (version 99 of the format)");
  EXPECT_EQ(refusal(std::string(100000, '[')), "f: no file of `stat --save`");
}

TEST(Baseline, DamagedFieldsAreNamed) {
  auto with = [](std::string_view from, std::string_view to) {
    std::string text = baseline_text(example());
    text.replace(text.find(from), from.size(), to);
    return refusal(text);
  };
  EXPECT_EQ(with("\"cpus\":2", "\"cpus\":-2"), "f: its field 'cpus' is missing or makes no sense");
  EXPECT_EQ(with("\"runs\":3", "\"runs\":4"), "f: its field 'values' is missing or makes no sense");
  EXPECT_EQ(with("not supported", "unheard of"),
            "f: its field 'status' is missing or makes no sense");
  EXPECT_EQ(with("[0.1,", "[\"0.1\","), "f: its field 'values' is missing or makes no sense");
  EXPECT_EQ(with("[\"sh\",", "[7,"), "f: its field 'command' is missing or makes no sense");
}

TEST(Baseline, OriginsThatDifferAreSaidOrRefused) {
  Baseline now = example();
  EXPECT_TRUE(compare_origins(example(), now, "f")->empty());
  now.host = "there";
  now.kernel = "7.0";
  now.runs.command = {"b"};
  Result<std::vector<std::string>> notes = compare_origins(example(), now, "f");
  ASSERT_TRUE(notes);
  EXPECT_EQ(notes->size(), 3u);
  now.processor = "Another";
  EXPECT_EQ(compare_origins(example(), now, "f").error().code, ErrorCode::kUnsupported);
  now = example();
  now.inherit = false;
  EXPECT_FALSE(compare_origins(example(), now, "f"));
  now = example();
  now.cpus = 64;
  EXPECT_FALSE(compare_origins(example(), now, "f"));
}

}  // namespace
}  // namespace sonde
