// MappedRanges: what is mapped where in one process, as its latest mapping records say. Adding a
// range and looking one up take logarithmic time: a process may map 100,000 pieces of code within
// a second.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace sonde {

class MappedRanges {
 public:
  /// Replaces whatever overlaps [start, end).
  void add(uint64_t start, uint64_t end, uint32_t object);
  /// The object of the last range that begins before `end`, if it reaches beyond `begin`.
  [[nodiscard]] std::optional<uint32_t> find(uint64_t begin, uint64_t end) const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    uint64_t end;
    uint32_t object;
  };
  std::map<uint64_t, Range> ranges_;  // by start; disjoint
};

}  // namespace sonde
