// A sample that carries counter values (PERF_SAMPLE_READ: groups with :S, and the like) stands for
// one sample of every counter it carries. Its period is the counter's increase since it was last
// read; a counter that has not increased gives no sample.
#pragma once

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "perfdata/read/recording.h"
#include "replay/sample_columns.h"

namespace sonde {

/// A counter; one that threads inherit (since Linux 6.13) is several, of one id.
struct CounterKey {
  uint64_t id;
  uint32_t tid;  // 0: not inherited
  friend bool operator==(const CounterKey&, const CounterKey&) = default;
};
struct CounterKeyHash {
  size_t operator()(const CounterKey& key) const {
    return NumberHash()(key.id ^ NumberHash()(key.tid));
  }
};
/// The last value of every counter.
using CounterValues = tsl::robin_map<CounterKey, uint64_t, CounterKeyHash>;

/// Whether the recording has such an event.
[[nodiscard]] bool has_read_values(const EventTable& events);

/// Replaces such rows by one row per counter, in file order. Does nothing if no event records
/// values. `last` holds the counter values after the preceding samples.
void spread_read_values(const Recording& recording, SampleColumns& samples, CounterValues& last);

}  // namespace sonde
