#include "export/layout/function_flow.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace sonde {
namespace {

/// Adds up counts of the same way.
template <typename Way>
void merge(std::vector<Way>& ways) {
  std::ranges::sort(ways, {}, [](const Way& way) { return std::tuple(way.from, way.to); });
  size_t kept = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (kept > 0 && ways[kept - 1].from == ways[i].from && ways[kept - 1].to == ways[i].to)
      ways[kept - 1].count += ways[i].count;
    else
      ways[kept++] = ways[i];
  }
  ways.resize(kept);
}

class FlowCounter {
 public:
  FlowCounter(const SegmentMap& segments, const BasicBlockMap& map)
      : segments_(segments), map_(map) {
    for (uint32_t f = 0; f < map.functions().size(); ++f)
      for (uint32_t b = 0; b < map.functions()[f].count; ++b) places_.push_back(place(f, b));
    // A block without code lies in front of what has its address.
    std::ranges::sort(places_, {}, [](const Place& place) {
      return std::tuple(place.start, place.end, place.function, place.block);
    });
    for (size_t i = 0; i + 1 < places_.size(); ++i) {
      bool is_padded = places_[i].function == places_[i + 1].function &&
                       places_[i + 1].start - places_[i].end < kLongestPadding;
      if (is_padded) places_[i].end = places_[i + 1].start;
    }
    begun_.resize(places_.size());
    passed_.resize(places_.size() + 1);
    arrived_.resize(places_.size());
    edges_.resize(map.functions().size());
  }

  ProgramFlow count(const BranchProfile::Object& object) && {
    for (const BranchProfile::Pair& branch : object.branches) add_branch(branch);
    for (const BranchProfile::Pair& range : object.ranges) add_range(range);
    take_ranges();
    merge(flow_.calls);
    return std::move(flow_);
  }

 private:
  /// A block, and where it is.
  struct Place {
    uint64_t start = 0, end = 0;
    uint32_t function = 0, block = 0;
  };
  static constexpr size_t kNowhere = SIZE_MAX;
  /// Between blocks, to align them: calls that end a block return there.
  static constexpr uint64_t kLongestPadding = 256;

  [[nodiscard]] Place place(uint32_t function, uint32_t block) const {
    const BasicBlock& at = map_.blocks(map_.functions()[function])[block];
    return {at.addr.value, at.addr.value + at.size, function, block};
  }
  [[nodiscard]] const BasicBlock& block_at(size_t place) const {
    return map_.blocks(map_.functions()[places_[place].function])[places_[place].block];
  }
  /// The index of the place that has the byte at an offset of the file.
  [[nodiscard]] size_t find(uint64_t offset) const {
    std::optional<ElfAddr> addr = segments_.addr_of(FileOffset(offset));
    if (!addr) return kNowhere;
    auto next = std::ranges::upper_bound(places_, addr->value, {}, &Place::start);
    if (next == places_.begin() || addr->value >= std::prev(next)->end) return kNowhere;
    return static_cast<size_t>(next - places_.begin()) - 1;
  }
  [[nodiscard]] bool is_start(size_t place, uint64_t offset) const {
    return segments_.addr_of(FileOffset(offset)) == ElfAddr(places_[place].start);
  }

  void add_branch(const BranchProfile::Pair& branch) {
    size_t from = find(branch.from), to = branch.to == 0 ? kNowhere : find(branch.to);
    if (from == kNowhere) flow_.unmapped += branch.count;
    if (to == kNowhere || !is_start(to, branch.to)) return;
    const Place& target = places_[to];
    bool is_same_function = from != kNowhere && places_[from].function == target.function;
    if (target.block == 0) {
      arrived_[to] += branch.count;
      if (from != kNowhere && !is_same_function)
        flow_.calls.push_back({places_[from].function, target.function, branch.count});
    } else if (is_same_function && !block_at(from).returns) {
      arrived_[to] += branch.count;
      edges_[target.function].push_back({places_[from].block, target.block, branch.count});
    } else if (!block_at(to).is_landing_pad && to > 0 && places_[to - 1].end == target.start &&
               places_[to - 1].function == target.function) {
      // Back from a call that ends the block in front.
      arrived_[to] += branch.count;
      edges_[target.function].push_back({places_[to - 1].block, target.block, branch.count});
    }
  }

  void add_range(const BranchProfile::Pair& range) {
    size_t first = find(range.from), last = find(range.to);
    if (first == kNowhere || last == kNowhere || last < first) return;
    if (is_start(first, range.from)) begun_[first] += range.count;
    passed_[first + 1] += range.count;
    passed_[last + 1] -= range.count;  // wraps, and back in the sum
  }

  void take_ranges() {
    std::vector<FunctionFlow> flows(map_.functions().size());
    uint64_t passing = 0;  // that come from the place before
    for (size_t i = 0; i < places_.size(); ++i) {
      passing += passed_[i];
      const Place& place = places_[i];
      bool falls = i > 0 && places_[i - 1].function == place.function;
      if (passing > 0 && !falls) flow_.strayed += passing;
      if (passing > 0 && falls)
        edges_[place.function].push_back({places_[i - 1].block, place.block, passing});
      uint64_t arrived = arrived_[i] + (falls ? passing : 0);
      uint64_t runs = std::max(begun_[i] + passing, arrived);
      if (runs == 0) continue;
      FunctionFlow& flow = flows[place.function];
      flow.counts.resize(map_.functions()[place.function].count);
      flow.counts[place.block] = runs;
    }
    for (uint32_t f = 0; f < flows.size(); ++f) {
      if (flows[f].counts.empty()) continue;
      merge(edges_[f]);
      flows[f].function = f;
      flows[f].edges = std::move(edges_[f]);
      flow_.functions.push_back(std::move(flows[f]));
    }
  }

  const SegmentMap& segments_;
  const BasicBlockMap& map_;
  std::vector<Place> places_;  // by address
  // By place: stretches that begin with it; those that pass its start, as differences between
  // neighbours; branches to it.
  std::vector<uint64_t> begun_, passed_, arrived_;
  std::vector<std::vector<FunctionFlow::Edge>> edges_;  // by function
  ProgramFlow flow_;
};

}  // namespace

ProgramFlow flow_of(const BranchProfile::Object& object, const SegmentMap& segments,
                    const BasicBlockMap& map) {
  return FlowCounter(segments, map).count(object);
}

}  // namespace sonde
