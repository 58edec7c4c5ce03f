#include "capture/aux/trace_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST_F(TracePlanning, WhatCannotBeTracedIsNamed) {
  EXPECT_EQ(error("intel_pt/psb_period=9/"),
            "Invalid psb_period for intel_pt. Valid values are: 0-5");
  EXPECT_EQ(error("intel_pt/mtc_period=1/"),
            "Invalid mtc_period for intel_pt. Valid values are: 0,3,6,9");
  EXPECT_EQ(error("intel_pt//,intel_pt//u"), "There may be only one intel_pt event");
  EXPECT_THAT(error("cs_etm//u"), HasSubstr("cs_etm//u: AUX areas are recorded of intel_pt only"));
  EXPECT_THAT(error("{intel_pt//u,cs}"), HasSubstr("name it outside of groups"));
  options_.trace.area_pages = 1;
  EXPECT_THAT(error("intel_pt//u"), HasSubstr("must be at least 8KiB"));
  EXPECT_THAT(error("cs"), HasSubstr("-m ,1: there is no AUX area event"));
  options_.trace = {.snapshot = true};
  EXPECT_EQ(error("cs"), "No AUX area tracing to snapshot");
}

}  // namespace
}  // namespace sonde
