// EventMaker: events that must be made before they can be opened, which the parser of `-e` asks for
// when it meets their names: USDT probes and BPF programs. Who implements it keeps what it made
// until the recording ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/event_syntax.h"
#include "event/tracefs.h"

namespace sonde {

struct MadeEvent {
  TracepointName tracepoint;             // where it stands in tracefs
  std::string name;                      // as users see it: "sdt_python:line"
  std::optional<uint32_t> program = {};  // the BPF program that decides about its samples
};

class EventMaker {
 public:
  virtual ~EventMaker() = default;

  /// The USDT probes PROVIDER:NAME (a glob) of `object`; where that is empty, of the objects in
  /// which the command line may mean it. Never empty: no probe is an error.
  virtual Result<std::vector<MadeEvent>> make_usdt(std::string_view provider, std::string_view name,
                                                   std::string_view object) = 0;

  /// The events of a BPF program, source or object file, in the order of its sections. `settings`
  /// are the terms that say what its maps hold: map:NAME.value=N, map:NAME.event=EVENT. May be
  /// empty: programs that only write into a map bring no event of their own.
  virtual Result<std::vector<MadeEvent>> make_programs(std::string_view path,
                                                       const std::vector<TermSyntax>& settings) = 0;
};

}  // namespace sonde
