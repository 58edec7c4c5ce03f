#include "capture/recorders/call_graph_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::HasSubstr;

class CallGraphChoiceTest : public testing::Test {
 protected:
  CallGraphChoiceTest() { options_.sampling.call_graph = CallGraphMode::kBest; }

  void add_event(uint32_t type, std::string name) {
    ParsedEvent event;
    event.attr.type = type;
    event.name = std::move(name);
    options_.events.append({event});
  }
  CallGraphChoice choose(std::string_view why_no_copies = "") {
    return choose_call_graph(options_, why_no_copies, [this]() -> Result<> {
      ++asked_;
      if (refusal_.empty()) return {};
      return fail(ErrorCode::kUnsupported, "{}", refusal_);
    });
  }

  RecordOptions options_;
  std::string refusal_;
  int asked_ = 0;
};

TEST_F(CallGraphChoiceTest, TakesTheWalkerForWhatRunsAlready) {
  options_.target.all_cpus = true;
  EXPECT_EQ(choose().mode, CallGraphMode::kBpf);
  options_.target = {};
  options_.target.pids = "1";
  EXPECT_EQ(choose().mode, CallGraphMode::kBpf);
  EXPECT_EQ(asked_, 2);
}

TEST_F(CallGraphChoiceTest, DoesNotLetACommandWaitForTheWalker) {
  options_.target.command = {"true"};
  CallGraphChoice choice = choose();
  EXPECT_EQ(choice.mode, CallGraphMode::kDwarf);
  EXPECT_EQ(asked_, 0);
  EXPECT_THAT(choice.why, HasSubstr("--call-graph dwarf"));
  EXPECT_THAT(choice.why, HasSubstr("bpf: "));
  // On the whole machine the command only says how long.
  options_.target.all_cpus = true;
  EXPECT_EQ(choose().mode, CallGraphMode::kBpf);
}

TEST_F(CallGraphChoiceTest, SaysWhatTheKernelSaid) {
  options_.target.all_cpus = true;
  refusal_ = "--call-graph bpf: this kernel is too old: use --call-graph dwarf";
  CallGraphChoice choice = choose();
  EXPECT_EQ(choice.mode, CallGraphMode::kDwarf);
  EXPECT_THAT(choice.why, HasSubstr("(bpf: this kernel is too old)"));
}

TEST_F(CallGraphChoiceTest, FallsBackToFramePointersWithBothReasons) {
  options_.target.all_cpus = true;
  refusal_ = "not permitted";
  CallGraphChoice choice = choose("stacks of this architecture cannot be unwound yet");
  EXPECT_EQ(choice.mode, CallGraphMode::kFramePointer);
  EXPECT_THAT(choice.why, HasSubstr("bpf: not permitted"));
  EXPECT_THAT(choice.why, HasSubstr("dwarf: stacks of this architecture"));
}

TEST_F(CallGraphChoiceTest, NeitherWalksNorCopiesForTracepoints) {
  options_.target.all_cpus = true;
  add_event(abi::kTypeSoftware, "cpu-clock");
  EXPECT_EQ(choose().mode, CallGraphMode::kBpf);
  add_event(abi::kTypeTracepoint, "sched:sched_switch");
  CallGraphChoice choice = choose();
  EXPECT_EQ(choice.mode, CallGraphMode::kFramePointer);
  EXPECT_THAT(choice.why, HasSubstr("sched:sched_switch"));
  EXPECT_EQ(asked_, 1);
}

TEST_F(CallGraphChoiceTest, NeitherWalksNorCopiesAtRatesThatTakeTheWholeCpu) {
  options_.target.all_cpus = true;
  options_.sampling.freq = 20'000;
  EXPECT_THAT(choose().why, HasSubstr("cycles: more than"))
      << "the event that is recorded without -e";
  EXPECT_EQ(choose().mode, CallGraphMode::kFramePointer);
  add_event(abi::kTypeSoftware, "cpu-clock");
  options_.sampling.freq = 10'000;
  EXPECT_EQ(choose().mode, CallGraphMode::kBpf);
  options_.sampling.freq = 20'000;
  CallGraphChoice choice = choose();
  EXPECT_EQ(choice.mode, CallGraphMode::kFramePointer);
  EXPECT_THAT(choice.why, HasSubstr("10000 samples a second"));
  options_.sampling.freq.reset();
  options_.sampling.freq_max = true;
  EXPECT_EQ(choose().mode, CallGraphMode::kFramePointer);
  options_.sampling.freq_max = false;
  options_.sampling.period = 20'000;  // ns
  EXPECT_EQ(choose().mode, CallGraphMode::kFramePointer);
  options_.sampling.period = 1'000'000;
  EXPECT_EQ(choose().mode, CallGraphMode::kBpf);
  add_event(abi::kTypeHardware, "cycles");
  EXPECT_EQ(choose().mode, CallGraphMode::kBpf);
  options_.sampling.period = 100'000;
  EXPECT_THAT(choose().why, HasSubstr("cycles: "));
}

TEST_F(CallGraphChoiceTest, DoesNotCopyEachTimeThatSomethingHappens) {
  options_.target.command = {"true"};
  add_event(abi::kTypeSoftware, "page-faults");
  options_.events.edit()[0].attr.config = abi::kSwPageFaults;
  EXPECT_EQ(choose().mode, CallGraphMode::kDwarf);
  options_.sampling.period = 1;
  EXPECT_EQ(choose().mode, CallGraphMode::kBpf);
  refusal_ = "not permitted";
  CallGraphChoice choice = choose();
  EXPECT_EQ(choice.mode, CallGraphMode::kFramePointer);
  EXPECT_THAT(choice.why, HasSubstr("every page-faults event"));
}

TEST_F(CallGraphChoiceTest, WalksForSumsOfACommand) {
  options_.target.command = {"true"};
  options_.sampling.aggregation.enabled = true;
  EXPECT_EQ(choose().mode, CallGraphMode::kBpf);
}

TEST_F(CallGraphChoiceTest, NamesTheOptionThatStandsInTheWay) {
  options_.target.all_cpus = true;
  options_.sampling.overwrite = options_.synthesis.at_end = true;
  CallGraphChoice choice = choose(why_not_unwound(options_));
  EXPECT_EQ(choice.mode, CallGraphMode::kFramePointer);
  EXPECT_THAT(choice.why, HasSubstr("bpf: cannot be combined with --overwrite"));
  EXPECT_THAT(choice.why, HasSubstr("dwarf: mappings are described at the end"));
  options_ = {};
  options_.target.all_cpus = true;
  options_.sampling.kernel_callchains = true;
  EXPECT_EQ(choose().mode, CallGraphMode::kFramePointer);
}

}  // namespace
}  // namespace sonde
