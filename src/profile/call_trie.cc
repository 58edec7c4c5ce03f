#include "profile/call_trie.h"

#include "base/check.h"

namespace sonde {

/// Continues the path that was appended last with these keys, as a run of its own.
uint32_t CallTrie::open(std::span<const uint32_t> keys) {
  CHECK(keys_.size() + keys.size() < kNone);
  bool is_root = open_.empty();
  open_.push_back({.first = static_cast<uint32_t>(keys_.size()),
                   .parent = is_root ? kNone : open_.back().last(),
                   .nodes = static_cast<uint32_t>(keys.size()),
                   .depth = is_root ? 0 : open_.back().depth + open_.back().nodes});
  keys_.insert(keys_.end(), keys.begin(), keys.end());
  return open_.back().last();
}

size_t CallTrie::steps_in_common(std::span<const uint32_t> path) const {
  CHECK(!open_.empty());
  size_t same = 0;
  for (const OpenRun& run : std::span(open_).subspan(1))
    for (uint32_t node = run.first; node <= run.last(); ++node, ++same)
      if (same == path.size() || keys_[node] != path[same]) return same;
  return same;
}

void CallTrie::add_run(uint32_t first, uint32_t parent) {
  runs_.push_back({first, parent, static_cast<uint32_t>(keys_.size())});
}

LargeVector<uint32_t> CallTrie::number_runs() {
  first_nodes_.resize(keys_.size() / 64 + 1);
  for (const Run& run : runs_) first_nodes_[run.first / 64].bits |= uint64_t{1} << run.first % 64;
  uint32_t before = 0;
  for (Word& word : first_nodes_) {
    word.before = before;
    before += static_cast<uint32_t>(std::popcount(word.bits));
  }
  LargeVector<uint32_t> numbers;
  numbers.reserve(runs_.size());
  LargeVector<Run> sorted(runs_.size());
  for (const Run& run : runs_) {
    numbers.push_back(run_of(run.first));
    sorted[numbers.back()] = run;
  }
  runs_ = std::move(sorted);
  return numbers;
}

uint32_t CallTrie::child_towards(uint32_t node, uint32_t descendant) const {
  for (;;) {
    const Run& run = runs_[run_of(descendant)];
    if (run.first <= node) return node + 1;
    if (run.parent == node) return run.first;
    descendant = run.parent;
  }
}

}  // namespace sonde
