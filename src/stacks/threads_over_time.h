// Which thread of a profile a number stood for at a time: a thread that had several names, one
// after the other, is several threads of the profile. For what else is known by thread number, as
// the scheduler's events are. A name is known from its first sample on.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "stacks/stack_profile.h"

namespace sonde {

class ThreadsOverTime {
 public:
  explicit ThreadsOverTime(const StackProfile& profile) {
    const StackSamples& samples = profile.samples;
    for (size_t i = 0; i < samples.size(); ++i) {
      uint32_t thread = samples.thread[i];
      if (thread >= profile.threads.size()) continue;
      std::vector<Change>& changes = changes_[profile.threads[thread].tid];
      if (changes.empty() || changes.back().thread != thread)
        changes.push_back({samples.time_ns[i], thread});
    }
    // Those without samples.
    for (size_t i = 0; i < profile.threads.size(); ++i)
      if (auto& changes = changes_[profile.threads[i].tid]; changes.empty())
        changes.push_back({0, static_cast<uint32_t>(i)});
  }

  /// An index into StackProfile::threads; nothing if the profile has no such thread.
  [[nodiscard]] std::optional<uint32_t> at(uint32_t tid, uint64_t time_ns) const {
    auto found = changes_.find(tid);
    if (found == changes_.end()) return std::nullopt;
    const std::vector<Change>& changes = found->second;
    auto after = std::ranges::upper_bound(changes, time_ns, {}, &Change::time_ns);
    return after == changes.begin() ? after->thread : std::prev(after)->thread;
  }

 private:
  struct Change {
    uint64_t time_ns;
    uint32_t thread;
  };
  tsl::robin_map<uint32_t, std::vector<Change>, NumberHash> changes_;  // by tid
};

}  // namespace sonde
