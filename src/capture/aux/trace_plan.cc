#include "capture/aux/trace_plan.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <bit>

#include "capture/aux/arm_tracers.h"
#include "capture/aux/intel_tracers.h"
#include "capture/aux/trace_groups.h"
#include "capture/opening/event_opener.h"
#include "capture/rings/ring_buffer.h"
#include "event/pmu/trace_pmu.h"

namespace sonde {
namespace {

constexpr size_t kMinFullTrace = 8192;  // perf-intel-pt(1), "new auxtrace mmap size option"

/// HiSilicon's.
constexpr std::string_view kPciTracer = "hisi_ptt";

struct TracerKind {
  std::string_view pmu;
  bool is_prefix;  // of several PMUs' names
  std::string_view in_words;
  Result<> (*plan)(const TracerSetting&);
};
constexpr TracerKind kTracers[] = {
    {kIntelPtPmu, false, "Intel Processor Trace", plan_intel_pt},
    {kIntelBtsPmu, false, "Intel BTS", plan_intel_bts},
    {kArmSpePmus, true, "ARM SPE", plan_arm_spe},
    {kCoreSightPmu, false, "CoreSight ETM", plan_core_sight},
};

const TracerKind* tracer_of(const ParsedEvent& event) {
  for (const TracerKind& kind : kTracers)
    if (kind.is_prefix ? event.pmu.starts_with(kind.pmu) : event.pmu == kind.pmu) return &kind;
  return nullptr;
}

Result<> refuse_conflicts(const RecordOptions& options, const ParsedEvent& event) {
  if (options.output.threads)
    return fail(ErrorCode::kUnsupported,
                "--threads: instruction traces are written by one thread: leave it out");
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

/// The sizes of the samples that have a piece of the trace, in bytes.
void choose_sample_sizes(const EventList& list, TracePlan& plan) {
  uint32_t most = 0;
  plan.least_sample = UINT32_MAX;
  for (const ParsedEvent& event : list.events()) {
    uint32_t size = event.attr.aux_sample_size;
    if (size == 0) continue;
    most = std::max(most, size);
    plan.least_sample = std::min(plan.least_sample, size);
  }
  if (plan.area_bytes == 0) plan.area_bytes = std::max(std::bit_ceil(size_t{most}), page_size());
}

Result<> choose_sizes(const AuxOptions& options, const EventList& list, Sys& sys, TracePlan& plan) {
  plan.area_bytes = options.area_pages * page_size();
  if (plan.is_sampled) {
    choose_sample_sizes(list, plan);
    return {};
  }
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
                "Invalid mmap size for {}: must be at least {}KiB and a power of 2", plan.tracer,
                kMinFullTrace / 1024);
  return {};
}

/// The one event that traces; nothing if there is none.
Result<std::optional<size_t>> find_tracer(const EventList& list) {
  std::optional<size_t> at;
  for (size_t i = 0; i < list.size(); ++i) {
    const ParsedEvent& event = list[i];
    if (event.pmu.starts_with(kPciTracer))
      return fail(ErrorCode::kUnsupported,
                  "{}: traces of PCI Express are not recorded; perf record can record them",
                  event.name);
    if (!is_trace_event(event)) continue;
    if (at && list[*at].pmu == event.pmu)
      return fail(ErrorCode::kFailed, "There may be only one {} event", event.pmu);
    if (at)
      return fail(ErrorCode::kFailed, "{} and {} may not be used together", event.pmu,
                  list[*at].pmu);
    at = i;
  }
  return at;
}

/// Options and terms that only a trace gives a meaning to.
Result<> refuse_without_tracer(const AuxOptions& options, const EventList& list) {
  if (options.snapshot)
    return fail(ErrorCode::kFailed,
                "-S: there is no instruction trace to take snapshots of: -e names a tracer");
  if (options.sample_bytes != 0)
    return fail(
        ErrorCode::kFailed,
        "--aux-sample: there is no instruction trace to put into samples: -e names a tracer");
  for (const ParsedEvent& event : list.events())
    if (event.terms.aux_sample_size.value_or(0) != 0)
      return fail(ErrorCode::kFailed,
                  "{}: aux-sample-size: there is no instruction trace to put into its samples",
                  event.name);
  if (options.area_pages != 0)
    return fail(ErrorCode::kUnsupported, "-m ,{}: there is no AUX area event to use AUX pages",
                options.area_pages);
  return {};
}

}  // namespace

bool may_open_on_cpus(Sys& sys, abi::EventAttr attr) {
  attr.size = 128;
  attr.sample_period = 1;
  attr.disabled = 1;
  auto* raw = reinterpret_cast<perf_event_attr*>(&attr);
  SysResult<int> fd = sys.perf_event_open(raw, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd) (void)sys.close(*fd);
  return fd.has_value();
}

uint64_t config_mask(const Pmu& pmu, std::string_view name) {
  const PmuFormat* format = pmu.format(name);
  return format == nullptr || format->word != 0 ? 0 : format->mask();
}

bool is_trace_event(const ParsedEvent& event) {
  return tracer_of(event) != nullptr;
}

Result<std::optional<TracePlan>> plan_trace(const RecordOptions& options, const Target& target,
                                            PmuCatalog& pmus, Sys& sys, EventList& list,
                                            std::vector<std::string>& cgroups) {
  std::optional<size_t> at = TRY(find_tracer(list));
  if (!at) {
    TRY(refuse_without_tracer(options.trace, list));
    return std::nullopt;
  }
  TRY(refuse_conflicts(options, list[*at]));
  const Pmu* pmu = pmus.find(list[*at].pmu);
  if (pmu == nullptr)
    return fail(ErrorCode::kUnsupported, "{}: this machine has no {}", list[*at].name,
                list[*at].pmu);
  const TracerKind& kind = *tracer_of(list[*at]);
  TracePlan plan{.tracer = kind.in_words};
  TRY(complete_trace_group(*at, options.sampling.group_all, list));
  plan.is_sampled = TRY(set_aux_samples(*at, options.trace, list));
  if (plan.is_sampled && options.trace.snapshot)
    return fail(ErrorCode::kFailed,
                "Snapshot mode ({} PMU) and sample trace cannot be used together", pmu->name());
  TRY(choose_sizes(options.trace, list, sys, plan));
  ParsedEvent& event = list.edit()[*at];
  event.attr.freq = 0;
  event.attr.sample_period = 1;
  TRY(kind.plan({options, target, *pmu, sys, event, plan}));
  move_group_to_front(*at, list, cgroups);
  return plan;
}

}  // namespace sonde
