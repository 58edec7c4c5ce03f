// The timeline of a recording: its scheduler events in time order, with any stacks it has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/session.h"
#include "view/timeline.h"

namespace sonde {

struct SessionTimelineOptions {
  bool want_stacks = true;  // where threads left their CPU, and where their wakers were
};

struct SessionTimeline {
  view::Timeline timeline;
  uint64_t switches = 0;
  uint64_t wakings = 0;
  uint64_t pairs = 0;  // switches with another before them on their CPU
  uint64_t contradictions =
      0;                    // of these, where a thread left that had not come: events are missing
  uint64_t unreadable = 0;  // samples without the required fields

  /// What the timeline leaves out and why, in sentences without a period.
  [[nodiscard]] std::vector<std::string> flaws() const;
};

/// Fails with kFailed if the recording has no sched:sched_switch, its samples carry no time, the
/// format of the event is missing, or only some switches were recorded (switch_coverage.h).
Result<SessionTimeline> timeline_of(const Session& session, const SessionTimelineOptions& options);

}  // namespace sonde
