#include "cmd/options/memory_event_flags.h"

#include <algorithm>

namespace sonde {

void MemoryEventFlags::declare(FlagTable& flags, Letters letters) {
  flags.call('e', "event", "event",
             "sample these memory events (list names those of this machine), or others that have "
             "addresses",
             [this](std::string_view event) -> Result<> {
               if (event == "list")
                 list_wanted_ = true;
               else
                 chosen_.emplace_back(event);
               return {};
             });
  flags.number(letters.load_latency, "ldlat", load_latency_, "n",
               "loads that took fewer cycles are not sampled (default: 30)");
  flags.boolean(letters.all_kernel, "all-kernel", all_kernel_, "sample only in kernel mode");
  flags.boolean(letters.all_user, "all-user", all_user_, "sample only in user mode");
}

Result<int> MemoryEventFlags::list(Env& env) const {
  std::vector<MemoryEvent> events = memory_events(load_latency_);
  if (events.empty()) TRY(choose_memory_events(events, {}));  // says what is missing
  for (const MemoryEvent& event : events)
    env.out.print("{:<13}  {} : available\n", event.name, event.event);
  return 0;
}

Result<> MemoryEventFlags::append_words(MemoryOperations operations,
                                        std::vector<std::string>& words) const {
  std::vector<MemoryEvent> known = memory_events(load_latency_);
  std::vector<std::string> events;
  for (const std::string& word : chosen_) {
    auto found = std::ranges::find(known, word, &MemoryEvent::name);
    events.push_back(found == known.end() ? word : found->event);
  }
  if (chosen_.empty())
    for (const MemoryEvent& event : TRY(choose_memory_events(known, operations)))
      events.push_back(event.event);
  for (std::string& event : events) words.push_back("--event=" + event);
  if (all_kernel_) words.emplace_back("--all-kernel");
  if (all_user_) words.emplace_back("--all-user");
  return {};
}

}  // namespace sonde
