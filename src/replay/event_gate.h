// `--switch-on EVENT` and `--switch-off EVENT`: samples are shown from the one event on, and until
// the other comes. They are seen in the order in which they are looked at, after script's filters.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "perfdata/event_table.h"

namespace sonde {

class EventGate {
 public:
  struct Choice {
    std::string on, off;          // names of events; empty: none
    bool show_switching = false;  // the samples that switch are shown, too
  };

  EventGate() = default;  // shows everything
  /// An error where there is no such event. `tool` is the program's name in the hint.
  static Result<EventGate> make(const Choice& choice, const EventTable& events,
                                std::string_view tool);
  [[nodiscard]] bool in_use() const { return on_.valid() || off_.valid(); }
  /// Whether the sample that comes next is shown.
  bool shows(EventId event);

 private:
  EventId on_, off_;
  bool show_switching_ = false;
  bool hides_ = false;
};

}  // namespace sonde
