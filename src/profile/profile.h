// Profile: the samples of one event, grouped into the rows of a report, and the call paths that
// lead to them.
//
// A sample belongs to the row of its own place (self). With `children` it also belongs, once each,
// to the rows of all places on its call path: a row's `children` is the weight of the samples below
// it. Law 1: the self weights of all rows sum to the weight of the samples passed in.
//
//   ProfileOptions options{.children = true, .call_graph = true};
//   Profile profile = build_profile(input, keys, samples, options);
//   for (const Row& row : profile.rows()) …
//
// The order of the rows is unspecified; table_rows.h sorts them. Nothing is done per sample and
// frame: samples with the same call chain are summed first, and chains share a prefix tree.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "profile/keys/key_set.h"
#include "profile/profile_rows.h"

namespace sonde {

class Profile {
 public:
  [[nodiscard]] const LargeVector<Row>& rows() const { return rows_.rows; }
  [[nodiscard]] const ProfileTotals& totals() const { return totals_; }
  [[nodiscard]] const ProfileOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<ModePeriods>& mode_periods() const { return rows_.modes; }
  /// By row, if the options say so.
  [[nodiscard]] const std::vector<SourcePeriods>& source_periods() const { return rows_.sources; }

  // The input of call_tree.h. With `children` the trie has one root per group, otherwise one per
  // row.
  [[nodiscard]] const CallTrie& trie() const { return tree_.trie; }
  [[nodiscard]] const PathFrames& frames() const { return *frames_; }
  /// In node order.
  [[nodiscard]] const LargeVector<PathEnd>& ends() const { return tree_.ends; }
  [[nodiscard]] uint64_t period_below(uint32_t node) const { return sums_at(node).period; }
  [[nodiscard]] uint32_t count_below(uint32_t node) const { return sums_at(node).count; }
  /// The root of the row's own paths; CallTrie::kNone if it has none.
  [[nodiscard]] uint32_t root_of(size_t row) const { return rows_.root_of_row[row]; }
  /// The path ends whose own place is this row's.
  [[nodiscard]] std::span<const uint32_t> own_ends(size_t row) const { return rows_.own_ends[row]; }
  /// The samples of a path end; only if the options keep them. By branch, a sample is there once
  /// for each of its branches in the row.
  [[nodiscard]] std::span<const EndSample> members(uint32_t end) const {
    auto [first, last] = std::ranges::equal_range(tree_.members, end, {}, &EndSample::end);
    return {first, last};
  }
  /// The nodes where this row's place first occurs on a path; only with `children`.
  [[nodiscard]] std::span<const uint32_t> occurrences(size_t row) const {
    return rows_.occurrences[row];
  }

 private:
  friend Profile build_profile(const ProfileInput& input, KeySet& keys,
                               std::span<const uint32_t> samples, ProfileOptions options);
  Profile() = default;
  [[nodiscard]] const PathSums& sums_at(uint32_t node) const {
    return tree_.sums[tree_.trie.run_of(node)];
  }

  ProfileOptions options_;
  ProfileTotals totals_;
  std::unique_ptr<PathFrames> frames_;
  PathTree tree_;
  ProfileRows rows_;
};

/// `samples`: indices into the columns, in any order. `keys` must be sealed and outlive the
/// profile.
[[nodiscard]] Profile build_profile(const ProfileInput& input, KeySet& keys,
                                    std::span<const uint32_t> samples, ProfileOptions options);

}  // namespace sonde
