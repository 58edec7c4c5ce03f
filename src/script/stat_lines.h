// The counts of a `stat record` as `script` prints them: a table with one line per counter, CPU and
// thread for every round.
//
//   CPU   THREAD             VAL             ENA             RUN            TIME EVENT
//     0       -1            2730       100210064       100210064       100134398 cs
#pragma once

#include <map>
#include <vector>

#include "base/sink.h"
#include "perfdata/records/user_records.h"
#include "replay/session.h"

namespace sonde {

/// Whether the recording contains counts; of a pipe that is followed, its current batch.
bool is_stat_recording(const Session& session);

class StatLines {
 public:
  StatLines(const Session& session, Sink& out) : session_(session), out_(out) {}
  /// Writes the rounds that end in the session's records; for a pipe, those of its current batch.
  void write();

 private:
  /// Counts refer to the thread by its place in the map.
  struct Key {
    uint32_t event, thread;
    int cpu;
    auto operator<=>(const Key&) const = default;
  };
  void take(const RecordView& record);
  void note(const StatRecord& stat);
  void write_round(uint64_t time);

  const Session& session_;
  Sink& out_;
  std::vector<int32_t> tids_;
  std::vector<int> cpus_;
  std::map<Key, StatRecord> counts_;  // in line order
  bool has_heading_ = false;
};

}  // namespace sonde
