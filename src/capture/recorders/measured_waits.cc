#include "capture/recorders/measured_waits.h"

#include <fmt/format.h>

#include "capture/recorders/capture_setup.h"

namespace sonde {

ParsedEvent measured_event(std::string_view name) {
  ParsedEvent event;
  event.name = name;
  event.attr.type = abi::kTypeSoftware;
  event.attr.config = abi::kSwBpfOutput;
  event.attr.sample_period = 1;
  return event;
}

void report_lost(const LostWaits& lost, std::string_view waits, const RecordOptions& options,
                 Env& env) {
  constexpr double kNsPerMs = 1e6;
  if (lost.waits > 0)
    say(options, env,
        fmt::format("{} {}, {:.3f} ms, are not in the recording: they had no room", lost.waits,
                    waits, static_cast<double>(lost.ns) / kNsPerMs));
  if (lost.stacks > 0)
    say(options, env,
        fmt::format("{} call chains of {} are not in the recording: they had no room", lost.stacks,
                    waits));
}

}  // namespace sonde
