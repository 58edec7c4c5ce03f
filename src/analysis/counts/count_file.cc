#include "analysis/counts/count_file.h"

#include <algorithm>

namespace sonde {
namespace {

/// More counters than any machine opens: maps that claim more are corrupt.
constexpr size_t kMaxCounters = size_t{1} << 22;

}  // namespace

void CountFile::read(const std::function<void(const Round&)>& on_round) {
  for (const RecordBlock& block : recording_.blocks()) {
    RecordRange range(block, recording_.byte_order());
    RecordView record;
    while (range.next(record)) take(record, on_round);
  }
  prepare();
}

void CountFile::take(const RecordView& record, const std::function<void(const Round&)>& on_round) {
  bool is_map = record.type == abi::kRecordThreadMap || record.type == abi::kRecordCpuMap;
  if (is_map && is_prepared_) {
    // There is room only for what the first maps named.
    losses_.add(LossKind::k_bad_record, 1, "a map of CPUs or threads after the first counts");
    return;
  }
  switch (record.type) {
    case abi::kRecordThreadMap:
      if (auto map = decode_user<ThreadMapRecord>(record)) {
        threads_.clear();
        for (const ThreadMapRecord::Entry& thread : map->threads)
          threads_.push_back({static_cast<int>(thread.tid), std::string(thread.comm)});
      }
      break;
    case abi::kRecordCpuMap:
      if (auto map = decode_user<CpuMapRecord>(record)) cpus_ = map->cpus;
      break;
    case abi::kRecordStatConfig:
      take_config(record);
      break;
    case abi::kRecordStat:
      take_counts(record);
      break;
    case abi::kRecordStatRound:
      if (auto round = decode_user<StatRoundRecord>(record)) {
        prepare();
        on_round({.is_final = round->type == static_cast<uint64_t>(CountRoundKind::kFinal),
                  .time_ns = round->time});
      }
      break;
    default:
      break;
  }
}

void CountFile::take_config(const RecordView& record) {
  auto config = decode_user<StatConfigRecord>(record);
  if (!config) return;
  for (size_t i = 0; i + 1 < config->terms.size(); i += 2) {
    uint64_t value = config->terms[i + 1];
    switch (static_cast<CountFileTag>(config->terms[i])) {
      case CountFileTag::kMode:
        if (value <= static_cast<uint64_t>(CountFileMode::kNode))
          config_.mode = static_cast<CountFileMode>(value);
        break;
      case CountFileTag::kInterval:
        config_.interval_ms = value;
        break;
      case CountFileTag::kScale:
        config_.scale = value != 0;
        break;
    }
  }
}

/// Makes room for every counter that the maps announce.
void CountFile::prepare() {
  if (is_prepared_) return;
  is_prepared_ = true;
  if (cpus_.empty()) cpus_ = {-1};
  if (threads_.empty()) threads_.emplace_back();
  const std::vector<EventDesc>& events = recording_.events().all();
  size_t counters = 0;
  for (const EventDesc& event : events)
    counters += std::max(cpus_.size(), event.own_cpus.size()) * threads_.size();
  if (counters > kMaxCounters) {
    losses_.add(LossKind::k_bad_record, 1, "maps of CPUs and threads that are too large");
    cpus_ = {-1};
    threads_ = {{}};
  }
  for (size_t i = 0; i < cpus_.size(); ++i) slot_of_cpu_[cpus_[i]] = i;
  for (const EventDesc& event : events) {
    events_.push_back(counted_event(event));
    own_cpus_.push_back(counters <= kMaxCounters ? event.own_cpus : std::vector<int>());
    EventReadings& readings = readings_.emplace_back();
    readings.supported = false;
    readings.cpus = expected_cpus(own_cpus_.back());
    readings.values.resize(readings.cpus.size() * threads_.size());
  }
}

/// Where an event is counted that may be counted on CPUs of its own: on those of them that the file
/// is about. Counters of tasks are on no CPU, whatever CPUs the event has: since 6.13, perf names
/// some for nearly every event.
std::vector<int> CountFile::expected_cpus(const std::vector<int>& own) const {
  bool of_tasks = cpus_.size() == 1 && cpus_[0] < 0;
  if (own.empty() || of_tasks) return cpus_;
  std::vector<int> both;
  for (int cpu : own)
    if (slot_of_cpu_.contains(cpu)) both.push_back(cpu);
  return both.empty() ? own : both;
}

std::optional<size_t> CountFile::row_of(const EventReadings& readings, int cpu) const {
  // Nearly all events are on the CPUs of the file's map.
  if (auto found = slot_of_cpu_.find(cpu); found != slot_of_cpu_.end() &&
                                           found->second < readings.cpus.size() &&
                                           readings.cpus[found->second] == cpu)
    return found->second;
  auto own = std::ranges::find(readings.cpus, cpu);
  if (own == readings.cpus.end()) return std::nullopt;
  return static_cast<size_t>(own - readings.cpus.begin());
}

/// What was counted decides: an event whose counts are elsewhere than expected is there.
size_t CountFile::row_for(EventReadings& readings, int cpu) const {
  if (std::optional<size_t> row = row_of(readings, cpu)) return *row;
  if (!readings.supported) {
    readings.cpus.clear();
    readings.values.clear();
  }
  readings.cpus.push_back(cpu);
  readings.values.resize(readings.cpus.size() * threads_.size());
  return readings.cpus.size() - 1;
}

/// Of the recorder's own times there is one number. perf before 6.13 writes it for every counter,
/// whole each time: the first stands for all.
void CountFile::take_own_time(EventReadings& readings, int cpu, const StatRecord& stat) const {
  if (!readings.supported) {
    readings.cpus = {cpu};
    readings.values.resize(1);
  }
  if (cpu == readings.cpus[0] && stat.thread == 0)
    readings.values[0] = {stat.value, stat.enabled, stat.running};
}

void CountFile::take_counts(const RecordView& record) {
  auto stat = decode_user<StatRecord>(record);
  if (!stat) return;
  prepare();
  EventId event = recording_.events().by_id(stat->id);
  auto lost = [&] { losses_.add(LossKind::k_bad_record, 1, "counts of an unknown counter"); };
  if (!event.valid()) return lost();
  std::optional<int> cpu = counted_cpu(stat->cpu, cpus_, own_cpus_[event.index()]);
  if (!cpu || stat->thread >= threads_.size()) return lost();
  EventReadings& readings = readings_[event.index()];
  const CountedEvent& counted = events_[event.index()];
  if (counted.tool != ToolEvent::kNone && counted.type == abi::kTypeSoftware) {
    take_own_time(readings, *cpu, *stat);
  } else {
    size_t slot = row_for(readings, *cpu) * threads_.size() + stat->thread;
    readings.values[slot] = {stat->value, stat->enabled, stat->running};
  }
  readings.supported = true;
}

}  // namespace sonde
