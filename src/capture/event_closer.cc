#include "capture/event_closer.h"

#include <fcntl.h>
#include <unistd.h>

#include "event/own_group.h"

namespace sonde {
namespace {

/// Kernel tracepoints that other tools cannot delete meanwhile, and where no program of ours would
/// go on filtering.
bool is_slow_to_close(const CaptureEvent& event) {
  return event.attr().type == abi::kTypeTracepoint && !event.parsed.bpf_program &&
         maker_of_group(event.parsed.tracepoint.system) == 0 &&
         !event.parsed.tracepoint.system.starts_with("probe") &&
         !event.parsed.tracepoint.system.starts_with("sdt_") &&
         event.parsed.tracepoint.system != "uprobes" &&
         event.parsed.tracepoint.system != "kprobes" &&
         event.parsed.tracepoint.system != "synthetic";
}

/// In the child: keeps nothing that anybody may wait for, above all not the user's pipes.
[[noreturn]] void close_in_background(const std::vector<CaptureEvent>& events) {
  ::setsid();
  std::vector<int> kept;
  for (const CaptureEvent& event : events)
    if (is_slow_to_close(event))
      for (const OpenedEvent& opened : event.opened) kept.push_back(opened.fd);
  long most = ::sysconf(_SC_OPEN_MAX);
  std::sort(kept.begin(), kept.end());
  unsigned from = 0;
  for (int fd : kept) {
    auto next = static_cast<unsigned>(fd);
    if (next > from) (void)::close_range(from, next - 1, 0);
    from = next + 1;
  }
  (void)::close_range(from, static_cast<unsigned>(most), 0);
  if (::chdir("/") != 0) ::_exit(0);
  ::_exit(0);
}

}  // namespace

void close_events(Capture& capture, Sys& sys) {
  bool slow = false;
  for (const CaptureEvent& event : capture.events) slow |= is_slow_to_close(event);
  capture.rings.reset();
  if (slow && ::fork() == 0) close_in_background(capture.events);
  for (CaptureEvent& event : capture.events) {
    for (const OpenedEvent& opened : event.opened) (void)sys.close(opened.fd);
    event.opened.clear();
  }
}

}  // namespace sonde
