#include "itrace/trace_input.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "itrace/sampled_trace.h"
#include "machine/machine.h"
#include "perfdata/records/auxtrace_kinds.h"
#include "perfdata/records/sideband.h"
#include "perfdata/records/user_records.h"
#include "perfdata/records/words.h"

namespace sonde::itrace {
namespace {

/// The numbers of an AUXTRACE_INFO of Intel PT.
enum InfoWord : uint8_t {
  kPmuType = 0,
  kTimeShift = 1,
  kTimeMultiplier = 2,
  kTimeZero = 3,
  kNoReturnCompressionBit = 6,
  kPerCpu = 9,
  kMtcBit = 10,
  kMtcFreqBits = 11,
  kCycBit = 14,
  kCtcNumerator = 12,
  kCtcDenominator = 13,
  kNonTurboRatio = 15,
  kFilterSize = 16,  // in bytes; the filter's text follows, and behind it:
  kEventTraceBehindFilter = 17,
};

const char* tracer_name(uint32_t type) {
  switch (type) {
    case 5:
      return "s390 sampling data";
    case 6:
      return "HiSilicon PTT";
    default:
      return "an unknown tracer";
  }
}

/// "GenuineIntel,6,78,3"
void read_cpu(std::string_view id, pt::TraceSetup& setup) {
  constexpr std::string_view kIntel = "GenuineIntel,";
  if (!id.starts_with(kIntel)) return;
  id.remove_prefix(kIntel.size());
  uint32_t numbers[3] = {};
  for (uint32_t& number : numbers) {
    size_t end = std::min(id.find(','), id.size());
    number = static_cast<uint32_t>(parse_number(id.substr(0, end)).value_or(0));
    id.remove_prefix(std::min(end + 1, id.size()));
  }
  setup.family = numbers[0];
  setup.model = numbers[1];
  setup.stepping = numbers[2];
}

bool samples_traces(const EventTable& events) {
  return std::ranges::any_of(
      events.all(), [](const EventDesc& event) { return event.attr.samples(abi::kSampleAux); });
}

bool writes_into_trace(const EventDesc& event) {
  return event.attr.aux_output != 0;
}

class InputReader {
 public:
  explicit InputReader(const Recording& recording)
      : recording_(recording),
        samples_traces_(itrace::samples_traces(recording.events())),
        writes_into_trace_(std::ranges::any_of(recording.events().all(), writes_into_trace)) {}

  Result<TraceInput> read() {
    for (const RecordBlock& block : recording_.blocks()) {
      RecordRange range(block, recording_.byte_order());
      RecordView last;
      for (RecordView record; range.next(record); last = record) TRY(take(record));
      if (!block.trailing.empty() && last.type == abi::kRecordAuxtrace)
        add_data(last, block.trailing);
    }
    if (!has_info_)
      return fail(ErrorCode::kCorrupt, "{}: has AUX data, but not what it was traced with",
                  recording_.facts().path);
    for (TraceQueue& queue : sampled_.take_queues()) input_.queues.push_back(std::move(queue));
    if (input_.tracer == Tracer::kCoreSight) finish_etm();
    if (input_.tracer == Tracer::kArmSpe) input_.clock = conversion_;
    count_moves();
    std::ranges::stable_sort(input_.switches, [](const TaskSwitch& a, const TaskSwitch& b) {
      return std::pair(a.cpu, a.time_ns) < std::pair(b.cpu, b.time_ns);
    });
    return std::move(input_);
  }

 private:
  Result<> take(const RecordView& record) {
    switch (record.type) {
      case abi::kRecordAuxtraceInfo:
        return take_info(record);
      case abi::kRecordTimeConv:
        if (auto conversion = decode_user<TimeConvRecord>(record))
          conversion_ = {conversion->shift, conversion->multiplier, conversion->zero};
        return {};
      case abi::kRecordIdIndex:
        if (auto index = decode_user<IdIndexRecord>(record)) sampled_.take_index(*index);
        return {};
      case abi::kRecordSample:
        if (writes_into_trace_) note_sample(record);
        if (samples_traces_) take_sample(record);
        return {};
      case abi::kRecordSwitch:
      case abi::kRecordSwitchCpuWide:
      case abi::kRecordAuxOutputHwId:
      case abi::kRecordItraceStart:
      case abi::kRecordAux:
        if (!is_guest_mode(record.cpu_mode())) take_sideband(record);
        return {};
      default:
        return {};
    }
  }

  void count_moves() {
    std::ranges::stable_sort(input_.switches, {}, &TaskSwitch::time_ns);
    struct Place {
      uint32_t cpu, moves;
    };
    std::unordered_map<uint32_t, Place> latest;  // by tid
    for (TaskSwitch& now : input_.switches) {
      Place& place = latest.try_emplace(now.tid, Place{now.cpu, 0}).first->second;
      if (place.cpu != now.cpu) place = {now.cpu, place.moves + 1};
      now.moves = place.moves;
    }
  }

  Result<> take_info(const RecordView& record) {
    auto info = decode_user<AuxtraceInfoRecord>(record);
    if (!info) return {};
    if (info->type == kAuxtraceCoreSight) return take_etm_info(*info);
    if (info->type == kAuxtraceArmSpe) return take_spe_info(*info);
    if (info->type == kAuxtraceIntelBts) return take_bts_info(*info);
    if (info->type != kAuxtraceIntelPt)
      return fail(
          ErrorCode::kUnsupported,
          "{}: traces of {} are not decoded, only those of Intel PT and BTS, CoreSight's ETM and "
          "Arm's SPE; --no-itrace shows the rest",
          recording_.facts().path, tracer_name(info->type));
    auto word = [&](InfoWord which) { return which < info->priv.size() ? info->priv[which] : 0; };
    has_info_ = true;
    input_.pmu_type = static_cast<uint32_t>(word(kPmuType));
    input_.per_cpu = word(kPerCpu) != 0;
    input_.clock = {word(kTimeShift), word(kTimeMultiplier), word(kTimeZero)};
    input_.setup.crystal_numerator = static_cast<uint32_t>(word(kCtcNumerator));
    input_.setup.crystal_denominator = static_cast<uint32_t>(word(kCtcDenominator));
    input_.setup.non_turbo_ratio = static_cast<uint8_t>(word(kNonTurboRatio));
    // Bits of `config` by the kernel's format of this PMU: pwr_evt, fup_on_ptw, ptw, event.
    constexpr uint64_t kPower = uint64_t{1} << 4, kFupOnPtw = uint64_t{1} << 5;
    constexpr uint64_t kPtWrite = uint64_t{1} << 12, kEvent = uint64_t{1} << 31;
    constexpr size_t kWordSize = 8;
    size_t filter_words =
        info->priv.size() <= kFilterSize
            ? 0
            : std::min<uint64_t>(info->priv[kFilterSize], UINT16_MAX) / kWordSize +
                  (info->priv[kFilterSize] % kWordSize != 0 ? 1 : 0);
    size_t event_trace = kEventTraceBehindFilter + filter_words;
    input_.tells_interrupt_flag = event_trace < info->priv.size() && info->priv[event_trace] != 0;
    uint64_t mtc_bits = word(kMtcFreqBits);
    for (const EventDesc& event : recording_.events().all()) {
      if (event.attr.type != input_.pmu_type) continue;
      input_.setup.traces_events |= (event.attr.config & kEvent) != 0;
      input_.setup.traces_other |= (event.attr.config & (kPower | kPtWrite | word(kCycBit))) != 0;
      input_.tells_ptwrite_ip |= (event.attr.config & kFupOnPtw) != 0;
      input_.setup.counts_cycles |= (event.attr.config & word(kCycBit)) != 0;
      input_.setup.compresses_returns &= (event.attr.config & word(kNoReturnCompressionBit)) == 0;
      input_.has_mtc |= (event.attr.config & word(kMtcBit)) != 0;
      if (mtc_bits != 0)
        input_.setup.mtc_period =
            static_cast<uint8_t>((event.attr.config & mtc_bits) >> std::countr_zero(mtc_bits));
    }
    read_cpu(recording_.features().cpu_id.value_or(""), input_.setup);
    return {};
  }

  Result<> take_etm_info(const AuxtraceInfoRecord& info) {
    auto found = etm::parse_trace_units(words_of(info.priv));
    if (!found) return fail(found.error().code, "{}: {}", recording_.facts().path, found.error());
    has_info_ = true;
    input_.tracer = Tracer::kCoreSight;
    input_.pmu_type = found->pmu_type;
    input_.units = std::move(found->units);
    return {};
  }

  /// Its samples have the times, if any, of the tracing event.
  void take_times_of_event() {
    for (const EventDesc& event : recording_.events().all())
      if (event.attr.type == input_.pmu_type)
        input_.has_times = event.attr.samples(abi::kSampleTime);
  }

  Result<> take_spe_info(const AuxtraceInfoRecord& info) {
    constexpr size_t kPmu = 0, kCpus = 1;
    has_info_ = true;
    input_.tracer = Tracer::kArmSpe;
    input_.pmu_type = info.priv.size() > kPmu ? static_cast<uint32_t>(info.priv[kPmu]) : 0;
    input_.per_cpu = info.priv.size() > kCpus && info.priv[kCpus] != 0;
    input_.midr = parse_number(recording_.features().cpu_id.value_or("")).value_or(0);
    take_times_of_event();
    return {};
  }

  Result<> take_bts_info(const AuxtraceInfoRecord& info) {
    has_info_ = true;
    input_.tracer = Tracer::kIntelBts;
    if (info.priv.size() <= kTimeZero) return {};
    input_.pmu_type = static_cast<uint32_t>(info.priv[kPmuType]);
    input_.clock = {info.priv[kTimeShift], info.priv[kTimeMultiplier], info.priv[kTimeZero]};
    input_.has_times = false;  // a branch has none
    return {};
  }

  void note_sample(const RecordView& record) {
    EventId event = recording_.events().of(record);
    std::vector<EventId>& noted = input_.sampled_aux_output;
    if (event.valid() && writes_into_trace(recording_.events()[event]) &&
        std::ranges::find(noted, event) == noted.end())
      noted.push_back(event);
  }

  void take_sample(const RecordView& record) {
    EventId event = recording_.events().of(record);
    if (!event.valid()) return;
    const EventDesc& desc = recording_.events()[event];
    Sample sample;
    if (desc.attr.samples(abi::kSampleAux) && decode_sample(record, desc.layout, sample))
      sampled_.take(sample, desc.attr.samples(abi::kSampleCpu));
  }

  /// What can be told of CoreSight only after all records.
  void finish_etm() {
    // Kernels since 6.2 choose the ids themselves; those of units that never ran mean nothing.
    if (!trace_ids_.empty()) {
      std::erase_if(input_.units, [&](etm::TraceUnit& unit) {
        auto told = trace_ids_.find(unit.cpu);
        if (told != trace_ids_.end()) unit.trace_id = told->second;
        return told == trace_ids_.end();
      });
    }
    if (conversion_.multiplier != 0 &&
        std::ranges::all_of(input_.units, &etm::TraceUnit::has_virtual_times))
      input_.counter = conversion_;
    for (TraceQueue& queue : input_.queues) {
      bool of_cpu = queue.cpu != UINT32_MAX;
      input_.per_cpu |= of_cpu;
      auto& stretches = of_cpu ? stretches_of_cpu_ : stretches_of_thread_;
      queue.stretches = std::move(stretches[of_cpu ? queue.cpu : queue.tid]);
    }
  }

  void take_stretch(const AuxRecord& aux, const SampleId& id, uint64_t time) {
    // linux/perf_event.h: PERF_AUX_FLAG_OVERWRITE, PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK.
    constexpr uint64_t kOverwrites = 2, kFormat = 0xff00, kRaw = 0x0100;
    if (aux.size == 0) return;
    // Of a buffer that is written over and over, the offset is where the newest byte is.
    uint64_t begin = (aux.flags & kOverwrites) == 0 ? aux.offset
                     : aux.offset > aux.size        ? aux.offset - aux.size
                                                    : 0;
    TraceStretch stretch{begin, aux.size, time, id.cpu, (aux.flags & kFormat) == kRaw};
    stretches_of_cpu_[id.cpu].push_back(stretch);
    stretches_of_thread_[id.tid].push_back(stretch);
  }

  void take_sideband(const RecordView& record) {
    EventId event = recording_.events().of(record);
    if (!event.valid()) return;
    const SampleLayout& layout = recording_.events()[event].layout;
    SampleId id = decode_trailing_id(record, layout);
    uint64_t time = id.has_time() ? id.time : 0;
    if (record.type == abi::kRecordItraceStart) {
      if (auto start = decode_as<ItraceStartRecord>(record, layout))
        input_.switches.push_back({time, id.cpu, start->pid, start->tid});
    } else if (record.type == abi::kRecordSwitchCpuWide || record.type == abi::kRecordSwitch) {
      auto change = decode_as<SwitchRecord>(record, layout);
      if (change && !change->out) input_.switches.push_back({time, id.cpu, id.pid, id.tid});
    } else if (record.type == abi::kRecordAuxOutputHwId) {
      constexpr uint64_t kTraceId = 0x7f;
      if (auto told = decode_as<AuxOutputHwIdRecord>(record, layout)) {
        trace_ids_[id.cpu] = static_cast<uint8_t>(told->hw_id & kTraceId);
        input_.aux_output_ids.push_back({time, id.cpu, id.tid, told->hw_id, event, id.id});
      }
    } else if (auto aux = decode_as<AuxRecord>(record, layout)) {
      take_stretch(*aux, id, time);
      constexpr uint64_t kTruncated = 1;
      if ((aux->flags & kTruncated) != 0) {
        LostTrace lost{time, id.cpu, id.pid, id.tid};
        input_.lost_on_cpu[id.cpu].push_back(lost);
        input_.lost_of_thread[id.tid].push_back(lost);
      }
    }
  }

  void add_data(const RecordView& record, Bytes data) {
    auto trace = decode_user<AuxtraceRecord>(record);
    if (!trace) return;
    bool of_cpu = trace->cpu != UINT32_MAX;
    std::pair<uint32_t, uint32_t> key(trace->cpu, of_cpu ? 0 : trace->tid);
    auto [known, is_new] = queue_of_.try_emplace(key, input_.queues.size());
    if (is_new) input_.queues.push_back({trace->cpu, trace->tid, {}, {}});
    TraceQueue* queue = &input_.queues[known->second];
    // A snapshot begins with what the one before it already had.
    if (!queue->pieces.empty()) {
      const TracePiece& before = queue->pieces.back();
      uint64_t end = before.offset + before.bytes.size();
      if (trace->offset >= before.offset && trace->offset < end) {
        data = data.subspan(std::min<uint64_t>(end - trace->offset, data.size()));
        trace->offset = end;
      }
    }
    queue->pieces.push_back({data, trace->offset, trace->reference});
  }

  const Recording& recording_;
  TraceInput input_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> queue_of_;  // by CPU, or by thread without one
  bool has_info_ = false;
  bool samples_traces_, writes_into_trace_;
  SampledTrace sampled_;
  TraceClock conversion_;                  // of TIME_CONV
  std::map<uint32_t, uint8_t> trace_ids_;  // by CPU, as told while recording
  std::map<uint32_t, std::vector<TraceStretch>> stretches_of_cpu_, stretches_of_thread_;
};

}  // namespace

TraceClock cycle_clock_of(const Recording& recording) {
  if (recording.record_counts().by_type[abi::kRecordTimeConv] == 0) return {};
  for (const RecordBlock& block : recording.blocks()) {
    RecordRange range(block, recording.byte_order());
    for (RecordView record; range.next(record);) {
      if (record.type != abi::kRecordTimeConv) continue;
      if (auto told = decode_user<TimeConvRecord>(record))
        return {told->shift, told->multiplier, told->zero};
    }
  }
  return {};
}

uint32_t base_ratio(const TraceInput& input) {
  constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
  constexpr uint64_t kBusClock_Hz = 100'000'000;  // of all processors that trace
  if (input.setup.non_turbo_ratio != 0) return input.setup.non_turbo_ratio;
  uint64_t tsc_Hz = input.clock.to_ticks(kNanosecondsPerSecond);
  return static_cast<uint32_t>((tsc_Hz + kBusClock_Hz / 2) / kBusClock_Hz);
}

bool has_traces(const Recording& recording) {
  const auto& counts = recording.record_counts().by_type;
  return counts[abi::kRecordAuxtrace] != 0 ||
         (counts[abi::kRecordAuxtraceInfo] != 0 && samples_traces(recording.events()));
}

Result<TraceInput> read_traces(const Recording& recording) {
  return InputReader(recording).read();
}

}  // namespace sonde::itrace
