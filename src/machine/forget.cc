// Machine::forget_before: drops what a stream that is followed for days can do without.
#include <algorithm>

#include "machine/machine.h"

namespace sonde {
namespace {

/// Drops all changes that were superseded at `time` or before; calls `dropped` for each.
template <typename Change, typename Dropped>
void drop_old(std::vector<Change>& changes, uint64_t time, const Dropped& dropped) {
  auto old_end = changes.begin();
  while (changes.end() - old_end > 1 && std::next(old_end)->time <= time) ++old_end;
  std::for_each(changes.begin(), old_end, dropped);
  changes.erase(changes.begin(), old_end);
}

}  // namespace

void Machine::forget_before(uint64_t time) {
  tsl::robin_map<uint32_t, bool> lives;  // by process: whether any of its threads may still run
  for (auto entry = threads_.begin(); entry != threads_.end();) {
    Thread& thread = entry.value();
    bool gone = thread.exited && thread.exit_ns < time && entry.key() != 0;
    lives[thread.pid] |= !gone;
    if (!gone) drop_old(thread.comms, time, [](const CommChange&) {});
    entry = gone ? threads_.erase(entry) : std::next(entry);
  }
  for (auto entry = process_spaces_.begin(); entry != process_spaces_.end();) {
    auto drop = [this](const SpaceChange& change) { drop_space(change.space); };
    std::vector<SpaceChange>& changes = entry.value();
    auto alive = lives.find(entry.key());
    bool gone = alive != lives.end() && !alive->second;
    if (gone)
      std::ranges::for_each(changes, drop);
    else
      drop_old(changes, time, drop);
    if (gone) namespaces_.erase(entry.key());
    entry = gone ? process_spaces_.erase(entry) : std::next(entry);
  }
  for (auto entry = namespaces_.begin(); entry != namespaces_.end(); ++entry)
    drop_old(entry.value(), time, [](const NamespaceSet&) {});
  for (auto entry = running_.begin(); entry != running_.end(); ++entry)
    drop_old(entry.value(), time, [](const TaskChange&) {});
  for (Space& space : spaces_) space.memory.forget_before(time);
  freeze();
  collect_mappings();
}

void Machine::drop_space(SpaceId space) {
  spaces_[space.index()] = {};
  free_spaces_.push_back(space);
}

/// Frees mappings that no space refers to for reuse. Spaces must be frozen.
void Machine::collect_mappings() {
  std::vector<char> used(mappings_.size());
  for (const Space& space : spaces_)
    for (const AddressSpace::Piece& piece : space.memory.pieces()) used[piece.mapping.index()] = 1;
  free_mappings_.clear();
  for (size_t i = mappings_.size(); i-- > 0;)
    if (used[i] == 0) free_mappings_.push_back(MappingId(i));
}

}  // namespace sonde
