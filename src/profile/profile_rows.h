// The third pass of a profile: turns the prefix tree into the rows of a report.
#pragma once

#include "profile/path_tree.h"

namespace sonde {

struct Row {
  uint32_t group;
  uint32_t place_key;
  uint32_t self_count = 0;             // samples
  uint32_t first_sample = UINT32_MAX;  // the row's earliest sample by time
  uint32_t first_step = 0;  // step of that sample's path that made the row: 0 is its own place
  uint32_t max_depth = 0;   // of the call paths under the row, in frames
  bool hidden = false;      // its first sample was hidden, or it was itself (ProfileOptions)
  uint64_t self = 0;        // period
  uint64_t children = 0;    // period of all samples whose path contains it, including its own
};

/// A list of numbers per row.
class SpanTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  SpanTable() = default;
  /// The number of each entry is its index in `owner_of`, plus those that have an owner (less than
  /// `owners`; otherwise kNone) in their order.
  SpanTable(std::span<const uint32_t> owner_of, size_t owners);
  [[nodiscard]] std::span<const uint32_t> operator[](size_t owner) const {
    return {numbers_.data() + starts_[owner], starts_[owner + 1] - starts_[owner]};
  }

 private:
  std::vector<uint32_t> starts_{0};
  LargeVector<uint32_t> numbers_;
};

struct ProfileRows {
  LargeVector<Row> rows;
  std::vector<ModePeriods> modes;      // by row; if requested
  std::vector<SourcePeriods> sources;  // the same
  std::vector<uint32_t> root_of_row;   // CallTrie::kNone if it has none
  SpanTable own_ends;
  SpanTable occurrences;
};

/// Also fills in the rows of the tree's path ends. `places`: number of place keys.
[[nodiscard]] ProfileRows build_rows(PathTree& tree, const PathFrames& frames, size_t places,
                                     const ProfileOptions& options, const SampleColumns& samples);

}  // namespace sonde
