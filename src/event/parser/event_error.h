// Messages about an `-e` argument: the text, a caret under the faulty position, help, and the
// command that lists events.
//
//   event syntax error: 'cycles:pppp'
//                               \___ Bad modifier
//   Run 'perf list' for a list of valid events
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

class EventErrors {
 public:
  EventErrors(std::string_view text, std::string_view tool, unsigned columns)
      : text_(text), tool_(tool), columns_(columns) {}

  /// kBadEvent. `place` is a view into the argument; anything else points at its start. `help`
  /// follows below the caret, after a blank line.
  [[nodiscard]] std::unexpected<Error> fail(std::string_view place, std::string_view message,
                                            std::string_view help = {}) const;

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string_view tool() const { return tool_; }

 private:
  [[nodiscard]] size_t position(std::string_view place) const;

  std::string_view text_;
  std::string_view tool_;
  unsigned columns_;
};

}  // namespace sonde
