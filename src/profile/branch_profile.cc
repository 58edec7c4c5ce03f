#include "profile/branch_profile.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde {
namespace {

// Between two taken branches; more is a stack that has entries of before and after a gap.
constexpr uint64_t kLongestRange = uint64_t{1} << 20;  // bytes

/// Where a sample's branches begin and end: in a loop, the same few places many times.
class PlaceCache {
 public:
  explicit PlaceCache(const SampleDetails& details) : details_(details) {}

  const Frame& at(uint32_t sample, uint64_t address) {
    Slot& slot = slots_[(address ^ address >> kBits) % kSlots];
    if (slot.sample != sample || slot.address != address)
      slot = {sample, address, details_.resolve_anywhere(sample, address)};
    return slot.frame;
  }

 private:
  static constexpr size_t kSlots = 256, kBits = 8;
  struct Slot {
    uint32_t sample = UINT32_MAX;
    uint64_t address = 0;
    Frame frame;
  };
  const SampleDetails& details_;
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
};

void put_in_order(std::vector<BranchProfile::Pair>& pairs) {
  std::ranges::sort(pairs, {},
                    [](const BranchProfile::Pair& pair) { return std::tuple(pair.from, pair.to); });
}

}  // namespace

std::vector<BranchProfile::Object> BranchProfile::by_object() const {
  std::map<uint32_t, Object> found;
  auto take = [&](const Interner& keys, const std::vector<uint64_t>& counts, auto member) {
    for (uint32_t id = 0; id < counts.size(); ++id) {
      std::span<const uint64_t> key = keys.at(id);
      (found[static_cast<uint32_t>(key[0])].*member).push_back({key[1], key[2], counts[id]});
    }
  };
  take(ranges_, range_counts_, &Object::ranges);
  take(branches_, branch_counts_, &Object::branches);
  std::vector<Object> objects;
  for (auto& [dso, object] : found) {
    object.dso.value = dso;
    put_in_order(object.ranges);
    put_in_order(object.branches);
    for (const Pair& branch : object.branches) object.taken += branch.count;
    objects.push_back(std::move(object));
  }
  std::ranges::stable_sort(objects, std::greater(), &Object::taken);
  return objects;
}

BranchProfile profile_branches(const ProfileInput& input, BranchTotals& totals) {
  BranchProfile counts;
  PlaceCache places(input.details);
  Sample sample;
  for (uint32_t i = 0; i < input.samples.size(); ++i) {
    if (!input.details.decode(i, sample) || sample.branch_count() == 0) continue;
    ++totals.samples;
    // The newest first.
    uint64_t next_from = 0;
    for (size_t b = 0; b < sample.branch_count(); ++b) {
      abi::BranchEntry branch = sample.branch(b);
      Frame from = places.at(i, branch.from), to = places.at(i, branch.to);
      if (from.dso.valid())
        counts.add_branch(from.dso, from.address, from.dso == to.dso ? to.address : 0);
      if (b > 0 && to.dso.valid()) {
        bool is_possible = next_from >= branch.to && next_from - branch.to <= kLongestRange;
        if (is_possible)
          counts.add_range(to.dso, to.address, to.address + (next_from - branch.to));
        else
          ++totals.broken;
      }
      next_from = branch.from;
    }
  }
  return counts;
}

}  // namespace sonde
