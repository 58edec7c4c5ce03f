// libtraceevent as the oracle for tracepoint text: the library that perf script prints samples
// with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace sonde::oracle {

/// One event, parsed by libtraceevent.
class TraceEvent {
 public:
  TraceEvent(std::string_view format, std::string_view system);
  ~TraceEvent();
  TraceEvent(const TraceEvent&) = delete;
  TraceEvent& operator=(const TraceEvent&) = delete;

  /// Whether the library understood the event and its print format.
  [[nodiscard]] bool parsed() const;
  /// What perf script prints after the event's name.
  [[nodiscard]] std::string print(Bytes raw) const;
  /// The dump of all fields.
  [[nodiscard]] std::string print_fields(Bytes raw) const;

  /// The functions registered with the library, for %ps and %pS.
  static constexpr uint64_t kFunction = 0xffffffff81000000;
  static constexpr uint64_t kFunctionEnd = 0xffffffff81010000;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::oracle
