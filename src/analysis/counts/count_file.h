// CountFile: the counts of a `stat record` file, round by round.
//
//   CountFile file(recording, losses);
//   file.read([&](const CountFile::Round& round) { ... file.readings() ... });
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "analysis/counts/count_units.h"
#include "analysis/counts/counted_event.h"
#include "base/loss.h"
#include "capture/counters/count_recorder.h"
#include "capture/counters/counter_reading.h"
#include "perfdata/read/recording.h"
#include "perfdata/records/user_records.h"

namespace sonde {

class CountFile {
 public:
  struct Config {
    CountFileMode mode = CountFileMode::kGlobal;
    uint64_t interval_ms = 0;
    bool scale = true;
  };
  struct Round {
    bool is_final = false;
    uint64_t time_ns = 0;  // since the start
  };

  CountFile(const Recording& recording, LossLedger& losses)
      : recording_(recording), losses_(losses) {}

  /// Reads the whole file. Whatever precedes the first round (events, maps, config) is available
  /// from that round on; counts that name no known event, CPU or thread are losses.
  void read(const std::function<void(const Round&)>& on_round);

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const std::vector<CountedEvent>& events() const { return events_; }
  [[nodiscard]] const std::vector<int>& cpus() const { return cpus_; }
  [[nodiscard]] const std::vector<CountedThread>& threads() const { return threads_; }
  /// The counters as of the current round: values since the start. An event without any counts was
  /// not supported where the file was made.
  [[nodiscard]] const std::vector<EventReadings>& readings() const { return readings_; }

 private:
  void take(const RecordView& record, const std::function<void(const Round&)>& on_round);
  void take_config(const RecordView& record);
  void take_counts(const RecordView& record);
  void prepare();
  [[nodiscard]] std::vector<int> expected_cpus(const std::vector<int>& own) const;
  [[nodiscard]] std::optional<size_t> row_of(const EventReadings& readings, int cpu) const;
  [[nodiscard]] size_t row_for(EventReadings& readings, int cpu) const;
  void take_own_time(EventReadings& readings, int cpu, const StatRecord& stat) const;

  const Recording& recording_;
  LossLedger& losses_;
  Config config_;
  std::vector<CountedEvent> events_;
  std::vector<int> cpus_;
  std::vector<CountedThread> threads_;
  std::vector<EventReadings> readings_;
  std::vector<std::vector<int>> own_cpus_;  // by event
  std::map<int, size_t> slot_of_cpu_;
  bool is_prepared_ = false;
};

}  // namespace sonde
