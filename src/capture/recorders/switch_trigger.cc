#include "capture/recorders/switch_trigger.h"

#include "capture/opening/cpu_map.h"
#include "capture/opening/event_config.h"
#include "capture/opening/event_switch.h"

namespace sonde {

Result<SwitchTrigger> SwitchTrigger::open(const EventList& list, Env& env) {
  SwitchTrigger trigger(env.sys);
  trigger.target_.cpus = TRY(online_cpus());
  trigger.target_.threads = {ThreadEntry{}};
  SamplingOptions every;
  every.no_buffering = true;
  every.period = 1;
  trigger.events_ = configure_events(list, every,
                                     {.target = trigger.target_,
                                      .delayed = false,
                                      .rate = {.freq = 0, .period = 1, .given = false}});
  std::erase_if(trigger.events_, [](const CaptureEvent& event) { return event.is_added; });
  for (CaptureEvent& event : trigger.events_) {
    event.is_immediate = false;
    event.attr().disabled = 1;
  }
  EventOpener opener(env.sys, trigger.target_, {});
  TRY(opener.open(trigger.events_));
  constexpr size_t kPages = 4;
  trigger.rings_ = TRY(RingSet::create(env.sys, trigger.events_, kPages, false));
  return trigger;
}

SwitchTrigger::~SwitchTrigger() {
  rings_.reset();
  for (const CaptureEvent& event : events_)
    for (const OpenedEvent& opened : event.opened) (void)sys_->close(opened.fd);
}

void SwitchTrigger::enable() {
  EventSwitch(*sys_, events_).enable();
}

std::vector<int> SwitchTrigger::fds() const {
  std::vector<int> fds;
  for (const CaptureRing& ring : rings_->rings()) fds.push_back(ring.buffer.fd());
  return fds;
}

bool SwitchTrigger::take() {
  bool any = false;
  for (CaptureRing& ring : rings_->rings()) {
    any |= !ring.buffer.peek().empty();
    ring.buffer.consume();
  }
  return any;
}

}  // namespace sonde
