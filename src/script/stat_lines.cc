#include "script/stat_lines.h"

#include <map>

#include "perfdata/user_records.h"

namespace sonde {
namespace {

class StatTable {
 public:
  StatTable(const Session& session, Sink& out) : session_(session), out_(out) {}

  void take(const RecordView& record) {
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

 private:
  /// Counts name CPU and thread by their place in the maps.
  struct Key {
    uint32_t event, thread, cpu;
    auto operator<=>(const Key&) const = default;
  };

  void note(const StatRecord& stat) {
    EventId event = session_.events().by_id(stat.id);
    if (event.valid()) counts_[{event.value, stat.thread, stat.cpu}] = stat;
  }
  template <typename List>
  static int name_of(const List& list, uint32_t index) {
    return index < list.size() ? list[index] : -1;
  }
  void write_round(uint64_t time) {
    if (!std::exchange(has_heading_, true))
      out_.print("{:>3} {:>8} {:>15} {:>15} {:>15} {:>15} {}\n", "CPU", "THREAD", "VAL", "ENA",
                 "RUN", "TIME", "EVENT");
    for (const auto& [key, stat] : counts_)
      out_.print("{:3} {:8} {:15} {:15} {:15} {:15} {}\n", name_of(cpus_, key.cpu),
                 name_of(tids_, key.thread), stat.value, stat.enabled, stat.running, time,
                 session_.events()[EventId(size_t{key.event})].name);
  }

  const Session& session_;
  Sink& out_;
  std::vector<int32_t> tids_;
  std::vector<int> cpus_;
  std::map<Key, StatRecord> counts_;  // in the order of the lines
  bool has_heading_ = false;
};

}  // namespace

bool is_stat_recording(const Session& session) {
  return session.recording().features().has(abi::kFeatureStat);
}

void write_stat_lines(const Session& session, Sink& out) {
  StatTable table(session, out);
  for (const OtherRecord& record : session.other_records()) table.take(record.view);
}

}  // namespace sonde
