#include "profile/branch_profile.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "replay/branches/branch_places.h"
#include "replay/branches/coverage.h"

namespace sonde {
namespace {

void put_in_order(std::vector<BranchProfile::Pair>& pairs) {
  std::ranges::sort(pairs, {},
                    [](const BranchProfile::Pair& pair) { return std::tuple(pair.from, pair.to); });
}

}  // namespace

std::vector<BranchProfile::Object> BranchProfile::by_object() const {
  std::map<uint32_t, Object> found;
  auto take = [&](const Interner& keys, const std::vector<Count>& counts, auto member) {
    for (uint32_t id = 0; id < counts.size(); ++id) {
      std::span<const uint64_t> key = keys.at(id);
      (found[static_cast<uint32_t>(key[0])].*member)
          .push_back({key[1], key[2], counts[id].times, counts[id].mispredicted});
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

BranchProfile profile_branches(const Session& session, BranchTotals& totals) {
  BranchProfile counts;
  BranchPlaces places(session);
  Sample sample;
  for (size_t i = 0; i < session.samples().size(); ++i) {
    if (!session.decode(i, sample) || sample.branch_count() == 0) continue;
    ++totals.samples;
    // The newest first.
    uint64_t next_from = 0;
    for (size_t b = 0; b < sample.branch_count(); ++b) {
      abi::BranchEntry branch = sample.branch(b);
      Frame from = places.at(i, branch.from), to = places.at(i, branch.to);
      if (from.dso.valid())
        counts.add_branch(from.dso, from.address, from.dso == to.dso ? to.address : 0,
                          branch.mispredicted());
      if (b > 0 && to.dso.valid()) {
        bool is_possible = next_from >= branch.to && next_from - branch.to <= kLongestStretch;
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
