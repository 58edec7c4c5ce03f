#include "capture/aux/trace_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sys.h"
#include "capture/aux/trace_groups.h"
#include "event/parser/event_test_machine.h"
#include "event/pmu/attr_text.h"
#include "event/pmu/trace_pmu.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A kernel that opens everything, or only events of user code.
class Kernel final : public Sys {
 public:
  explicit Kernel(bool is_root) : is_root_(is_root) {}
  SysResult<int> perf_event_open(perf_event_attr*, pid_t pid, int, int, unsigned long) override {
    if (pid < 0 && !is_root_) return std::unexpected(EACCES);
    return 100;
  }
  SysResult<int> ioctl(int, unsigned long, uint64_t) override { return 0; }
  SysResult<void*> mmap(size_t, int, int, int, off_t) override { return std::unexpected(EPERM); }
  SysResult<int> munmap(void*, size_t) override { return 0; }
  SysResult<int> open(const std::string&, int, mode_t) override { return std::unexpected(ENOENT); }
  SysResult<size_t> read(int, void*, size_t) override { return size_t{0}; }
  SysResult<size_t> write(int, const void*, size_t size) override { return size; }
  SysResult<int> close(int) override { return 0; }
  uid_t geteuid() override { return is_root_ ? 0 : 1000; }

 private:
  bool is_root_;
};

class TracePlanning : public testing::Test {
 protected:
  /// As an Intel processor of 2017 shows its PMU.
  TracePlanning() {
    auto add = [&](const char* path, const char* text) {
      machine_.write(fmt::format("devices/intel_pt/{}", path), text);
    };
    add("type", "6");
    add("format/pt", "config:0");
    add("format/cyc", "config:1");
    add("format/mtc", "config:9");
    add("format/tsc", "config:10");
    add("format/noretcomp", "config:11");
    add("format/branch", "config:13");
    add("format/mtc_period", "config:14-17");
    add("format/cyc_thresh", "config:19-22");
    add("format/psb_period", "config:24-27");
    add("caps/mtc", "1");
    add("caps/mtc_periods", "249");
    add("caps/psb_cyc", "1");
    add("caps/psb_periods", "3f");
    add("caps/cycle_thresholds", "1fff");
    add("caps/max_nonturbo_ratio", "12");
    machine_.write("devices/cs_etm/type", "8");
    machine_.write("devices/cs_etm/format/contextid", "config:14");
    machine_.write("devices/cs_etm/format/timestamp", "config:28");
    machine_.write("devices/cs_etm/format/retstack", "config:29");
    machine_.write("devices/cs_etm/sinks/tmc_etr0", "0xa61eb707");
    machine_.write("devices/intel_bts/type", "7");
    machine_.write("devices/hisi_ptt0_2/type", "12");
    machine_.write("devices/arm_spe_0/type", "9");
    machine_.write("devices/arm_spe_0/format/ts_enable", "config:0");
    machine_.write("devices/arm_spe_0/format/pa_enable", "config:1");
    machine_.write("devices/arm_spe_0/caps/min_interval", "1024");
    machine_.add_software();
    target_.kind = Target::Kind::kCommand;
    target_.cpus = {0, 1};
  }

  Result<std::vector<CaptureEvent>> configure(std::string_view text, bool is_root = true) {
    Kernel kernel(is_root);
    PmuCatalog pmus(machine_.pmu_directory());
    Tracefs tracefs(machine_.tracing_directory());
    EventList list;
    TRY(parse_events(text, {.pmus = pmus, .tracefs = tracefs, .tool = "perf"}, list));
    std::vector<std::string> cgroups;
    plan_ = TRY(plan_trace(options_, target_, pmus, kernel, list, cgroups));
    ConfigContext context{.target = target_, .rate = {}};
    if (plan_) context.trace = plan_->companions;
    return configure_events(list, options_.sampling, context);
  }
  /// Name and attr of each event, as `evlist -v` shows them.
  std::vector<std::string> lines(std::string_view text, bool is_root = true) {
    Result<std::vector<CaptureEvent>> events = configure(text, is_root);
    EXPECT_TRUE(events) << events.error().message;
    std::vector<std::string> all;
    for (CaptureEvent& event : events.value_or(std::vector<CaptureEvent>())) {
      event.attr().size = 128;
      event.attr().read_format = 0;
      all.push_back(fmt::format("{}: {}", event.parsed.name, attr_line(event.attr())));
    }
    return all;
  }
  std::string error(std::string_view text) {
    Result<std::vector<CaptureEvent>> events = configure(text);
    return events ? "no error" : events.error().message;
  }

  /// As the kernel shows the trace units of the machine of perf_etm.data.
  void add_trace_unit(int cpu, std::string_view id2 = "0x20001088") {
    auto add = [&](std::string_view name, std::string_view text) {
      machine_.write(fmt::format("devices/cs_etm/cpu{}/mgmt/{}", cpu, name), text);
    };
    add("trcidr0", "0x28000ea1");
    add("trcidr1", "0x4100f422");
    add("trcidr2", id2);
    add("trcidr8", "0x0");
    add("trcauthstatus", "0x8c");
  }

  TestMachine machine_;
  Target target_;
  RecordOptions options_;
  std::optional<TracePlan> plan_;
};

constexpr std::string_view kTracking =
    "dummy:u: type: 1, size: 128, config: 0x9, { sample_period, sample_freq }: 1, sample_type: "
    "IP|TID|TIME|CPU|IDENTIFIER, disabled: 1, inherit: 1, exclude_kernel: 1, exclude_hv: 1, mmap: "
    "1, comm: 1, enable_on_exec: 1, task: 1, sample_id_all: 1, exclude_guest: 1, mmap2: 1, "
    "comm_exec: 1, ksymbol: 1, bpf_event: 1";
constexpr std::string_view kSwitches =
    "dummy:u: type: 1, size: 128, config: 0x9, { sample_period, sample_freq }: 1, sample_type: "
    "IP|TID|TIME|CPU|IDENTIFIER, inherit: 1, exclude_kernel: 1, exclude_hv: 1, sample_id_all: 1, "
    "exclude_guest: 1, context_switch: 1";

// What perf 6.1 asks for with the same PMU (record -vv).

TEST_F(TracePlanning, ACommandsTraceOfUserCode) {
  EXPECT_THAT(lines("intel_pt//u"),
              ElementsAre("intel_pt//u: type: 6, size: 128, config: 0x300e601, { sample_period, "
                          "sample_freq }: 1, sample_type: IP|TID|TIME|CPU|IDENTIFIER, disabled: 1, "
                          "inherit: 1, exclude_kernel: 1, exclude_hv: 1, enable_on_exec: 1, "
                          "sample_id_all: 1, aux_watermark: 1048576",
                          kSwitches, kTracking));
  EXPECT_EQ(plan_->area_bytes, size_t{4} << 20);
}

TEST_F(TracePlanning, OtherEventsComeAfterTheTraceAndTheKernelsCodeIsWatched) {
  std::vector<std::string> all = lines("cs,intel_pt/cyc/");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_THAT(all[0], HasSubstr("config: 0x300e603"));
  EXPECT_THAT(all[1], HasSubstr("sample_type: IP|TID|TIME|PERIOD|IDENTIFIER"));
  EXPECT_EQ(all[2], kSwitches);
  EXPECT_EQ(all[4],
            "dummy:u: type: 1, size: 128, config: 0x9, { sample_period, sample_freq }: 1, "
            "sample_type: IP|TID|TIME|IDENTIFIER, inherit: 1, exclude_kernel: 1, exclude_hv: 1, "
            "sample_id_all: 1, exclude_guest: 1, ksymbol: 1, text_poke: 1");
}

TEST_F(TracePlanning, OnWholeCpusTheTrackingEventTellsOfSwitches) {
  target_.kind = Target::Kind::kCpus;
  std::vector<std::string> all = lines("intel_pt//");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[1], HasSubstr("context_switch: 1, bpf_event: 1"));
  EXPECT_EQ(plan_->info[7], 3u);
}

TEST_F(TracePlanning, UsersSeeTheSwitchesOfTheirThreads) {
  std::vector<std::string> all = lines("intel_pt//u", /*is_root=*/false);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[1], HasSubstr("context_switch: 1"));
  EXPECT_EQ(plan_->info[7], 2u);
}

TEST_F(TracePlanning, ThreadsHaveTracesWithoutCpus) {
  target_.per_thread = true;
  target_.cpus = {-1};
  std::vector<std::string> all = lines("intel_pt//u");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0], HasSubstr("sample_type: IP|TID|IDENTIFIER, disabled: 1, exclude_kernel"));
  EXPECT_EQ(plan_->info[9], 0u);
}

TEST_F(TracePlanning, TheSetupIsDescribedAsInRecordingsOfPerf) {
  (void)lines("intel_pt//u");
  std::vector<uint64_t> info = plan_->info;
  ASSERT_EQ(info.size(), 18u);
  info[12] = info[13] = 0;  // this machine's clocks
  EXPECT_THAT(info,
              ElementsAre(6, 0, 0, 0, 0, 0x400, 0x800, 3, 0, 1, 0x200, 0x3c000, 0, 0, 2, 12, 0, 0));
}

TEST_F(TracePlanning, SnapshotsHaveSizes) {
  options_.trace.snapshot = true;
  EXPECT_THAT(lines("intel_pt//u")[0], testing::Not(HasSubstr("aux_watermark")));
  EXPECT_EQ(plan_->snapshot_bytes, size_t{4} << 20);
  EXPECT_EQ(plan_->info[8], 1u);
  options_.trace.snapshot_bytes = 5'000'000;
  (void)lines("intel_pt//u");
  EXPECT_EQ(plan_->area_bytes, size_t{8} << 20);
  options_.trace.area_pages = 16;
  EXPECT_THAT(error("intel_pt//u"), HasSubstr("Snapshot size 5000000 must not be greater"));
}

TEST_F(TracePlanning, SamplesHaveTheTraceOfTheirGroup) {
  options_.trace.sample_bytes = 4096;
  std::vector<std::string> all =
      lines("{intel_pt//u,cs,page-faults/aux-sample-size=0/,cs/aux-sample-size=8192/}");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_THAT(all[0], HasSubstr("config: 0xe601"));  // PSB packets as near as can be
  EXPECT_THAT(all[0], testing::Not(HasSubstr("aux_watermark")));
  EXPECT_THAT(all[1], HasSubstr("sample_type: IP|TID|TIME|PERIOD|IDENTIFIER|AUX"));
  EXPECT_THAT(all[1], HasSubstr("aux_sample_size: 4096"));
  EXPECT_THAT(all[2], HasSubstr("sample_type: IP|TID|TIME|PERIOD|IDENTIFIER, "));
  EXPECT_THAT(all[3], HasSubstr("aux_sample_size: 8192"));
  EXPECT_TRUE(plan_->is_overwritten());
  EXPECT_FALSE(plan_->snapshot_bytes);
  EXPECT_EQ(plan_->area_bytes, 8192u);
  EXPECT_EQ(plan_->least_sample, 4096u);
  EXPECT_EQ(plan_->info[8], 0u);
  (void)lines("{intel_pt/psb_period=5/u,cs}");
  EXPECT_THAT(lines("{intel_pt/psb_period=5/u,cs}")[0], HasSubstr("config: 0x500e601"));
}

TEST_F(TracePlanning, SamplesThatAreTooShortForAPsbAreWarnedOf) {
  (void)lines("{intel_pt//u,cs/aux-sample-size=100/}");
  EXPECT_THAT(plan_->warnings,
              ElementsAre("Intel PT sample size (100) may be too small for PSB period (256)"));
  EXPECT_EQ(plan_->area_bytes, 4096u);
  machine_.write("devices/intel_pt/caps/topa_multiple_entries", "1");
  (void)lines("{intel_pt//u,cs/aux-sample-size=2304/}");
  EXPECT_THAT(plan_->warnings,
              ElementsAre("Intel PT sample size (2304) may be too small for PSB period (2048)"));
  (void)lines("{intel_pt//u,cs/aux-sample-size=2305/}");
  EXPECT_TRUE(plan_->warnings.empty());
}

TEST_F(TracePlanning, EventsJoinTheGroupOfTheTraceBeforeThem) {
  auto leaders = [&](std::string_view text) {
    std::string names;
    Result<std::vector<CaptureEvent>> events = configure(text);
    if (!events) return events.error().message;
    for (const CaptureEvent& event : *events)
      if (!event.is_added) names += fmt::format("{}>{} ", event.parsed.name, event.parsed.leader);
    return names;
  };
  EXPECT_EQ(leaders("faults,intel_pt//u,cs,page-faults/aux-output/,cs"),
            "intel_pt//u>0 cs>0 page-faults/aux-output/>0 faults>3 cs>4 ");
  EXPECT_EQ(leaders("intel_pt//u,cs/aux-action=resume/"), "intel_pt//u>0 cs/aux-action=resume/>0 ");
  EXPECT_EQ(leaders("intel_pt//u,cs/aux-output/,{faults,page-faults/aux-output/}"),
            "intel_pt//u>0 cs/aux-output/>0 faults>2 page-faults/aux-output/>2 ");
  EXPECT_THAT(leaders("cs/aux-sample-size=10/,intel_pt//u"), HasSubstr("to a group leader"));
  EXPECT_THAT(leaders("intel_pt//u,{faults,cs/aux-sample-size=10/}"),
              HasSubstr("group leader is not an AUX area event"));
  EXPECT_THAT(leaders("{cs,intel_pt//u}"), HasSubstr("name it first in the group"));
  EXPECT_THAT(leaders("{intel_pt//u,cs}:S"), HasSubstr(":S has the group read"));
}

TEST_F(TracePlanning, SampledTracesNeedSamplesAndAreNoSnapshots) {
  EXPECT_EQ(parse_aux_sample_size("").value_or(0), 4096u);
  EXPECT_EQ(parse_aux_sample_size("0").value_or(0), 4096u);
  EXPECT_EQ(parse_aux_sample_size("61440").value_or(0), 61440u);
  EXPECT_EQ(parse_aux_sample_size("61441").error().message,
            "AUX area sample size 61441 too big, max. 61440");
  EXPECT_EQ(parse_aux_sample_size("16,").error().message, "Bad AUX area sampling option: '16,'");
  EXPECT_THAT(error("{intel_pt//u,cs/aux-sample-size=61441/}"), HasSubstr("too big"));
  options_.trace.sample_bytes = 4096;
  EXPECT_THAT(error("intel_pt//u,cs"), HasSubstr("give a group of events that a tracer leads"));
  EXPECT_EQ(error("cs"),
            "--aux-sample: there is no instruction trace to put into samples: -e names a tracer");
  options_.trace.snapshot = true;
  EXPECT_EQ(error("{intel_pt//u,cs}"),
            "Snapshot mode (intel_pt PMU) and sample trace cannot be used together");
}

// What perf 6.1 asks for with a PMU of that name (record -vv).
TEST_F(TracePlanning, BranchTraceStoresBelongToThreads) {
  EXPECT_THAT(error("intel_bts//u"), HasSubstr("does not support per-cpu recording"));
  target_.per_thread = true;
  target_.cpus = {-1};
  std::vector<std::string> all = lines("cs,intel_bts//u");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0],
            "intel_bts//u: type: 7, size: 128, { sample_period, sample_freq }: 1, "
            "sample_type: IP|TID|IDENTIFIER, disabled: 1, exclude_kernel: 1, exclude_hv: 1, "
            "enable_on_exec: 1, sample_id_all: 1, exclude_guest: 1");
  EXPECT_THAT(plan_->info, ElementsAre(7, 0, 0, 0, 0, 0));
  EXPECT_THAT(error("{intel_bts//u,cs/aux-sample-size=10/}"), HasSubstr("Intel BTS does not"));
}

TEST_F(TracePlanning, StatisticalProfilesTellWhenAndWhatTheyAccess) {
  std::vector<std::string> all = lines("arm_spe_0/pa_enable=1/u");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0], HasSubstr("config: 0x3, { sample_period, sample_freq }: 1024, sample_type: "
                                "IP|TID|TIME|CPU|IDENTIFIER|DATA_SRC|PHYS_ADDR"));
  EXPECT_THAT(all[1], HasSubstr("context_switch: 1"));
  EXPECT_THAT(plan_->info, ElementsAre(9, 1));
  options_.sampling.period = 5000;
  EXPECT_THAT(lines("arm_spe_0//")[0], HasSubstr("sample_freq }: 5000"));
}

TEST_F(TracePlanning, TraceUnitsAreDescribedSoThatTheirTracesCanBeRead) {
  add_trace_unit(0);
  add_trace_unit(1);
  machine_.write("devices/cs_etm/cpu1/mgmt/trcdevarch", "0x47705a13");
  machine_.write("devices/cs_etm/cpu1/ts_source", "1");
  std::vector<std::string> all = lines("cs_etm/@tmc_etr0,retstack/u");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0], HasSubstr("config: 0x30004000, { sample_period, sample_freq }: 1"));
  EXPECT_THAT(all[0], HasSubstr("config2 }: 0xa61eb707"));
  // The first unit as in the fixture perf_etm.data, but for what is asked of it.
  ASSERT_EQ(plan_->info.size(), 3u + 10 + 12);
  EXPECT_THAT(std::span(plan_->info).first(13),
              ElementsAre(1, 0x800000002, 0, 0x4040404040404040, 0, 7, 0x1840, 0x10, 0x28000ea1,
                          0x4100f422, 0x20001088, 0, 0x8c));
  // An ETE also has TRCDEVARCH; the last word says that its times are the system counter's.
  EXPECT_THAT(std::span(plan_->info).subspan(13),
              ElementsAre(0x5050505050505050, 1, 9, 0x1840, 0x12, 0x28000ea1, 0x4100f422,
                          0x20001088, 0, 0x8c, 0x47705a13, 1));
}

TEST_F(TracePlanning, ThreadsNeedNoContextIds) {
  add_trace_unit(0, "0x1088 ");
  add_trace_unit(1, "0x8");
  EXPECT_THAT(error("cs_etm//u"), HasSubstr("the trace unit of CPU 1 does not tell context ids"));
  target_.per_thread = true;
  target_.cpus = {-1};
  (void)lines("cs_etm//u");
  EXPECT_EQ(plan_->info[6], 0u);
}

TEST_F(TracePlanning, TraceUnitsThatCannotBeUsedAreNamed) {
  EXPECT_THAT(error("cs_etm//u"), HasSubstr("no CPU has registers of a trace unit"));
  machine_.write("devices/cs_etm/cpu0/mgmt/etmccer", "0x34c01ac2");
  EXPECT_THAT(error("cs_etm//u"), HasSubstr("ETMv3 and PTM are not recorded"));
  EXPECT_THAT(error("cs_etm/@etb9/u"), HasSubstr("failed to set sink \"etb9\""));
}

TEST_F(TracePlanning, WhatCannotBeTracedIsNamed) {
  EXPECT_EQ(error("intel_pt/psb_period=9/"),
            "Invalid psb_period for intel_pt. Valid values are: 0-5");
  EXPECT_EQ(error("intel_pt/mtc_period=1/"),
            "Invalid mtc_period for intel_pt. Valid values are: 0,3,6,9");
  EXPECT_EQ(error("intel_pt//,intel_pt//u"), "There may be only one intel_pt event");
  EXPECT_EQ(error("intel_pt//,intel_bts//"), "intel_bts and intel_pt may not be used together");
  EXPECT_THAT(error("hisi_ptt0_2//"), HasSubstr("PCI Express are not recorded"));
  options_.trace.area_pages = 1;
  EXPECT_THAT(error("intel_pt//u"), HasSubstr("must be at least 8KiB"));
  EXPECT_THAT(error("cs"), HasSubstr("-m ,1: there is no AUX area event"));
  options_.trace = {.snapshot = true};
  EXPECT_EQ(error("cs"),
            "-S: there is no instruction trace to take snapshots of: -e names a tracer");
}

}  // namespace
}  // namespace sonde
