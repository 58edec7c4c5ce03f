#include "sched/event_stacks.h"

#include <algorithm>
#include <array>

namespace sonde {
namespace {

constexpr std::array<std::string_view, 1> kSwitch{"sched:sched_switch"};
constexpr std::array<std::string_view, 3> kScheduler{"schedule", "__schedule", "preempt_schedule"};

}  // namespace

bool StackSubject::has_event(std::string_view name) const {
  return std::ranges::find(events, name) != events.end();
}

bool StackSubject::leaves_out(std::string_view function) const {
  return std::ranges::find(left_out, function) != left_out.end();
}

StackSubject switch_stacks() {
  return {kSwitch, kScheduler};
}

bool EventStacks::are_in(const EventTable& events, const StackSubject& subject) {
  return std::ranges::any_of(events.all(), [&](const EventDesc& event) {
    return subject.has_event(event.name) && (event.attr.sample_type & abi::kSampleCallchain) != 0;
  });
}

EventStacks::EventStacks(const Session& session, const StackSubject& subject)
    : session_(session), subject_(subject) {
  std::vector<char> is_wanted;
  for (const EventDesc& event : session.events().all())
    is_wanted.push_back(subject.has_event(event.name) ? 1 : 0);
  const SampleColumns& samples = session.samples();
  for (size_t i = 0; i < samples.size(); ++i) {
    if (is_wanted[samples.event[i]] == 0) continue;
    ChainId chain = samples.chain[i];
    if (chain.valid()) chains_.insert({session.record(i).raw().data(), chain.value});
  }
}

std::string_view EventStacks::text(const std::byte* record) {
  auto found = chains_.find(record);
  if (found == chains_.end()) return {};
  size_t chain = found->second;
  if (chain >= texts_.size()) {
    texts_.resize(std::max<size_t>(chain + 1, session_.chains().size()));
    is_spelled_.resize(texts_.size());
  }
  if (std::exchange(is_spelled_[chain], 1) == 0) texts_[chain] = spell(ChainId(chain));
  return texts_[chain];
}

std::string EventStacks::spell(ChainId chain) const {
  std::string text;
  for (FrameId id : session_.chains()[chain]) {
    const Frame& frame = session_.frame(id);
    std::string_view name = "[unknown]";
    if (frame.symbol.valid()) name = session_.symbolizer().name(frame.symbol);
    if (subject_.leaves_out(name)) continue;
    if (!text.empty()) text += " <-";
    text += ' ';
    text += name;
  }
  return text;
}

}  // namespace sonde
