#include "event/vendor/vendor_events.h"

#include <gmock/gmock.h>

#include "event/parser/event_parser.h"
#include "event/parser/event_test_machine.h"
#include "event/vendor/vendor_catalog.h"
#include "event/vendor/vendor_files.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kSkylake =
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
    "model name\t: a processor\nstepping\t: 4\n";

constexpr std::string_view kCore = R"({"Header": {"Info": "made up"}, "Events": [
  {"EventCode": "0xD1", "UMask": "0x20", "EventName": "MEM_LOAD_RETIRED.L3_MISS", "PEBS": "1",
   "BriefDescription": "Loads that missed", "PublicDescription": "Loads that\nmissed, at length",
   "SampleAfterValue": "50021", "MSRIndex": "0", "MSRValue": "0x00", "CounterMask": "0",
   "Invert": "0", "EdgeDetect": "0", "AnyThread": "0"},
  {"EventCode": "0x0E", "UMask": "0x01", "EventName": "UOPS.STALLS", "CounterMask": "1",
   "Invert": "1", "SampleAfterValue": "2000003"},
  {"EventCode": "0xCD", "UMask": "0x01", "EventName": "LATENCY_GT_64", "MSRIndex": "0x3F6",
   "MSRValue": "0x40", "PEBS": "2", "BriefDescription": "Slow loads"},
  {"EventCode": "0xB7, 0xBB", "UMask": "0x01", "EventName": "OFFCORE:request=RFO:response=ANY",
   "MSRIndex": "0x1a6,0x1a7", "MSRValue": "0x10002"},
  {"EventCode": "0x00", "UMask": "0x01", "EventName": "INST_RETIRED.ANY"},
  {"EventCode": "0x00", "UMask": "0x02", "EventName": "CPU_CLK_UNHALTED.THREAD"},
  {"EventCode": "0x00", "UMask": "0x03", "EventName": "CPU_CLK_UNHALTED.REF_TSC"},
  {"EventCode": "oops", "EventName": "BROKEN.CODE"},
  {"EventCode": "0x01", "MSRIndex": "0x123", "EventName": "BROKEN.MSR"},
  {"EventCode": "0x01", "EventName": "no,name"}, 7, {}]})";

constexpr std::string_view kUncore = R"([{"Unit": "CBO", "EventCode": "0x34", "UMask": "0x11",
  "EventName": "UNC_CBO_LOOKUPS", "BriefDescription": "Lookups", "PerPkg": "1"},
  {"Unit": "iMC", "EventCode": "0x4", "EventName": "UNC_M_CAS"}])";

class VendorEventsTest : public testing::Test {
 protected:
  VendorEventsTest() {
    machine_.add_cpu();
    machine_.add_uncore();
    machine_.write("devices/cpu/format/offcore_rsp", "config1:0-63");
    machine_.write("devices/uncore_cbox_0/format/umask", "config:8-15");
    machine_.write("devices/uncore_cbox_1/format/umask", "config:8-15");
    machine_.write("cpuinfo", kSkylake);
  }

  std::string path(std::string_view name) const {
    return machine_.pmu_directory() + "/../" + std::string(name);
  }
  VendorEvents vendor() const { return VendorEvents(path("vendor"), path("cpuinfo")); }

  Result<std::vector<ParsedEvent>> parse(std::string_view text, bool counting = false) {
    PmuCatalog pmus(machine_.pmu_directory());
    Tracefs tracefs = Tracefs::at(machine_.tracing_directory());
    VendorEvents events = vendor();
    return parse_events(
        text, {.pmus = pmus, .tracefs = tracefs, .counting = counting, .vendor = &events});
  }
  ParsedEvent one(std::string_view text) {
    Result<std::vector<ParsedEvent>> events = parse(text);
    if (!events || events->size() != 1) {
      ADD_FAILURE() << text << ": " << (events ? "not one" : events.error().message);
      return {};
    }
    return events->front();
  }
  std::string error(std::string_view text) {
    Result<std::vector<ParsedEvent>> events = parse(text);
    return events ? "none" : events.error().message;
  }

  TestMachine machine_;
};

TEST_F(VendorEventsTest, EncodesIntelsEventsForTheCore) {
  machine_.write("vendor/core.json", kCore);
  ParsedEvent miss = one("MEM_LOAD_RETIRED.L3_MISS");
  EXPECT_EQ(miss.attr.type, 4u);
  EXPECT_EQ(miss.attr.config, 0x20d1u);
  EXPECT_EQ(miss.attr.sample_period, 50021u);
  EXPECT_EQ(miss.name, "MEM_LOAD_RETIRED.L3_MISS");
  EXPECT_EQ(miss.pmu, "cpu");
  ParsedEvent user = one("mem_load_retired.l3_miss:upp");
  EXPECT_EQ(user.attr.config, 0x20d1u);
  EXPECT_EQ(user.attr.precise_ip, 2u);
  EXPECT_EQ(user.attr.exclude_kernel, 1u);
  EXPECT_EQ(one("UOPS.STALLS").attr.config, 0x0180010eu);
  EXPECT_EQ(one("LATENCY_GT_64").attr.bp_addr, 0x40u);
  ParsedEvent offcore = one("OFFCORE.RFO.ANY");
  EXPECT_EQ(offcore.attr.config, 0x1b7u);
  EXPECT_EQ(offcore.attr.bp_addr, 0x10002u);
  EXPECT_EQ(one("INST_RETIRED.ANY").attr.config, 0xc0u);
  EXPECT_EQ(one("CPU_CLK_UNHALTED.THREAD").attr.config, 0x3cu);
  EXPECT_EQ(one("CPU_CLK_UNHALTED.REF_TSC").attr.config, 0x300u);
}

TEST_F(VendorEventsTest, AcceptsNamesBetweenSlashesWithTerms) {
  machine_.write("vendor/core.json", kCore);
  ParsedEvent event = one("cpu/cmask=3,UOPS.STALLS,period=7/u");
  EXPECT_EQ(event.attr.config, 0x0380010eu) << "the user's term counts";
  EXPECT_EQ(event.terms.period, 7u);
  EXPECT_THAT(error("cpu/UOPS.NONE/"), HasSubstr("unknown term 'UOPS.NONE'"));
  EXPECT_THAT(error("uncore_cbox_0/UOPS.STALLS/"), HasSubstr("unknown term"));
}

TEST_F(VendorEventsTest, CountsWithoutAPeriod) {
  machine_.write("vendor/core.json", kCore);
  Result<std::vector<ParsedEvent>> events =
      parse("{INST_RETIRED.ANY,MEM_LOAD_RETIRED.L3_MISS}:W", true);
  ASSERT_TRUE(events);
  EXPECT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[1].attr.sample_period, 0u);
}

TEST_F(VendorEventsTest, CountsUncoreEventsOnEachUnit) {
  machine_.write("vendor/core.json", kCore);
  machine_.write("vendor/uncore.json", kUncore);
  Result<std::vector<ParsedEvent>> events = parse("UNC_CBO_LOOKUPS");
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[0].pmu, "uncore_cbox_0");
  EXPECT_EQ((*events)[1].attr.type, 11u);
  EXPECT_EQ((*events)[1].attr.config, 0x1134u);
  EXPECT_EQ((*events)[1].cpus, (std::vector<int>{0, 18}));
  EXPECT_TRUE((*events)[1].per_package);
  EXPECT_THAT(error("UNC_M_CAS"), HasSubstr("no PMU that counts this event"));
  EXPECT_THAT(error("UNC_M_CAS"), HasSubstr("uncore_imc"));
}

TEST_F(VendorEventsTest, SaysWhyAnEventCannotBeUsed) {
  machine_.write("vendor/core.json", kCore);
  EXPECT_THAT(error("BROKEN.CODE"), HasSubstr("its EventCode is 'oops', not a number"));
  EXPECT_THAT(error("BROKEN.MSR"), HasSubstr("MSR 0x123"));
  EXPECT_THAT(error("NO.SUCH"), HasSubstr("unknown event"));
  EXPECT_THAT(error("sched:nothing"), HasSubstr("unknown tracepoint"));
}

TEST_F(VendorEventsTest, ChoosesFilesByTheMap) {
  machine_.write("vendor/SKX/core.json", kCore);
  machine_.write("vendor/mapfile.csv",
                 "Family-model,Version,Filename,EventType\n"
                 "GenuineIntel-6-4E,V1,/SKL/core.json,core\n"
                 "GenuineIntel-6-55-[01234],V1,/SKX/core.json,core\n"
                 "GenuineIntel-6-55-[56789ABCDEF],V1,/CLX/core.json,core\n"
                 "GenuineIntel-6-55-[01234],V1,/SKX/absent.json,uncore\n");
  EXPECT_EQ(one("UOPS.STALLS").attr.config, 0x0180010eu);
  machine_.write("cpuinfo", "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\nstepping : 8");
  EXPECT_THAT(error("UOPS.STALLS"), HasSubstr("GenuineIntel-6-8F-8; mapfile.csv has no line"));
}

TEST_F(VendorEventsTest, MapsOfSeveralKindsOfCores) {
  CpuIdentity cpu = parse_cpu_identity("vendor_id: GenuineIntel\ncpu family: 6\nmodel: 151\n");
  Result<std::vector<VendorFile>> files = mapped_files(
      "GenuineIntel-6-97,V1,/ADL/p.json,hybridcore,0x40,0x1,Core\r\n"
      "GenuineIntel-6-97,V1,/ADL/e.json,hybridcore,0x20,0x1,Atom\r\n",
      "d", cpu);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].core, "cpu_core");
  EXPECT_EQ((*files)[1].core, "cpu_atom");
  EXPECT_EQ((*files)[1].path, "d/ADL/e.json");
}

TEST_F(VendorEventsTest, MapsAreNotTrusted) {
  auto message = [](std::string_view text) {
    Result<std::vector<VendorFile>> files = mapped_files(text, "d", {.model = "X-1-2"});
    return files ? "none" : files.error().message;
  };
  EXPECT_THAT(message("X-1-2,V1\n"), HasSubstr("d/mapfile.csv:1: fewer than three fields"));
  EXPECT_THAT(message("\nX-1-2,V1,/../../etc/passwd,core"), HasSubstr("mapfile.csv:2: its path"));
  EXPECT_THAT(message("X{99}{99}{99}{99},V1,a,core"), HasSubstr("not a pattern"));
  EXPECT_THAT(message("X[,V1,a,core"), HasSubstr("not a pattern"));
  EXPECT_THAT(message("X++++++++++++++++++++++++,V1,a,core"), HasSubstr("not a pattern"));
  EXPECT_THAT(message("(((X{99}){99}){99})+,V1,a,core"), HasSubstr("not a pattern"));
  EXPECT_EQ(message("X-[0-9]+-(2|[A-F]+),V1,a,core"), "none");
}

TEST_F(VendorEventsTest, NamesFilesThatItCannotRead) {
  EXPECT_THAT(error("A.B"), HasSubstr("vendor: no such directory"));
  machine_.write("vendor/a.json", "{\"Events\": [");
  EXPECT_THAT(error("A.B"), HasSubstr("vendor/a.json: no JSON"));
  machine_.write("vendor/a.json", "{\"other\": 1}");
  EXPECT_THAT(error("A.B"), HasSubstr("vendor/a.json: neither Intel's nor Arm's"));
  EXPECT_FALSE(vendor().tables());
}

TEST_F(VendorEventsTest, ReadsNothingForNamesThatAreKnown) {
  machine_.write("vendor/a.json", "no JSON at all");
  EXPECT_TRUE(parse("cycles,cs:u,cpu/event=1/,mem-loads:p,r1a8"));
  VendorEvents none("");
  PmuCatalog pmus(machine_.pmu_directory());
  Tracefs tracefs = Tracefs::at(machine_.tracing_directory());
  Result<std::vector<ParsedEvent>> unknown =
      parse_events("INST.ANY", {.pmus = pmus, .tracefs = tracefs, .vendor = &none});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("sonde config events.directory="));
  ASSERT_TRUE(none.find("A.B"));
  EXPECT_TRUE(none.find("A.B")->empty());
}

TEST_F(VendorEventsTest, ReadsArmsSpecifications) {
  machine_.write("cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
  machine_.write("vendor/v1.json", R"({"product_configuration": {"implementer": "0x41",
    "part_num": "0xd40"},
    "events": {"INST_RETIRED": {"code": "0x0008", "title": "Instructions", "description": "More"},
               "BAD": {"code": "x"}},
    "metrics": {"ipc": {"formula": "INST_RETIRED / CPU_CYCLES", "units": "per cycle",
                "title": "Instructions per cycle"}},
    "groups": {"metrics": {"General": {"metrics": ["ipc", "none"]}}}})");
  machine_.write("vendor/other.json", R"({"product_configuration": {"part_num": "0xd0c"},
    "events": {"OTHER": {"code": 1}}})");
  EXPECT_EQ(one("inst_retired:u").attr.config, 8u);
  EXPECT_THAT(error("OTHER"), HasSubstr("unknown event"));
  EXPECT_THAT(error("BAD"), HasSubstr("its code is 'x'"));
  VendorEvents events = vendor();
  const VendorTables& tables = *events.tables().value();
  ASSERT_EQ(tables.metrics.size(), 1u);
  EXPECT_EQ(tables.metrics[0].unit, "per cycle");
  EXPECT_THAT(tables.metrics[0].groups, ElementsAre("General"));
  EXPECT_EQ(tables.events[0].brief, "Instructions");
}

TEST_F(VendorEventsTest, DescriptionsAreOneLine) {
  machine_.write("vendor/core.json", kCore);
  VendorEvents events = vendor();
  Result<std::vector<const VendorEvent*>> found = events.find("MEM_LOAD_RETIRED.L3_MISS");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front()->detailed, "Loads that missed, at length");
  EXPECT_THAT(events.find("latency_gt_64").value().front()->brief, HasSubstr("append :pp"));
}

TEST_F(VendorEventsTest, ListsWhatCanBeUsed) {
  machine_.write("vendor/core.json", kCore);
  PmuCatalog pmus(machine_.pmu_directory());
  VendorEvents events = vendor();
  Result<std::vector<CatalogEvent>> all = vendor_catalog(events, pmus, {.detailed = true});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 7u) << "not the broken ones";
  const CatalogEvent& miss = (*all)[5];
  EXPECT_EQ(miss.name, "OFFCORE.RFO.ANY");
  EXPECT_EQ(miss.encoding, "cpu/event=0xb7,umask=0x1,offcore_rsp=0x10002/");
  EXPECT_EQ((*all)[4].description, "Loads that missed, at length");
  VendorEvents absent(path("nowhere"), path("cpuinfo"));
  EXPECT_TRUE(vendor_catalog(absent, pmus, {}));
  EXPECT_FALSE(vendor_catalog(absent, pmus, {.required = true}));
}

}  // namespace
}  // namespace sonde
