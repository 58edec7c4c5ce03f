#include "sched/switch_stacks.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::string_view kSwitch = "sched:sched_switch";

bool is_of_scheduler(std::string_view symbol) {
  return symbol == "schedule" || symbol == "__schedule" || symbol == "preempt_schedule";
}

}  // namespace

bool SwitchStacks::are_in(const EventTable& events) {
  return std::ranges::any_of(events.all(), [](const EventDesc& event) {
    return event.name == kSwitch && (event.attr.sample_type & abi::kSampleCallchain) != 0;
  });
}

SwitchStacks::SwitchStacks(const Session& session) : session_(session) {
  const SampleColumns& samples = session.samples();
  for (size_t i = 0; i < samples.size(); ++i) {
    if (session.events()[EventId(size_t{samples.event[i]})].name != kSwitch) continue;
    ChainId chain = samples.chain[i];
    if (chain.valid()) chains_.insert({session.record(i).raw().data(), chain.value});
  }
}

std::string_view SwitchStacks::text(const SchedEvent& event) {
  auto found = chains_.find(event.record);
  if (found == chains_.end()) return {};
  size_t chain = found->second;
  if (chain >= texts_.size()) {
    texts_.resize(std::max<size_t>(chain + 1, session_.chains().size()));
    is_spelled_.resize(texts_.size());
  }
  if (std::exchange(is_spelled_[chain], 1) == 0) texts_[chain] = spell(ChainId(chain));
  return texts_[chain];
}

std::string SwitchStacks::spell(ChainId chain) const {
  std::string text;
  for (FrameId id : session_.chains()[chain]) {
    const Frame& frame = session_.frame(id);
    std::string_view name = "[unknown]";
    if (frame.symbol.valid()) name = session_.symbolizer().name(frame.symbol);
    if (is_of_scheduler(name)) continue;
    if (!text.empty()) text += " <-";
    text += ' ';
    text += name;
  }
  return text;
}

}  // namespace sonde
