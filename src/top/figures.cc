#include "top/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "perfdata/header/dummy_event.h"
#include "replay/frames/idle_frames.h"

namespace sonde::top {
namespace {

bool is_precise(const EventTable& events) {
  return std::ranges::any_of(events.all(),
                             [](const EventDesc& event) { return event.attr.precise_ip > 0; });
}

}  // namespace

std::string heading(const TopFigures& figures) {
  std::string line = fmt::format(
      "   PerfTop:{:8.0f} irqs/sec  kernel:{:4.1f}%  exact: {:4.1f}% lost: {}/{} drop: 0/0 ",
      figures.rate(), figures.kernel_percent(), figures.exact_percent(), figures.lost,
      figures.lost_before + figures.lost);
  if (!figures.events.empty()) line += figures.events + ", ";
  return line + figures.target;
}

void count_interval(const Session& session, TopFigures& figures) {
  const SampleColumns& samples = session.samples();
  figures.lost_before += figures.lost;
  figures.lost = session.counts().lost.records();
  figures.samples = samples.size();
  figures.kernel = figures.exact = figures.idle = 0;
  std::vector<uint8_t> idle = frames_of_idle_functions(session);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples.cpu_mode[i] == abi::kMiscKernel) ++figures.kernel;
    if (samples.leaf[i].valid()) figures.idle += idle[samples.leaf[i].index()];
  }
  if (is_precise(session.events()))
    for (size_t i = 0; i < samples.size(); ++i)
      if ((session.record(i).misc & abi::kMiscExactIp) != 0) ++figures.exact;
}

std::string event_text(const EventTable& events) {
  const EventDesc* only = nullptr;
  for (const EventDesc& event : events.all()) {
    if (is_dummy(event.attr)) continue;
    if (only != nullptr) return {};
    only = &event;
  }
  if (only == nullptr) return {};
  return fmt::format("[{}{} {}]", only->attr.sample_period, only->attr.freq != 0 ? "Hz" : "",
                     only->name);
}

std::string target_text(const TargetOptions& target, size_t cpus) {
  std::string text = " (all";
  if (!target.pids.empty())
    text = " (target_pid: " + target.pids;
  else if (!target.tids.empty())
    text = " (target_tid: " + target.tids;
  else if (!target.user.empty())
    text = " (uid: " + target.user;
  if (!target.cpus.empty()) return fmt::format("{}, CPU: {})", text, target.cpus);
  if (target.has_task()) return text + ")";
  return fmt::format("{}, {} CPU{})", text, cpus, cpus == 1 ? "" : "s");
}

}  // namespace sonde::top
