// libpfm4's PMU "perf" has the events of every kernel, so these tests hold on any machine.
#include "event/pmu/pfm.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace sonde {
namespace {

using testing::HasSubstr;

TEST(PfmEvents, AreTheKernelsUnderTheirOwnNames) {
  Result<std::vector<ParsedEvent>> events = parse_pfm_events(
      "perf::PERF_COUNT_SW_CONTEXT_SWITCHES:u,PERF_COUNT_SW_CPU_CLOCK:freq=99:cpu=1,PAGE-FAULTS:k");
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 3u);
  const ParsedEvent& switches = (*events)[0];
  EXPECT_EQ(switches.name, "perf::PERF_COUNT_SW_CONTEXT_SWITCHES:u");
  EXPECT_EQ(switches.attr.type, abi::kTypeSoftware);
  EXPECT_EQ(switches.attr.config, abi::kSwContextSwitches);
  EXPECT_EQ(switches.attr.exclude_kernel, 1u);
  EXPECT_EQ(switches.attr.exclude_user, 0u);
  const ParsedEvent& clock = (*events)[1];
  EXPECT_EQ(clock.attr.freq, 1u);
  EXPECT_EQ(clock.attr.sample_period, 99u);
  EXPECT_EQ(clock.terms.cpus, std::vector<int>{1});
  EXPECT_EQ(clock.leader, 1u);
  EXPECT_EQ((*events)[2].attr.exclude_user, 1u);
}

TEST(PfmEvents, FormGroups) {
  Result<std::vector<ParsedEvent>> events = parse_pfm_events("cycles,{instructions,branches},cs");
  ASSERT_TRUE(events) << events.error().message;
  std::vector<uint32_t> leaders;
  for (const ParsedEvent& event : *events) leaders.push_back(event.leader);
  EXPECT_EQ(leaders, (std::vector<uint32_t>{0, 1, 1, 3}));
}

TEST(PfmEvents, SayWhatIsWrong) {
  auto message = [](std::string_view text) {
    Result<std::vector<ParsedEvent>> events = parse_pfm_events(text);
    EXPECT_FALSE(events) << text;
    return events ? std::string() : events.error().message;
  };
  EXPECT_EQ(message("nosuch"),
            "failed to parse event nosuch : event not found\n"
            "Run 'sonde list pfm' for a list of valid events");
  EXPECT_THAT(message("PAGE-FAULT:k"), HasSubstr("Did you mean 'PAGE-FAULTS'"));
  EXPECT_THAT(message("perf::PAGE-FAULT"), HasSubstr("Did you mean 'perf::PAGE-FAULTS'"));
  EXPECT_THAT(message("cs:bogus"), HasSubstr("invalid event attribute"));
  EXPECT_THAT(message("{cs"), HasSubstr("not closed"));
  EXPECT_THAT(message("cs}"), HasSubstr("closes no group"));
  EXPECT_THAT(message("{{cs}}"), HasSubstr("misplaced brace"));
  EXPECT_THAT(message("{cs,{cs}}"), HasSubstr("groups"));
  EXPECT_THAT(message("{}"), HasSubstr("empty group"));
  EXPECT_THAT(message("cs,,cs"), HasSubstr("empty name"));
  EXPECT_THAT(message(""), HasSubstr("empty name"));
}

TEST(PfmCatalog, HasTheGenericEvents) {
  Result<std::vector<PfmEvent>> catalog = pfm_catalog();
  ASSERT_TRUE(catalog) << catalog.error().message;
  auto clock = std::ranges::find(*catalog, "perf::PERF_COUNT_SW_CPU_CLOCK", &PfmEvent::name);
  ASSERT_NE(clock, catalog->end());
  EXPECT_EQ(clock->pmu, "perf");
  EXPECT_FALSE(clock->description.empty());
  auto masked = std::ranges::find(*catalog, "perf::L1-DCACHE-LOADS", &PfmEvent::name);
  EXPECT_NE(masked, catalog->end());
}

}  // namespace
}  // namespace sonde
