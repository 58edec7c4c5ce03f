#include "replay/branches/branch_counters.h"

#include <algorithm>

#include "base/printing/printable.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr uint64_t kMostBits = 8;  // processors have 2

/// 0: not said, or nothing that a processor has.
uint32_t width_in(const Features& features) {
  for (const PmuCaps& pmu : features.pmu_caps)
    for (const auto& [name, value] : pmu.caps)
      if (name == "branch_counter_width") {
        uint64_t width = parse_number(value).value_or(0);
        return width <= kMostBits ? static_cast<uint32_t>(width) : 0;
      }
  return 0;
}

}  // namespace

BranchCounters::BranchCounters(const Recording& recording)
    : recording_(recording), width_(width_in(recording.features())) {
  if (width_ == 0) return;
  std::span<const EventDesc> events = recording.events().all();
  char letter = 'A';
  for (size_t i = 0; i < events.size(); ++i) {
    if ((events[i].attr.branch_sample_type & abi::kBranchCounters) == 0) continue;
    uint32_t place = 0;
    for (const Counter& earlier : counters_)
      if (events[earlier.event.index()].leader == events[i].leader) ++place;
    if ((place + 1) * width_ > 64) continue;
    counters_.push_back({.event = EventId(i), .place = place, .letter = letter});
    if (letter < 'Z') ++letter;
  }
  std::ranges::stable_sort(counters_, {}, [&](const Counter& counter) {
    return events[counter.event.index()].leader.index();
  });
}

std::span<const BranchCounters::Counter> BranchCounters::of(EventId sampled) const {
  const EventTable& events = recording_.events();
  EventId leader = events[sampled].leader;
  auto same = std::ranges::equal_range(counters_, leader.index(), {}, [&](const Counter& counter) {
    return events[counter.event].leader.index();
  });
  return {same.begin(), same.end()};
}

std::string BranchCounters::text(std::span<const Counter> counters, std::span<const Sum> sums,
                                 bool as_numbers) const {
  constexpr uint64_t kMostLetters = 7;
  bool letters = !as_numbers && most() <= kMostLetters;
  std::string text = letters ? "|" : "";
  for (size_t i = 0; i < counters.size(); ++i) {
    const Sum& sum = sums[i];
    uint64_t average = sum.passes == 0 ? 0 : (sum.count + sum.passes - 1) / sum.passes;
    std::string value = letters        ? std::string(average, counters[i].letter)
                        : average == 0 ? "-"
                                       : fmt::format("{}", average);
    if (letters && average == 0) value = "-";
    if (sum.may_be_more) value += '+';
    if (letters)
      text += fmt::format("{:<{}}|", value, most() + 1);
    else
      text += fmt::format("{}{}={:<2}", i == 0 ? "" : ",", counters[i].letter, value);
  }
  return text;
}

std::string BranchCounters::legend() const {
  if (counters_.empty()) return {};
  std::string text = "# Branch counter abbr list:\n";
  for (const Counter& counter : counters_)
    text += fmt::format("# {} = {}\n", printable(recording_.events()[counter.event].name),
                        counter.letter);
  return text +
         "# '-' No event occurs\n"
         "# '+' Event occurrences may be lost due to branch counter saturated\n";
}

}  // namespace sonde
