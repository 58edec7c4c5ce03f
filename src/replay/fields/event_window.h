// `--switch-on EVENT` and `--switch-off EVENT`: shows samples from the first event on, until the
// second. Events are seen in the order in which samples are examined, after script's filters.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "perfdata/header/event_table.h"

namespace sonde {

class EventWindow {
 public:
  struct Choice {
    std::string on, off;          // event names; empty: none
    bool show_switching = false;  // also show the switching samples themselves
  };

  EventWindow() = default;  // shows everything
  /// Fails if there is no such event. `tool` is the program's name in the hint.
  static Result<EventWindow> make(const Choice& choice, const EventTable& events,
                                  std::string_view tool);
  [[nodiscard]] bool in_use() const { return on_.valid() || off_.valid(); }
  /// Whether the next sample is shown.
  bool shows(EventId event);

 private:
  EventId on_, off_;
  bool show_switching_ = false;
  bool hides_ = false;
};

}  // namespace sonde
