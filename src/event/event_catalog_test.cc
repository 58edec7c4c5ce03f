#include "event/event_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "event/event_test_machine.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
                                         "uncore_cbox_0/clockticks/", "uncore_cbox_1/clockticks/"));
  EXPECT_EQ(events[1].encoding, "cpu/event=0xcd,umask=0x1,ldlat=3/");
  EXPECT_EQ(events[2].scale_unit, "6.103515625e-05MiB");
}

/// A build-id cache with two objects, of which both have one probe and one has another.
TEST(EventCatalog, ProbesOfOneNameAreToldApartByTheirObjects) {
  TestMachine machine;
  namespace fs = std::filesystem;
  std::string cache = fs::path(machine.pmu_directory()).parent_path() / "cache";
  auto add = [&](std::string_view object, std::string_view id, std::string_view probes) {
    machine.write(fmt::format("cache/{}/{}/probes", object, id), probes);
    fs::path link = fs::path(cache) / ".build-id" / id.substr(0, 2) / id.substr(2);
    fs::create_directories(link.parent_path());
    fs::create_symlink(fmt::format("../../{}/{}", object, id), link);
  };
  add("usr/lib/liba.so", "1122334455667788", "%sdt_x:go=go\np:sdt_x/go /usr/lib/liba.so:0x10");
  add("usr/lib/libb.so", "99aabbccddeeff00", "%sdt_x:go=go\n%sdt_x:stop=stop");
  EXPECT_THAT(names(sdt_catalog(cache)),
              ElementsAre("sdt_x:go@/usr/lib/liba.so(112233445566)",
                          "sdt_x:go@/usr/lib/libb.so(99aabbccddee)", "sdt_x:stop"));
  EXPECT_THAT(sdt_catalog(cache + "/nowhere"), IsEmpty());
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
