#include "event/pmu/event_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "event/parser/event_test_machine.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const std::vector<CatalogEvent>& events) {
  std::vector<std::string> out;
  for (const CatalogEvent& event : events)
    out.push_back(event.alias.empty() ? event.name : event.name + " OR " + event.alias);
  return out;
}

TEST(EventCatalog, EventsOfCoresNeedNoPmuBeforeThem) {
  TestMachine machine;
  machine.add_cpu();
  machine.add_uncore();
  PmuCatalog pmus(machine.pmu_directory());
  std::vector<CatalogEvent> events = pmu_catalog(pmus);
  EXPECT_THAT(names(events), ElementsAre("bus-time OR cpu/bus-time/", "mem-loads OR cpu/mem-loads/",
                                         "sonde_step//", "uncore_cbox_0/clockticks/",
                                         "uncore_cbox_1/clockticks/"));
  EXPECT_EQ(events[1].encoding, "cpu/event=0xcd,umask=0x1,ldlat=3/");
  EXPECT_EQ(events[3].scale_unit, "6.103515625e-05MiB");

  machine.write("devices/uncore_cbox_0/events/filtered", "event=0x34,opc=?,tid=?");
  PmuCatalog with_parameters(machine.pmu_directory());
  EXPECT_EQ(names(pmu_catalog(with_parameters))[4], "uncore_cbox_0/filtered,opc=?,tid=?/");
}

TEST(EventCatalog, TracepointsThatCannotBeOpenedAreLeftOut) {
  TestMachine machine;
  machine.write("tracing/events/sched/sched_switch/id", "314");
  machine.write("tracing/events/ftrace/print/id", "5");
  machine.write("tracing/events/ftrace/bprint/format", "name: bprint");
  Tracefs tracefs = Tracefs::at(machine.tracing_directory());
  EXPECT_THAT(names(tracepoint_catalog(tracefs)),
              ElementsAre("ftrace:print", "sched:sched_switch"));
}

}  // namespace
}  // namespace sonde
