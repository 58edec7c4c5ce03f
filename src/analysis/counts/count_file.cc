#include "analysis/counts/count_file.h"

#include <algorithm>

#include "perfdata/records/user_records.h"

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
    EventReadings& readings = readings_.emplace_back();
    readings.supported = false;
    bool own = !event.own_cpus.empty() && counters <= kMaxCounters;
    readings.cpus = own ? event.own_cpus : cpus_;
    readings.values.resize(readings.cpus.size() * threads_.size());
  }
}

std::optional<size_t> CountFile::slot_of(const EventReadings& readings, int cpu) const {
  // Nearly all events are on the CPUs of the file's map.
  if (auto found = slot_of_cpu_.find(cpu); found != slot_of_cpu_.end() &&
                                           found->second < readings.cpus.size() &&
                                           readings.cpus[found->second] == cpu)
    return found->second;
  auto own = std::ranges::find(readings.cpus, cpu);
  if (own == readings.cpus.end()) return std::nullopt;
  return static_cast<size_t>(own - readings.cpus.begin());
}

void CountFile::take_counts(const RecordView& record) {
  auto stat = decode_user<StatRecord>(record);
  if (!stat) return;
  prepare();
  EventId event = recording_.events().by_id(stat->id);
  auto lost = [&] { losses_.add(LossKind::k_bad_record, 1, "counts of an unknown counter"); };
  if (!event.valid()) return lost();
  EventReadings& readings = readings_[event.index()];
  std::optional<size_t> cpu = slot_of(readings, static_cast<int>(stat->cpu));
  if (!cpu || stat->thread >= threads_.size()) return lost();
  size_t slot = *cpu * threads_.size() + stat->thread;
  readings.supported = true;
  readings.values[slot] = {stat->value, stat->enabled, stat->running};
}

}  // namespace sonde
