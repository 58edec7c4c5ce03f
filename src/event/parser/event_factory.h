// EventFactory: events that must be created before they can be opened, requested by the parser of
// `-e` when it meets their names: USDT probes and BPF programs. The implementation keeps what it
// made until the recording ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/parser/event_syntax.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {

struct OwnedEvent {
  TracepointName tracepoint;             // its name in tracefs
  std::string name;                      // as shown to users: "sdt_python:line"
  std::optional<uint32_t> program = {};  // the BPF program that decides which samples are kept
};

class EventFactory {
 public:
  virtual ~EventFactory() = default;

  /// The USDT probes PROVIDER:NAME (a glob) of `object`; if that is empty, of the objects that the
  /// command line may refer to. Never empty: no probe is an error.
  virtual Result<std::vector<OwnedEvent>> make_usdt(std::string_view provider,
                                                    std::string_view name,
                                                    std::string_view object) = 0;

  /// The events of a BPF program, source or object file, in the order of its sections. `settings`
  /// are the terms that initialise its maps: map:NAME.value=N, map:NAME.event=EVENT. May be empty:
  /// programs that only write to a map have no events of their own.
  virtual Result<std::vector<OwnedEvent>> make_programs(
      std::string_view path, const std::vector<TermSyntax>& settings) = 0;
};

}  // namespace sonde
