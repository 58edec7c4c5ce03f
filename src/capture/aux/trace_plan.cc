#include "capture/aux/trace_plan.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/text.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/event_opener.h"
#include "capture/rings/ring_buffer.h"
#include "event/pmu/trace_pmu.h"

namespace sonde {
namespace {

constexpr size_t kMinFullTrace = 8192;  // perf-intel-pt(1), "new auxtrace mmap size option"

/// The tracers that are not recorded yet, by the beginnings of their PMUs' names.
constexpr std::string_view kNotRecorded[] = {"cs_etm", "arm_spe_", "intel_bts", "hisi_ptt"};

/// AUXTRACE_INFO's numbers, in their order.
enum Word : uint8_t {
  kPmuType,
  kTimeShift,
  kTimeMultiplier,
  kTimeZero,
  kCapTimeZero,
  kTscBit,
  kNoReturnCompressionBit,
  kHaveSwitches,
  kSnapshotMode,
  kPerCpu,
  kMtcBit,
  kMtcFreqBits,
  kCtcNumerator,
  kCtcDenominator,
  kCycBit,
  kNonTurboRatio,
  kFilterLength,
};

uint64_t format_mask(const Pmu& pmu, std::string_view name) {
  const PmuFormat* format = pmu.format(name);
  return format == nullptr || format->word != 0 ? 0 : format->mask();
}

bool may_open(Sys& sys, abi::EventAttr attr) {
  attr.size = 128;
  attr.sample_period = 1;
  attr.disabled = 1;
  auto* raw = reinterpret_cast<perf_event_attr*>(&attr);
  SysResult<int> fd = sys.perf_event_open(raw, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd) (void)sys.close(*fd);
  return fd.has_value();
}

abi::EventAttr dummy_attr() {
  abi::EventAttr attr;
  attr.type = abi::kTypeSoftware;
  attr.config = abi::kSwDummy;
  attr.exclude_kernel = 1;
  return attr;
}

Result<> refuse_conflicts(const RecordOptions& options, const ParsedEvent& event) {
  if (options.output.threads)
    return fail(ErrorCode::kUnsupported,
                "Parallel trace streaming is not available in AUX area tracing mode.");
  if (options.sampling.overwrite)
    return fail(ErrorCode::kUnsupported,
                "--overwrite: the ring of {} must be writable to hold an AUX area: -S overwrites "
                "the area itself",
                event.name);
  return {};
}

/// perf-intel-pt(1): what who may lock that much memory gets, and others.
size_t default_area_bytes(Sys& sys) {
  bool privileged = sys.geteuid() == 0 || perf_event_paranoid() < 0;
  return privileged ? size_t{4} << 20 : size_t{128} << 10;
}

Result<> choose_sizes(const AuxOptions& options, Sys& sys, TracePlan& plan) {
  plan.area_bytes = options.area_pages * page_size();
  if (options.snapshot) {
    size_t wanted = options.snapshot_bytes;
    if (plan.area_bytes == 0)
      plan.area_bytes =
          wanted != 0 ? std::max(std::bit_ceil(wanted), page_size()) : default_area_bytes(sys);
    plan.snapshot_bytes = wanted != 0 ? wanted : plan.area_bytes;
    if (*plan.snapshot_bytes > plan.area_bytes)
      return fail(ErrorCode::kFailed,
                  "Snapshot size {} must not be greater than AUX area tracing mmap size {}",
                  *plan.snapshot_bytes, plan.area_bytes);
    return {};
  }
  if (plan.area_bytes == 0) plan.area_bytes = default_area_bytes(sys);
  if (plan.area_bytes < kMinFullTrace)
    return fail(ErrorCode::kFailed,
                "Invalid mmap size for Intel Processor Trace: must be at least {}KiB and a power "
                "of 2",
                kMinFullTrace / 1024);
  return {};
}

void move_to_front(size_t at, EventList& list, std::vector<std::string>& cgroups) {
  auto offset = static_cast<std::ptrdiff_t>(at);
  std::vector<ParsedEvent>& events = list.edit();
  for (ParsedEvent& event : events)
    event.leader = event.leader == at ? 0 : event.leader < at ? event.leader + 1 : event.leader;
  std::rotate(events.begin(), events.begin() + offset, events.begin() + offset + 1);
  if (cgroups.empty()) return;
  cgroups.resize(std::max(cgroups.size(), at + 1));
  std::rotate(cgroups.begin(), cgroups.begin() + offset, cgroups.begin() + offset + 1);
}

TraceCompanions companions_of(const Pmu& pmu, const ParsedEvent& event, const Target& target,
                              bool wants_switches, Sys& sys) {
  TraceCompanions chosen{.per_cpu = !target.per_thread};
  abi::EventAttr clock;
  clock.type = abi::kTypeSoftware;
  clock.exclude_kernel = 1;
  bool whole_cpus = may_open(sys, clock);
  bool has_times = (event.attr.config & format_mask(pmu, "tsc")) != 0;
  if (has_times && chosen.per_cpu && wants_switches) {
    using Switches = TraceCompanions::Switches;
    chosen.switches = target.has_cpu() ? Switches::kOfTracking
                      : whole_cpus     ? Switches::kOfCpus
                                       : Switches::kOfThreads;
  }
  abi::EventAttr pokes = dummy_attr();
  pokes.ksymbol = pokes.text_poke = 1;
  chosen.text_pokes = has_times && !event.attr.exclude_kernel && whole_cpus && may_open(sys, pokes);
  if (Result<std::vector<int>> cpus = online_cpus()) chosen.online_cpus = std::move(*cpus);
  return chosen;
}

}  // namespace

bool is_trace_event(const ParsedEvent& event) {
  return event.pmu == kIntelPtPmu;
}

Result<std::optional<TracePlan>> plan_trace(const RecordOptions& options, const Target& target,
                                            PmuCatalog& pmus, Sys& sys, EventList& list,
                                            std::vector<std::string>& cgroups) {
  std::optional<size_t> at;
  for (size_t i = 0; i < list.size(); ++i) {
    const ParsedEvent& event = list[i];
    for (std::string_view prefix : kNotRecorded)
      if (event.pmu.starts_with(prefix))
        return fail(ErrorCode::kUnsupported,
                    "{}: AUX areas are recorded of intel_pt only; perf record can record this one",
                    event.name);
    if (!is_trace_event(event)) continue;
    if (at) return fail(ErrorCode::kFailed, "There may be only one {} event", event.pmu);
    at = i;
  }
  if (!at) {
    if (options.trace.snapshot) return fail(ErrorCode::kFailed, "No AUX area tracing to snapshot");
    if (options.trace.area_pages != 0)
      return fail(ErrorCode::kUnsupported, "-m ,{}: there is no AUX area event to use AUX pages",
                  options.trace.area_pages);
    return std::nullopt;
  }
  ParsedEvent& event = list.edit()[*at];
  TRY(refuse_conflicts(options, event));
  const Pmu* pmu = pmus.find(event.pmu);
  if (pmu == nullptr)
    return fail(ErrorCode::kUnsupported, "{}: this machine has no {}", event.name, event.pmu);
  if (event.leader != *at || list.group_size(*at) > 1)
    return fail(ErrorCode::kUnsupported,
                "{}: a group with it samples the AUX area, which is not recorded yet: name it "
                "outside of groups",
                event.name);
  event.attr.config |= format_mask(*pmu, "pt");
  TRY(check_trace_config(*pmu, event.attr.config));
  TracePlan plan{.companions = companions_of(*pmu, event, target, options.trace.switch_events, sys),
                 .pmu_type = event.attr.type,
                 .snapshot_bytes = {},
                 .info = {}};
  TRY(choose_sizes(options.trace, sys, plan));
  event.attr.freq = 0;
  event.attr.sample_period = 1;
  // As in perf, where the PMU's default config takes the place of the usual exclusions.
  if (!event.host_guest_given) event.attr.exclude_guest = 0;
  if (!plan.snapshot_bytes)
    event.attr.aux_watermark =
        static_cast<uint32_t>(std::min<size_t>(plan.area_bytes / 4, UINT32_MAX));
  plan.info = intel_pt_info(*pmu, event, plan, plan.companions.per_cpu);
  move_to_front(*at, list, cgroups);
  return plan;
}

std::vector<uint64_t> intel_pt_info(const Pmu& pmu, const ParsedEvent& event, const TracePlan& plan,
                                    bool per_cpu) {
  std::vector<uint64_t> info(kFilterLength + 1);
  info[kPmuType] = pmu.type();
  info[kTscBit] = format_mask(pmu, "tsc");
  info[kNoReturnCompressionBit] = format_mask(pmu, "noretcomp");
  info[kHaveSwitches] = static_cast<uint64_t>(plan.companions.switches);
  if (plan.companions.switches == TraceCompanions::Switches::kOfTracking)
    info[kHaveSwitches] = static_cast<uint64_t>(TraceCompanions::Switches::kOfCpus);
  info[kSnapshotMode] = plan.snapshot_bytes.has_value();
  info[kPerCpu] = per_cpu;
  info[kMtcBit] = format_mask(pmu, "mtc");
  info[kMtcFreqBits] = format_mask(pmu, "mtc_period");
#if defined(__x86_64__)
  // Intel SDM, CPUID leaf 15H: EBX/EAX is the ratio of the time stamp counter to the crystal clock.
  constexpr unsigned kClockLeaf = 0x15;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(kClockLeaf, &eax, &ebx, &ecx, &edx) != 0) {
    info[kCtcNumerator] = ebx;
    info[kCtcDenominator] = eax;
  }
#endif
  info[kCycBit] = format_mask(pmu, "cyc");
  info[kNonTurboRatio] = parse_number(pmu.cap("max_nonturbo_ratio").value_or("")).value_or(0);
  info[kFilterLength] = event.filter.size();
  if (!event.filter.empty()) {
    std::vector<uint64_t> text(event.filter.size() / 8 + 1);
    std::memcpy(text.data(), event.filter.data(), event.filter.size());
    info.insert(info.end(), text.begin(), text.end());
  }
  info.push_back(parse_number(pmu.cap("event_trace").value_or("")).value_or(0));
  return info;
}

void set_trace_clock(const perf_event_mmap_page& page, std::vector<uint64_t>& info) {
  if (!page.cap_user_time_zero) return;
  info[kTimeShift] = page.time_shift;
  info[kTimeMultiplier] = page.time_mult;
  info[kTimeZero] = page.time_zero;
  info[kCapTimeZero] = 1;
}

}  // namespace sonde
