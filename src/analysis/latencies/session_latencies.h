// Times between pairs of events of a recording, and values of fields: the data of latency heat
// maps. Fields are looked up once per event, in the tracepoint's format; they are never formatted
// as text.
//
//   --from block:block_rq_issue --to block:block_rq_complete --key dev,sector
//   --from sched:sched_waking --to sched:sched_switch --key pid=next_pid
//   --from probe_x:read --to probe_x:read__return                 by thread
#pragma once

#include <string>
#include <vector>

#include "analysis/latencies/event_pairing.h"
#include "base/error.h"
#include "replay/session.h"

namespace sonde {

struct PairOptions {
  std::vector<std::string> from, to;  // event names or globs
  /// Fields that partners share: "dev", or "pid=next_pid" if their names differ; "sp+8=sp" if the
  /// first's value is 8 less. Besides the
  /// events' own fields there are tid, pid and cpu of the samples. Empty: what known_key() says.
  std::vector<std::string> key;
  EventPairing::Nesting nesting = EventPairing::Nesting::kNone;
};

/// The fields usually used to pair these events; the thread ("tid") if nothing else is known.
[[nodiscard]] std::vector<std::string> known_key(std::string_view from, std::string_view to);
/// A pair of events that this recording has; both are empty if none is known.
[[nodiscard]] PairOptions known_pair(const EventTable& events);

struct TimedValue {
  uint64_t time_ns = 0;  // of the later event
  double value = 0;      // ns, or the field's value
};

struct TimedValues {
  std::vector<TimedValue> values;  // in time order
  EventPairing::Counts pairing;
  uint64_t still_open = 0;  // begins without an end
  uint64_t unreadable = 0;  // samples without the field
};

/// Errors: no such event (kBadEvent; the message lists those that exist), no such field (likewise),
/// samples without time (kFailed).
Result<TimedValues> latencies_of(const Session& session, const PairOptions& options);
/// The values of a field of an event; signed fields keep their sign.
Result<TimedValues> field_values_of(const Session& session, const std::string& event,
                                    const std::string& field);
/// The times of an event's samples, in file order; of all events if the name is empty.
Result<std::vector<uint64_t>> times_of(const Session& session, const std::string& event);

}  // namespace sonde
