#include "capture/opening/event_closer.h"

#include "base/background_close.h"
#include "event/parser/owned_group.h"

namespace sonde {
namespace {

/// Kernel tracepoints: other tools cannot delete them meanwhile, and no program of ours would keep
/// filtering.
bool is_slow_to_close(const CaptureEvent& event) {
  return event.attr().type == abi::kTypeTracepoint && !event.parsed.bpf_program &&
         maker_of_group(event.parsed.tracepoint.system) == 0 &&
         !event.parsed.tracepoint.system.starts_with("probe") &&
         !event.parsed.tracepoint.system.starts_with("sdt_") &&
         event.parsed.tracepoint.system != "uprobes" &&
         event.parsed.tracepoint.system != "kprobes" &&
         event.parsed.tracepoint.system != "synthetic";
}

}  // namespace

void close_events(Capture& capture, Sys& sys) {
  std::vector<int> slow;
  for (const CaptureEvent& event : capture.events)
    if (is_slow_to_close(event))
      for (const OpenedEvent& opened : event.opened) slow.push_back(opened.fd);
  capture.rings.reset();
  BackgroundClose background(slow);
  for (CaptureEvent& event : capture.events) {
    for (const OpenedEvent& opened : event.opened) (void)sys.close(opened.fd);
    event.opened.clear();
  }
}

}  // namespace sonde
