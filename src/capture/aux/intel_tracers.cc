#include "capture/aux/intel_tracers.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/text.h"
#include "capture/opening/cpu_map.h"
#include "event/pmu/trace_pmu.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

/// AUXTRACE_INFO's numbers, in their order. Those of BTS are the first five, and whether the trace
/// is a snapshot.
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
constexpr size_t kBtsSnapshotMode = 5, kBtsWords = 6;

abi::EventAttr dummy_attr() {
  abi::EventAttr attr;
  attr.type = abi::kTypeSoftware;
  attr.config = abi::kSwDummy;
  attr.exclude_kernel = 1;
  return attr;
}

TraceCompanions companions_of(const TracerSetting& with) {
  const ParsedEvent& event = with.event;
  TraceCompanions chosen{.per_cpu = !with.target.per_thread};
  abi::EventAttr clock;
  clock.type = abi::kTypeSoftware;
  clock.exclude_kernel = 1;
  bool whole_cpus = may_open_on_cpus(with.sys, clock);
  bool has_times = (event.attr.config & config_mask(with.pmu, "tsc")) != 0;
  if (has_times && chosen.per_cpu && with.options.trace.switch_events) {
    using Switches = TraceCompanions::Switches;
    chosen.switches = with.target.has_cpu() ? Switches::kOfTracking
                      : whole_cpus          ? Switches::kOfCpus
                                            : Switches::kOfThreads;
  }
  abi::EventAttr pokes = dummy_attr();
  pokes.ksymbol = pokes.text_poke = 1;
  chosen.text_pokes =
      has_times && !event.attr.exclude_kernel && whole_cpus && may_open_on_cpus(with.sys, pokes);
  if (Result<std::vector<int>> cpus = online_cpus()) chosen.online_cpus = std::move(*cpus);
  return chosen;
}

std::vector<uint64_t> intel_pt_info(const TracerSetting& with) {
  const Pmu& pmu = with.pmu;
  const TracePlan& plan = with.plan;
  std::vector<uint64_t> info(kFilterLength + 1);
  info[kPmuType] = pmu.type();
  info[kTscBit] = config_mask(pmu, "tsc");
  info[kNoReturnCompressionBit] = config_mask(pmu, "noretcomp");
  info[kHaveSwitches] = static_cast<uint64_t>(plan.companions.switches);
  if (plan.companions.switches == TraceCompanions::Switches::kOfTracking)
    info[kHaveSwitches] = static_cast<uint64_t>(TraceCompanions::Switches::kOfCpus);
  info[kSnapshotMode] = plan.snapshot_bytes.has_value();
  info[kPerCpu] = plan.companions.per_cpu;
  info[kMtcBit] = config_mask(pmu, "mtc");
  info[kMtcFreqBits] = config_mask(pmu, "mtc_period");
#if defined(__x86_64__)
  // Intel SDM, CPUID leaf 15H: EBX/EAX is the ratio of the time stamp counter to the crystal clock.
  constexpr unsigned kClockLeaf = 0x15;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(kClockLeaf, &eax, &ebx, &ecx, &edx) != 0) {
    info[kCtcNumerator] = ebx;
    info[kCtcDenominator] = eax;
  }
#endif
  info[kCycBit] = config_mask(pmu, "cyc");
  info[kNonTurboRatio] = parse_number(pmu.cap("max_nonturbo_ratio").value_or("")).value_or(0);
  const std::string& filter = with.event.filter;
  info[kFilterLength] = filter.size();
  if (!filter.empty()) {
    std::vector<uint64_t> text(filter.size() / 8 + 1);
    std::memcpy(text.data(), filter.data(), filter.size());
    info.insert(info.end(), text.begin(), text.end());
  }
  info.push_back(parse_number(pmu.cap("event_trace").value_or("")).value_or(0));
  return info;
}

/// How far apart the PSB packets are, at which decoding can begin, in bytes. Processors whose
/// buffer has one part only (caps/topa_multiple_entries) write more than they are asked for.
uint64_t psb_distance(const Pmu& pmu, uint64_t config) {
  constexpr uint64_t kShortest = 256, kUnit = 2048, kMostPeriod = 15;
  if (parse_number(pmu.cap("topa_multiple_entries").value_or("")).value_or(0) == 0)
    return kShortest;
  uint64_t bits = config_mask(pmu, "psb_period");
  if (bits == 0) return kUnit;
  return kUnit << std::min<uint64_t>((config & bits) >> std::countr_zero(bits), kMostPeriod);
}

/// Whether the user chose psb_period: only an event's text tells, if it is its name.
bool chooses_psb_period(const TracerSetting& with) {
  const ParsedEvent& event = with.event;
  if (!event.name_given) return event.name.contains("psb_period");
  uint64_t chosen = event.attr.config ^ default_trace_config(with.pmu).value_or(0);
  return (chosen & config_mask(with.pmu, "psb_period")) != 0;
}

/// Samples are short: packets to begin with are as near to one another as can be.
void prepare_samples(const TracerSetting& with) {
  uint64_t& config = with.event.attr.config;
  if (!chooses_psb_period(with)) config &= ~config_mask(with.pmu, "psb_period");
  constexpr uint64_t kRoom = 256;
  uint64_t distance = psb_distance(with.pmu, config);
  if (with.plan.least_sample <= distance + kRoom)
    with.plan.warnings.push_back(
        fmt::format("Intel PT sample size ({}) may be too small for PSB period ({})",
                    with.plan.least_sample, distance));
}

}  // namespace

Result<> plan_intel_pt(const TracerSetting& with) {
  ParsedEvent& event = with.event;
  event.attr.config |= config_mask(with.pmu, "pt");
  if (with.plan.is_sampled) prepare_samples(with);
  TRY(check_trace_config(with.pmu, event.attr.config));
  // As in perf, where the PMU's default config takes the place of the usual exclusions.
  if (!event.host_guest_given) event.attr.exclude_guest = 0;
  if (!with.plan.is_overwritten())
    event.attr.aux_watermark =
        static_cast<uint32_t>(std::min<size_t>(with.plan.area_bytes / 4, UINT32_MAX));
  with.plan.info_type = kAuxtraceIntelPt;
  with.plan.companions = companions_of(with);
  with.plan.info = intel_pt_info(with);
  return {};
}

Result<> plan_intel_bts(const TracerSetting& with) {
  if (!with.target.per_thread)
    return fail(ErrorCode::kUnsupported,
                "intel_bts does not support per-cpu recording: give --per-thread ({})",
                with.event.name);
  if (with.plan.is_sampled)
    return fail(ErrorCode::kUnsupported, "Intel BTS does not support AUX area sampling ({})",
                with.event.name);
  with.plan.info_type = kAuxtraceIntelBts;
  with.plan.companions.per_cpu = false;
  with.plan.info.assign(kBtsWords, 0);
  with.plan.info[kPmuType] = with.pmu.type();
  with.plan.info[kBtsSnapshotMode] = with.plan.snapshot_bytes.has_value();
  return {};
}

void set_trace_clock(const perf_event_mmap_page& page, TracePlan& plan) {
  if (plan.info_type != kAuxtraceIntelPt && plan.info_type != kAuxtraceIntelBts) return;
  if (!page.cap_user_time_zero) {
    plan.warnings.push_back(fmt::format("{}: TSC not available", plan.tracer));
    return;
  }
  plan.info[kTimeShift] = page.time_shift;
  plan.info[kTimeMultiplier] = page.time_mult;
  plan.info[kTimeZero] = page.time_zero;
  plan.info[kCapTimeZero] = 1;
}

}  // namespace sonde
