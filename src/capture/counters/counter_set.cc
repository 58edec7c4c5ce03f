#include "capture/counters/counter_set.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/process/seccomp.h"
#include "capture/counters/count_config.h"
#include "capture/opening/event_closer.h"
#include "capture/opening/event_opener.h"
#include "capture/opening/event_switch.h"
#include "capture/opening/open_error.h"
#include "capture/opening/owned_events.h"
#include "event/pmu/pmu.h"

namespace sonde {
namespace {

void note(const CountOptions& options, Env& env, std::string_view text) {
  if (!options.quiet) env.err.write_lines(fmt::format("{}\n", text));
}

EventOpener::Listener listener_for(const CountOptions& options, Env& env) {
  EventOpener::Listener listener;
  if (options.verbose > 0)
    listener.note = [&](std::string_view text) {
      note(options, env, fmt::format("Warning:\n{}", text));
    };
  if (options.verbose > 1)
    listener.trace = [&env](std::string_view text) {
      env.err.write_lines(fmt::format("{}\n", text));
    };
  listener.thread_vanished = [&env](pid_t tid) {
    env.losses.add(LossKind::k_task_vanished, 1, fmt::format("thread {}", tid));
  };
  listener.threads_missed = [&env](size_t count) {
    env.losses.add(LossKind::k_task_missed, count);
  };
  return listener;
}

/// A table without a single number would look like a measurement.
Result<> check_supported(const std::vector<CaptureEvent>& events, const Target& target, Sys& sys) {
  std::string names;
  const CaptureEvent* stepped = nullptr;
  for (const CaptureEvent& event : events) {
    if (!event.is_unsupported) return {};
    if (event.attr().type == kSteppingPmuType) stepped = &event;
    names += (names.empty() ? "" : ", ") + event.parsed.name;
  }
  if (names.empty()) return {};
  if (stepped != nullptr)
    return std::unexpected(explain_open_failure(*stepped, target, ENOENT, /*paranoid=*/0));
  // A filter may answer as a kernel that does not know the call would.
  if (seccomp_refuses_events(sys))
    return fail(ErrorCode::kPermission, "cannot count {}: {}", names,
                seccomp_advice("perf_event_open"));
  return fail(
      ErrorCode::kUnsupported,
      "No supported events found: this machine does not count {}; `list` shows what it does",
      names);
}

}  // namespace

Result<CounterSet> CounterSet::open(const CountOptions& options, Env& env) {
  Capture capture;
  std::vector<std::string> messages;
  capture.target = TRY(resolve_count_target(options.target, messages));
  for (const std::string& message : messages) note(options, env, "Warning:\n" + message);
  capture.events = configure_counters(options, capture.target);
  TRY(assign_cgroups(options.cgroups, capture));
  if (!options.target.command.empty()) {
    capture.workload.emplace(TRY(Workload::fork(options.target.command, options.output_to_stdout)));
    if (capture.target.is_command()) capture.target.threads = {{capture.workload->pid(), {}}};
  }
  std::string said;
  std::optional<SyscallFamily> family =
      SyscallFamily::open(options, capture.target, capture.events, said);
  if (options.verbose > 0 && !said.empty()) note(options, env, said);
  said.clear();
  std::optional<TaskCounters> task_counters =
      TRY(TaskCounters::open(options, capture.target, capture.events, env, said));
  if (options.verbose > 0 && !said.empty()) note(options, env, said);
  EventOpener opener(env.sys, capture.target, listener_for(options, env),
                     {.counting = true, .needs_ids = options.to_file});
  TRY(opener.open(capture.events));
  TRY(check_supported(capture.events, capture.target, env.sys));
  TRY(apply_filters(env.sys, capture.events));
  if (options.made != nullptr) TRY(options.made->attach(env.sys, capture.events));
  return CounterSet(std::move(capture), std::move(family), std::move(task_counters), env);
}

std::vector<EventReadings> CounterSet::read() {
  std::vector<EventReadings> all(capture_.events.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const CaptureEvent& event = capture_.events[i];
    const Target& target = capture_.target;
    all[i].supported = !event.is_unsupported;
    all[i].cpus = cpus_of(event, target);
    all[i].values.resize(all[i].cpus.size() * target.threads.size());
  }
  if (task_counters_) task_counters_->catch_up();
  uint64_t family_ns = family_ ? family_->enabled_ns() : 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const CaptureEvent& event = capture_.events[i];
    if (event.is_in_family) {
      family_->read(event, family_ns, all[i]);
      continue;
    }
    if (event.by_task_counters) {
      task_counters_->read(i, all[i]);
      continue;
    }
    bool grouped = (event.attr().read_format & abi::kFormatGroup) != 0;
    if (!grouped)
      read_alone(i, all);
    else if (event.parsed.leader == i)
      read_group(i, all);
  }
  for (size_t i = 0; i < all.size(); ++i)
    if (waits_for_its_cpu(capture_.events[i]))
      for (CounterReading& value : all[i].values) value.enabled_ns = value.running_ns;
  return all;
}

/// A task's counter that is bound to a CPU does not run while the task is elsewhere. That is not
/// multiplexing to be scaled for: what it counted is all there was.
bool CounterSet::waits_for_its_cpu(const CaptureEvent& event) const {
  return capture_.target.kind != Target::Kind::kCpus && !event.parsed.terms.cpus.empty();
}

void CounterSet::read_alone(size_t event, std::vector<EventReadings>& all) {
  const std::vector<OpenedEvent>& opened = capture_.events[event].opened;
  std::vector<CounterReading>& values = all[event].values;
  for (size_t k = 0; k < opened.size() && k < values.size(); ++k) {
    uint64_t words[4] = {};
    SysResult<size_t> got = env_->sys.read(opened[k].fd, words, sizeof words);
    if (got && *got >= 3 * sizeof(uint64_t)) values[k] = {words[0], words[1], words[2]};
  }
}

/// The result of one read of the leader: the number of values, the two times, and for each opened
/// event its value and id.
void CounterSet::read_group(size_t leader, std::vector<EventReadings>& all) {
  std::vector<size_t> members;
  for (size_t i = leader; i < capture_.events.size(); ++i)
    if (capture_.events[i].parsed.leader == leader && !capture_.events[i].opened.empty())
      members.push_back(i);
  constexpr size_t kHead = 3, kPerValue = 2;
  buffer_.resize(kHead + kPerValue * members.size());
  const std::vector<OpenedEvent>& opened = capture_.events[leader].opened;
  for (size_t k = 0; k < opened.size(); ++k) {
    size_t size = buffer_.size() * sizeof(uint64_t);
    SysResult<size_t> got = env_->sys.read(opened[k].fd, buffer_.data(), size);
    if (!got || *got < size || buffer_[0] != members.size()) continue;
    for (size_t m = 0; m < members.size(); ++m)
      if (k < all[members[m]].values.size())
        all[members[m]].values[k] = {buffer_[kHead + kPerValue * m], buffer_[1], buffer_[2]};
  }
}

Result<> CounterSet::fetch_ids() {
  for (CaptureEvent& event : capture_.events)
    for (OpenedEvent& opened : event.opened) {
      SysResult<int> told =
          env_->sys.ioctl(opened.fd, PERF_EVENT_IOC_ID, reinterpret_cast<uint64_t>(&opened.id));
      if (!told)
        return fail(ErrorCode::kFailed, "failed to get the id of event {}: {}", event.parsed.name,
                    std::strerror(told.error()));
    }
  return {};
}

void CounterSet::set_enabled(bool on) {
  if (family_) family_->set_enabled(on);
  if (task_counters_) task_counters_->set_enabled(on);
  EventSwitch events(env_->sys, capture_.events);
  if (on)
    events.enable();
  else
    events.disable();
}

bool CounterSet::set_enabled(std::string_view name, bool on) {
  return EventSwitch(env_->sys, capture_.events).set_one(name, on);
}

void CounterSet::report_what_was_lost() {
  uint64_t lost = (family_ ? family_->tasks_not_followed() : 0) +
                  (task_counters_ ? task_counters_->tasks_not_followed() : 0);
  if (lost > 0) env_->losses.add(LossKind::k_task_not_followed, lost);
  family_.reset();
  if (task_counters_) task_counters_->close(env_->sys);
  task_counters_.reset();
}

void CounterSet::release() {
  report_what_was_lost();
  for (CaptureEvent& event : capture_.events) {
    for (const OpenedEvent& opened : event.opened) (void)env_->sys.close(opened.fd);
    event.opened.clear();
  }
}

void CounterSet::close() {
  report_what_was_lost();
  close_events(capture_, env_->sys);
}

}  // namespace sonde
