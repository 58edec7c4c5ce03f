#include "stacks/speedscope_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stacks/profile_lines.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

struct ReadSpeedscope {
  LossLedger losses;
  Result<StackProfile> profile;
  explicit ReadSpeedscope(std::string_view text, const SessionStacksOptions& options = {})
      : profile(read_speedscope(text, "test", options, losses)) {}
};

constexpr std::string_view kSampled = R"({
  "profiles": [{"type": "sampled", "name": "one", "unit": "milliseconds", "startValue": 10, "endValue": 16,
    "samples": [[0, 1], [0], [0, 1], []], "weights": [1, 2, 2.5, 0.5]}],
  "shared": {"frames": [{"name": "main", "file": "a.py", "line": 3}, {"name": "in;ner"}]},
  "$schema": "https://www.speedscope.app/file-format-schema.json", "exporter": {"nested": [[["x"]]]}})";

TEST(SpeedscopeReader, ReadsSampledProfiles) {
  ReadSpeedscope read(kSampled, {.want_samples = true});
  ASSERT_TRUE(read.profile) << read.profile.error().message;
  const StackProfile& profile = *read.profile;
  EXPECT_EQ(profile.columns[0].unit, "nanoseconds");
  EXPECT_THAT(lines_of(profile), ElementsAre("main 2000000", "main;in:ner 3500000"));
  EXPECT_EQ(profile.columns[0].without_stack, 5e5);
  EXPECT_EQ(profile.text(profile.frame_of(StackNodeId(0)).file), "a.py");
  ASSERT_EQ(profile.samples.size(), 4u);
  EXPECT_EQ(profile.samples.time_ns[0], 10'000'000u);
  EXPECT_EQ(profile.samples.time_ns[2], 13'000'000u);
  EXPECT_EQ(profile.text(profile.threads[0].name), "one");
  EXPECT_EQ(read.losses.total(), 0u);
}

TEST(SpeedscopeReader, ReadsEventedProfiles) {
  constexpr std::string_view kEvented = R"({"shared": {"frames": [{"name": "a"}, {"name": "b"}]},
    "profiles": [{"type": "evented", "name": "t", "unit": "none", "startValue": 0, "endValue": 10, "events": [
      {"type": "O", "frame": 0, "at": 1}, {"type": "O", "frame": 1, "at": 3}, {"type": "C", "frame": 1, "at": 4},
      {"at": 6, "frame": 0, "type": "C"}, {"type": "O", "frame": 1, "at": 8}, {"type": "C", "frame": 1, "at": 10}]}]})";
  ReadSpeedscope read(kEvented);
  EXPECT_THAT(lines_of(*read.profile), ElementsAre("a 4", "a;b 1", "b 2"));
  EXPECT_EQ(read.losses.total(), 0u);
}

TEST(SpeedscopeReader, OneProfileMayHaveSamplesAndEvents) {
  constexpr std::string_view kBoth = R"({"shared": {"frames": [{"name": "a"}, {"name": "b"}]},
    "profiles": [{"name": "t", "unit": "nanoseconds", "startValue": 7, "samples": [[0], [1], [0]],
      "weights": [1, 2, 4], "events": [{"type": "O", "frame": 1, "at": 20}, {"type": "C", "frame": 1, "at": 28}]}]})";
  ReadSpeedscope read(kBoth, {.want_samples = true});
  EXPECT_THAT(lines_of(*read.profile), ElementsAre("a 5", "b 10"));
  EXPECT_THAT(read.profile->samples.time_ns, UnorderedElementsAre(7, 8, 10, 20));
  EXPECT_EQ(read.losses.total(), 0u);
}

TEST(SpeedscopeReader, NamesOfSeveralProfilesAreRoots) {
  constexpr std::string_view kTwo = R"({"shared": {"frames": [{"name": "a"}]}, "profiles": [
    {"type": "sampled", "name": "t1", "unit": "bytes", "samples": [[0]], "weights": [1]},
    {"samples": [[0]], "weights": [2], "type": "sampled", "name": "t2", "unit": "none"}]})";
  ReadSpeedscope read(kTwo);
  ASSERT_EQ(read.profile->columns.size(), 2u);
  EXPECT_EQ(read.profile->columns[0].name, "bytes");
  EXPECT_THAT(lines_of(*read.profile, 0), ElementsAre("t1;a 1"));
  EXPECT_THAT(lines_of(*read.profile, 1), ElementsAre("t2;a 2"));
  EXPECT_THAT(lines_of(*ReadSpeedscope(kTwo, {.task_root = false}).profile, 1), ElementsAre("a 2"));
}

TEST(SpeedscopeReader, DamageIsCounted) {
  ReadSpeedscope frames(
      R"({"shared": {"frames": [{"name": "a"}]}, "profiles": [{"samples": [[0, 7], [-1], [0]], "weights": [1, -2]}]})");
  EXPECT_THAT(lines_of(*frames.profile), ElementsAre("a 1"));
  EXPECT_EQ(frames.losses.count(LossKind::k_bad_record), 4u);
  ReadSpeedscope events(R"({"shared": {"frames": [{"name": "a"}]}, "profiles": [{"events": [
    {"type": "C", "frame": 0, "at": 1}, {"type": "O", "frame": 0, "at": 2}, {"type": "O", "frame": 0, "at": 1},
    {"type": "C", "frame": 0, "at": 5}]}]})");
  EXPECT_THAT(lines_of(*events.profile), ElementsAre("a 3"));
  EXPECT_EQ(events.losses.count(LossKind::k_bad_record), 2u);
}

TEST(SpeedscopeReader, RefusesOtherTexts) {
  for (std::string_view text : {R"({"profiles": [})", R"({"traceEvents": []})", "[]", "{}", ""}) {
    ReadSpeedscope read(text);
    ASSERT_FALSE(read.profile) << text;
    EXPECT_THAT(read.profile.error().message, HasSubstr("test: "));
  }
  ReadSpeedscope deep(R"({"a": )" + std::string(100000, '['));
  EXPECT_FALSE(deep.profile);
}

}  // namespace
}  // namespace sonde
