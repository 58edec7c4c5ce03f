#include "render/comparison.h"

#include <gtest/gtest.h>

#include "base/sink.h"

namespace sonde::render {
namespace {

using view::ComparedMetric;

view::Comparison example() {
  view::Comparison comparison;
  comparison.a = {"'old | x'", {"old", "| x"}, 3};
  comparison.b = {"'new'", {"new"}, 3};
  ComparedMetric clock;
  clock.name = "task-clock";
  clock.unit = "msec";
  clock.is_fraction = true;
  clock.a = {10, 10.5, 11};
  clock.b = {11, 11.5, 12};
  clock.median_a = 10.5;
  clock.median_b = 11.5;
  clock.change = {true, 1.0952, 1.01, 1.2, 0.031};
  clock.p_value = 0.004;
  clock.verdict = ComparedMetric::Verdict::kWorse;
  ComparedMetric calls;
  calls.name = "calls";
  calls.median_b = 2;
  calls.change = {false, 2, 2, 2, 0};
  calls.verdict = ComparedMetric::Verdict::kTooFewRuns;
  ComparedMetric cycles;
  cycles.name = "cycles";
  cycles.status = ComparedMetric::Status::kNotSupported;
  comparison.metrics = {clock, calls, cycles};
  comparison.gates = {{"task-clock>2%", "task-clock", view::ComparedGate::Outcome::kExceeded},
                      {"calls>5", "calls", view::ComparedGate::Outcome::kPassed}};
  comparison.notes = {"a note"};
  return comparison;
}

std::string written(ComparisonFormat format, const view::Comparison& comparison) {
  StringSink out;
  write_comparison(out, comparison, {.format = format});
  return out.text();
}

constexpr const char* kExplanation =
    "Medians; less is better. All intervals and verdicts hold together with 95%: of comparisons of "
    "a command with itself, at most 5 in 100 would claim anything.";

TEST(Comparison, AsText) {
  std::string expected = fmt::format(R"(
 A: 'old | x'
 B: 'new'
 3 runs of each in turn, after a warm-up:

 metric           A       B  unit  B to A          interval  noise  verdict
 task-clock  10.500  11.500  msec  +9.52%  +1.00% .. +20.0%  3.10%  worse
 calls            0       2            +2          +2 .. +2      0  too few runs to tell
 cycles      <not supported>

 {}
 Note: a note

 gate task-clock>2%: exceeded
 gate calls>5: passed

)",
                                     kExplanation);
  EXPECT_EQ(written(ComparisonFormat::kText, example()), expected);
}

TEST(Comparison, AsMarkdown) {
  EXPECT_EQ(written(ComparisonFormat::kMarkdown, example()), fmt::format(R"(**A**: `'old | x'`  
**B**: `'new'`  
3 runs of each in turn, after a warm-up.

| metric | A | B | unit | B to A | interval | noise | verdict |
| --- | ---: | ---: | --- | ---: | ---: | ---: | --- |
| task-clock | 10.500 | 11.500 | msec | +9.52% | +1.00% .. +20.0% | 3.10% | **worse** |
| calls | 0 | 2 |  | +2 | +2 .. +2 | 0 | too few runs to tell |
| cycles | \<not supported> |  |  |  |  |  |  |

{}

Note: a note

- gate `task-clock>2%`: **exceeded**
- gate `calls>5`: passed
)",
                                                                         kExplanation));
}

TEST(Comparison, AsJson) {
  EXPECT_EQ(
      written(ComparisonFormat::kJson, example()),
      R"({"version":1,"a":{"title":"'old | x'","command":["old","| x"],"runs":3},)"
      R"("b":{"title":"'new'","command":["new"],"runs":3},"in_turn":true,"confidence":0.95,)"
      R"("metrics":[{"metric":"task-clock","unit":"msec","status":"compared","median_a":10.5,)"
      R"("median_b":11.5,"ratio":1.0952,"interval":[1.01,1.2],"noise":0.031,"p":0.004,)"
      R"("verdict":"worse","runs_a":[10,10.5,11],"runs_b":[11,11.5,12]},)"
      R"({"metric":"calls","unit":"","status":"compared","median_a":0,"median_b":2,"difference":2,)"
      R"("interval":[2,2],"noise":0,"p":1,"verdict":"too few runs to tell","runs_a":[],"runs_b":[]},)"
      R"({"metric":"cycles","unit":"","status":"not supported"}],)"
      R"("gates":[{"limit":"task-clock>2%","metric":"task-clock","outcome":"exceeded"},)"
      R"({"limit":"calls>5","metric":"calls","outcome":"passed"}],"notes":["a note"]})"
      "\n");
}

TEST(Comparison, ABaselineIsFromBefore) {
  view::Comparison comparison = example();
  comparison.in_turn = false;
  comparison.a.runs = 10;
  EXPECT_NE(written(ComparisonFormat::kText, comparison)
                .find(" 10 runs of A, from before, and 3 of B:\n"),
            std::string::npos);
}

}  // namespace
}  // namespace sonde::render
