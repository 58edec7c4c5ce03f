// CountRecorder: `stat record` writes counts to a perf.data file, laid out as by perf.
//
//   EVENT_UPDATE …  units and scales
//   THREAD_MAP, CPU_MAP, STAT_CONFIG
//   STAT …          a record per counter: values since the start
//   STAT_ROUND      the time of these; once per interval, and at the end
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "capture/counters/counter_set.h"
#include "capture/recorders/record_output.h"
#include "capture/synthesis/recording_features.h"

namespace sonde {

/// STAT_CONFIG's aggregation modes, as perf numbers them.
enum class CountFileMode : uint64_t {
  kNone = 0,
  kGlobal = 1,
  kSocket = 2,
  kDie = 3,
  kCore = 4,
  kThread = 5,
  kUnset = 6,
  kNode = 7,
};
enum class CountFileTag : uint64_t { kMode = 0, kInterval = 1, kScale = 2 };
enum class CountRoundKind : uint64_t { kInterval = 0, kFinal = 1 };

struct CountFileSettings {
  OutputOptions output;
  CountFileMode mode = CountFileMode::kGlobal;
  uint64_t interval_ms = 0;
  bool scale = true;
  std::vector<std::string> command_line;
  struct Unit {
    std::string name;
    double scale;
  };
  std::vector<Unit> units;  // by event
};

class CountRecorder {
 public:
  explicit CountRecorder(Env& env) : env_(env) {}

  /// Writes everything that precedes the first counts.
  Result<> begin(CounterSet& counters, CountFileSettings settings);
  Result<> round(const CounterSet& counters, const std::vector<EventReadings>& readings,
                 CountRoundKind kind, uint64_t time_ns);
  Result<> finish();

 private:
  Result<> write(const ByteBuilder& records);
  void put_units(const CounterSet& counters, ByteBuilder& out) const;
  void put_maps(const CounterSet& counters, ByteBuilder& out) const;
  void put_config(ByteBuilder& out) const;

  Env& env_;
  CountFileSettings settings_;
  SwitchOutputOptions no_switching_;
  std::optional<RecordOutput> output_;
  RecordingFeatures features_;
};

}  // namespace sonde
