#include "analysis/latencies/event_pairing.h"

namespace sonde {

size_t EventPairing::KeyHash::operator()(const PairKey& key) const {
  uint64_t hash = 0;
  for (uint64_t part : key) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

uint32_t EventPairing::take_place() {
  ++open_;
  if (first_free_ == kNone) {
    begins_.emplace_back();
    return static_cast<uint32_t>(begins_.size() - 1);
  }
  uint32_t place = first_free_;
  first_free_ = begins_[place].outer;
  return place;
}

void EventPairing::free_place(uint32_t place) {
  --open_;
  begins_[place].outer = first_free_;
  first_free_ = place;
}

void EventPairing::begin(const PairKey& key, uint64_t time_ns) {
  auto [entry, is_new] = innermost_.try_emplace(key, kNone);
  uint32_t& innermost = entry.value();
  if (innermost != kNone && nesting_ == Nesting::kNone) {
    ++counts_.replaced;
    begins_[innermost].time_ns = time_ns;
    return;
  }
  uint32_t place = take_place();
  begins_[place] = {time_ns, innermost};
  innermost = place;
}

std::optional<uint64_t> EventPairing::end(const PairKey& key, uint64_t time_ns) {
  auto found = innermost_.find(key);
  if (found == innermost_.end()) {
    ++counts_.ends_alone;
    return std::nullopt;
  }
  Begin begin = begins_[found->second];
  free_place(found->second);
  // Keys such as sectors occur once, so a key with nothing open is forgotten.
  if (begin.outer == kNone)
    innermost_.erase(found);
  else
    found.value() = begin.outer;
  if (time_ns < begin.time_ns) {
    ++counts_.backward;
    return std::nullopt;
  }
  ++counts_.pairs;
  return time_ns - begin.time_ns;
}

}  // namespace sonde
