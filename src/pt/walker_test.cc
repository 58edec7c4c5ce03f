#include "pt/walker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "pt/made_traces.h"
#include "pt/trace_contents.h"
#include "pt/walked_program.h"

#if __has_include(<intel-pt.h>)

namespace sonde::pt {
namespace {

std::vector<Told> told_by_libipt(Bytes trace, const TraceSetup& setup, CodeReader& code) {
  Listener listener;
  EXPECT_TRUE(follow_by_libipt(trace, setup, code, listener));
  return listener.told;
}

/// Lets instructions be skipped, and compares what it is told with what libipt told.
class Skipper final : public Listener {
 public:
  Skipper(std::vector<Told> all, uint64_t patience, bool to_calls)
      : all_(std::move(all)), patience_(patience), to_calls_(to_calls) {}
  Indifference indifference(uint64_t) override { return {patience_, to_calls_}; }
  void skipped(uint64_t ip, uint64_t count, const Instruction& last, uint64_t now) override {
    EXPECT_GT(count, 0U);
    EXPECT_LE(count, patience_);
    size_t begin = told.size();
    if (begin + count > std::min(all_.size(), kMostTold)) return;
    EXPECT_EQ(all_[begin].ip, ip);
    for (size_t i = begin; i + 1 < begin + count; ++i) {
      EXPECT_TRUE(all_[i].is_instruction);
      bool is_call =
          all_[i].kind == InstructionKind::kCall || all_[i].kind == InstructionKind::kReturn;
      EXPECT_TRUE(to_calls_ || !is_call) << all_[i].text;
      told.push_back(all_[i]);
    }
    instruction(last, now);
  }

 private:
  std::vector<Told> all_;
  uint64_t patience_;
  bool to_calls_;
};

/// Both ways say the same.
void compare(Bytes trace, const TraceSetup& setup) {
  ASSERT_TRUE(look_through(trace, setup).is_readable);
  ProgramCode code;
  std::vector<Told> expected = told_by_libipt(trace, setup, code);
  Listener listener;
  bool is_skylake = setup.family != 0;
  WalkQuirks quirks{.skd022 = is_skylake, .bdm70 = is_skylake, .resumes = false};
  walk(trace, setup, quirks, code, listener);
  ASSERT_EQ(text_of(listener.told), text_of(expected));
  for (uint64_t patience : {uint64_t{1}, uint64_t{9}, uint64_t{1} << 40}) {
    for (bool to_calls : {false, true}) {
      Skipper skipper(expected, patience, to_calls);
      walk(trace, setup, quirks, code, skipper);
      ASSERT_EQ(text_of(skipper.told), text_of(expected)) << patience;
    }
  }
}

TEST(Walker, SaysWhatLibiptSaysOfRandomTraces) {
  constexpr uint32_t kTraces = 3'000;
  TraceSetup setup;
  setup.crystal_numerator = 7;
  setup.crystal_denominator = 2;
  setup.mtc_period = 3;
  for (uint32_t seed = 0; seed < kTraces; ++seed) {
    RandomTrace random(seed);
    compare(random.make(), setup);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Walker, SaysWhatLibiptSaysOfTracesWithAnErratum) {
  TraceSetup setup;
  setup.family = 6;
  setup.model = 0x4e;  // Skylake
  uint32_t compared = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomTrace random(seed);
    Bytes trace = random.make();
    if (look_through(trace, setup).has_overflows) continue;  // those have others
    compare(trace, setup);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    ++compared;
  }
  EXPECT_GT(compared, 50U);
}

TEST(Walker, SaysWhatLibiptSaysOfRuns) {
  constexpr uint32_t kRuns = 60;
  size_t instructions = 0, errors = 0;
  for (uint32_t seed = 0; seed < kRuns; ++seed) {
    SimulatedRun run(seed);
    Bytes trace = run.make(1000);
    compare(trace, {});
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    ProgramCode code;
    for (const Told& told : told_by_libipt(trace, {}, code)) {
      instructions += told.is_instruction;
      errors += told.text.starts_with("Trace doesn't match");
    }
  }
  // The runs are such that most of them can be followed.
  EXPECT_GT(instructions, size_t{kRuns} * 600);
  EXPECT_LT(errors, instructions / 100);
}

}  // namespace
}  // namespace sonde::pt

#endif
