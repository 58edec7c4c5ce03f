#include "capture/aux/arm_tracers.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "capture/opening/cpu_map.h"
#include "event/pmu/trace_pmu.h"
#include "perfdata/records/auxtrace_kinds.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

// AUXTRACE_INFO of CoreSight, as src/etm/trace_unit.h reads it.
constexpr uint64_t kInfoVersion = 1;
constexpr uint64_t kEtm4 = 0x4040404040404040, kEte = 0x5050505050505050;
/// The trace id of CPU 0; each CPU has the next but one (kernels before 6.2; later ones tell the
/// ids in AUX_OUTPUT_HW_ID records).
constexpr uint64_t kFirstTraceId = 0x10;
constexpr uint64_t kTraceIdBits = 0x7f;

/// Where TRCCONFIGR has what a term of the event asks for (Arm IHI 0064, TRCCONFIGR).
struct Option {
  std::string_view term;
  uint64_t bits;
};
constexpr uint64_t kContextId = uint64_t{1} << 6;
constexpr uint64_t kVirtualContextId = uint64_t{1} << 7 | uint64_t{1} << 15;  // VMID, VMIDOPT
constexpr Option kOptions[] = {
    {"branch_broadcast", uint64_t{1} << 3},
    {"cycacc", uint64_t{1} << 4},
    {"contextid1", kContextId},
    {"contextid2", kVirtualContextId},
    {"timestamp", uint64_t{1} << 11},
    {"retstack", uint64_t{1} << 12},
};

/// One CPU's directory of the cs_etm PMU.
class TraceUnitFiles {
 public:
  TraceUnitFiles(const Pmu& pmu, int cpu)
      : directory_(fmt::format("{}/cpu{}/", pmu.directory(), cpu)) {}

  [[nodiscard]] std::optional<uint64_t> number(std::string_view name) const {
    Result<std::string> text = read_file(directory_ + std::string(name));
    return text ? parse_number(trim(*text)) : std::nullopt;
  }
  [[nodiscard]] uint64_t or_zero(std::string_view name) const { return number(name).value_or(0); }
  /// mgmt/trcdevarch: of an ETE, whose architecture is that of ETMv4, version 5 (Arm DDI 0487).
  [[nodiscard]] bool is_ete() const {
    constexpr uint64_t kPart = 0xfff, kEtmPart = 0xa13, kEteVersion = 5;
    uint64_t architecture = or_zero("mgmt/trcdevarch");
    return (architecture & kPart) == kEtmPart && (architecture >> 12 & 0xf) == kEteVersion;
  }

 private:
  std::string directory_;
};

/// The bits that a term without a value sets: its lowest.
uint64_t flag_of(const Pmu& pmu, std::string_view term) {
  const PmuFormat* format = pmu.format(term);
  return format == nullptr || format->word != 0 ? 0 : format->spread(1);
}

uint64_t trace_config(const Pmu& pmu, uint64_t config) {
  uint64_t bits = 0;
  for (const Option& option : kOptions)
    if ((config & flag_of(pmu, option.term)) != 0) bits |= option.bits;
  // `contextid` is one of the two that the kernel's own exception level decides on, by its bit of
  // config; kernels without contextid1 have the first only.
  constexpr uint64_t kFirst = uint64_t{1} << 14, kSecond = uint64_t{1} << 15;
  uint64_t context = config & flag_of(pmu, "contextid");
  if ((context & kFirst) != 0) bits |= kContextId;
  if ((context & kSecond) != 0) bits |= kVirtualContextId;
  return bits;
}

/// Of TRCIDR2: whether trace units tell context ids, which are 32 bits wide.
bool tells_context(uint64_t id2, uint64_t config) {
  constexpr uint64_t kFourBytes = 4;
  bool second = (config & uint64_t{1} << 15) != 0;
  return (id2 >> (second ? 10 : 5) & 0x1f) == kFourBytes ||
         (second && (id2 >> 10 & 0x1f) > kFourBytes);
}
/// Of TRCIDR0: whether they tell times.
bool tells_times(uint64_t id0) {
  return (id0 >> 24 & 0x1f) != 0;
}

Result<uint64_t> sink_number(const Pmu& pmu, const std::string& sink) {
  if (Result<std::string> text = read_file(fmt::format("{}/sinks/{}", pmu.directory(), sink)))
    if (std::optional<uint64_t> number = parse_number(trim(*text))) return *number;
  return fail(ErrorCode::kFailed,
              "failed to set sink \"{}\": {}/sinks has none of that name: `ls` it", sink,
              pmu.directory());
}

/// The CPUs that may be traced and have a trace unit.
Result<std::vector<int>> traced_cpus(const TracerSetting& with) {
  std::vector<int> cpus = with.target.cpus;
  std::erase_if(cpus, [](int cpu) { return cpu < 0; });
  if (cpus.empty()) cpus = TRY(online_cpus());
  std::vector<int> found;
  bool has_older = false;
  for (int cpu : cpus) {
    TraceUnitFiles unit(with.pmu, cpu);
    if (unit.number("mgmt/trcidr0")) found.push_back(cpu);
    has_older |= unit.number("mgmt/etmccer").has_value();
  }
  if (!found.empty()) return found;
  return fail(ErrorCode::kUnsupported, "{}: {}", with.event.name,
              has_older ? "ETMv3 and PTM are not recorded, only ETMv4 and ETE"
                        : fmt::format("no CPU has registers of a trace unit in {}/cpu*/mgmt",
                                      with.pmu.directory()));
}

/// Whose trace it is, and when it was, is not known of CPUs unless the trace tells.
Result<> ask_for_context(const TracerSetting& with, const std::vector<int>& cpus) {
  uint64_t context = flag_of(with.pmu, "contextid");
  uint64_t times = flag_of(with.pmu, "timestamp");
  for (int cpu : cpus) {
    TraceUnitFiles unit(with.pmu, cpu);
    if (context != 0 && !tells_context(unit.or_zero("mgmt/trcidr2"), context))
      return fail(ErrorCode::kUnsupported,
                  "{}: the trace unit of CPU {} does not tell context ids: --per-thread needs none",
                  with.event.name, cpu);
    if (times != 0 && !tells_times(unit.or_zero("mgmt/trcidr0")))
      return fail(ErrorCode::kUnsupported,
                  "{}: the trace unit of CPU {} does not tell times: --per-thread needs none",
                  with.event.name, cpu);
  }
  with.event.attr.config |= context | times;
  return {};
}

std::vector<uint64_t> core_sight_info(const TracerSetting& with, const std::vector<int>& cpus) {
  std::vector<uint64_t> info = {kInfoVersion, uint64_t{with.pmu.type()} << 32 | cpus.size(),
                                with.plan.snapshot_bytes.has_value()};
  uint64_t config = trace_config(with.pmu, with.event.attr.config);
  for (int cpu : cpus) {
    TraceUnitFiles unit(with.pmu, cpu);
    bool is_ete = unit.is_ete();
    std::vector<uint64_t> registers = {
        config, (kFirstTraceId + 2 * static_cast<uint64_t>(cpu)) & kTraceIdBits};
    for (std::string_view name : {"trcidr0", "trcidr1", "trcidr2", "trcidr8", "trcauthstatus"})
      registers.push_back(unit.or_zero(fmt::format("mgmt/{}", name)));
    if (is_ete) registers.push_back(unit.or_zero("mgmt/trcdevarch"));
    if (std::optional<uint64_t> source = unit.number("ts_source")) registers.push_back(*source);
    info.insert(info.end(), {is_ete ? kEte : kEtm4, static_cast<uint64_t>(cpu), registers.size()});
    info.insert(info.end(), registers.begin(), registers.end());
  }
  return info;
}

}  // namespace

Result<> plan_arm_spe(const TracerSetting& with) {
  ParsedEvent& event = with.event;
  if (with.plan.is_sampled)
    return fail(ErrorCode::kUnsupported, "ARM SPE does not support AUX area sampling ({})",
                event.name);
  TraceCompanions& beside = with.plan.companions;
  beside.per_cpu = !with.target.per_thread;
  // perf-arm-spe(1): from -c; else as often as the processor can.
  constexpr uint64_t kUsualInterval = 4096;
  uint64_t shortest = parse_number(with.pmu.cap("min_interval").value_or("")).value_or(0);
  event.attr.sample_period =
      with.options.sampling.period.value_or(shortest != 0 ? shortest : kUsualInterval);
  if (beside.per_cpu) event.attr.config |= flag_of(with.pmu, "ts_enable");
  // The driver ignores these: they say what samples of the trace will have.
  event.attr.sample_type |= abi::kSampleDataSrc;
  if ((event.attr.config & flag_of(with.pmu, "pa_enable")) != 0)
    event.attr.sample_type |= abi::kSamplePhysAddr;
  if (!event.host_guest_given) event.attr.exclude_guest = 0;
  if (with.options.trace.switch_events)
    beside.switches = with.target.has_cpu() ? TraceCompanions::Switches::kOfTracking
                                            : TraceCompanions::Switches::kOfThreads;
  with.plan.info_type = kAuxtraceArmSpe;
  with.plan.info = {with.pmu.type(), beside.per_cpu};
  return {};
}

Result<> plan_core_sight(const TracerSetting& with) {
  ParsedEvent& event = with.event;
  if (with.plan.is_sampled)
    return fail(ErrorCode::kUnsupported, "CoreSight ETM does not support AUX area sampling ({})",
                event.name);
  if (event.terms.driver_config)
    event.attr.bp_len /* config2 */ = TRY(sink_number(with.pmu, *event.terms.driver_config));
  std::vector<int> cpus = TRY(traced_cpus(with));
  with.plan.companions.per_cpu = !with.target.per_thread;
  if (with.plan.companions.per_cpu) TRY(ask_for_context(with, cpus));
  if (!event.host_guest_given) event.attr.exclude_guest = 0;
  with.plan.info_type = kAuxtraceCoreSight;
  with.plan.info = core_sight_info(with, cpus);
  return {};
}

}  // namespace sonde
