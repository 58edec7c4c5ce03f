#include "script/stat_lines.h"

#include <algorithm>

namespace sonde {

bool is_stat_recording(const Session& session) {
  const Recording& recording = session.recording();
  if (!recording.facts().is_pipe) return recording.features().has(abi::kFeatureStat);
  return std::ranges::any_of(session.other_records(), [](const OtherRecord& record) {
    return record.view.type == abi::kRecordStatConfig || record.view.type == abi::kRecordStat;
  });
}

void StatLines::write() {
  for (const OtherRecord& record : session_.other_records()) take(record.view);
}

void StatLines::take(const RecordView& record) {
  switch (record.type) {
    case abi::kRecordThreadMap:
      if (auto map = decode_user<ThreadMapRecord>(record)) {
        tids_.clear();
        for (const ThreadMapRecord::Entry& entry : map->threads)
          tids_.push_back(static_cast<int32_t>(entry.tid));
      }
      break;
    case abi::kRecordCpuMap:
      if (auto map = decode_user<CpuMapRecord>(record)) cpus_ = map->cpus;
      break;
    case abi::kRecordStat:
      if (auto stat = decode_user<StatRecord>(record)) note(*stat);
      break;
    case abi::kRecordStatRound:
      if (auto round = decode_user<StatRoundRecord>(record)) write_round(round->time);
      break;
    default:
      break;
  }
}

void StatLines::note(const StatRecord& stat) {
  EventId event = session_.events().by_id(stat.id);
  if (!event.valid()) return;
  int cpu = counted_cpu(stat.cpu, cpus_, session_.events()[event].own_cpus).value_or(-1);
  counts_[{event.value, stat.thread, cpu}] = stat;
}

void StatLines::write_round(uint64_t time) {
  if (!std::exchange(has_heading_, true))
    out_.print("{:>3} {:>8} {:>15} {:>15} {:>15} {:>15} {}\n", "CPU", "THREAD", "VAL", "ENA", "RUN",
               "TIME", "EVENT");
  for (const auto& [key, stat] : counts_)
    out_.print("{:3} {:8} {:15} {:15} {:15} {:15} {}\n", key.cpu,
               key.thread < tids_.size() ? tids_[key.thread] : -1, stat.value, stat.enabled,
               stat.running, time, session_.events()[EventId(size_t{key.event})].name);
}

}  // namespace sonde
