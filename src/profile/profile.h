// Profile: the samples of one event, grouped into the rows of a report, and the call paths that
// lead to them.
//
// A sample belongs to the row of its own place (self). With `children` it also belongs, once each,
// to the rows of all places on its call path: `children` of a row is what the samples below it
// weigh. Law 1: the self weights of all rows sum to the weight of the samples that were given.
//
//   ProfileOptions options{.children = true, .call_graph = true};
//   Profile profile = build_profile(input, keys, samples, options);
//   for (const Row& row : profile.rows()) …
//
// The order of the rows means nothing; table_rows.h sorts them. Nothing is done per sample and
// frame: samples with one call chain are added up first, and chains share a prefix tree.
#pragma once

#include <memory>
#include <vector>

#include "profile/key_set.h"
#include "profile/profile_rows.h"

namespace sonde {

class Profile {
 public:
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_.rows; }
  [[nodiscard]] const ProfileTotals& totals() const { return totals_; }
  [[nodiscard]] const ProfileOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<ModePeriods>& mode_periods() const { return rows_.modes; }

  // What call_tree.h builds the trees from. With `children` the trie has a root per group, else one
  // per row.
  [[nodiscard]] const CallTrie& trie() const { return tree_.trie; }
  [[nodiscard]] const PathFrames& frames() const { return *frames_; }
  /// In the order of their nodes.
  [[nodiscard]] const LargeVector<PathEnd>& ends() const { return tree_.ends; }
  [[nodiscard]] uint64_t period_below(uint32_t node) const { return tree_.period[node]; }
  [[nodiscard]] uint32_t count_below(uint32_t node) const { return tree_.count[node]; }
  /// The root of the row's own paths; CallTrie::kNone where it has none.
  [[nodiscard]] uint32_t root_of(size_t row) const { return rows_.root_of_row[row]; }
  /// Path ends whose own place is this row's.
  [[nodiscard]] std::span<const uint32_t> own_ends(size_t row) const { return rows_.own_ends[row]; }
  /// Nodes where this row's place occurs first on a path; only with `children`.
  [[nodiscard]] std::span<const uint32_t> occurrences(size_t row) const {
    return rows_.occurrences[row];
  }

 private:
  friend Profile build_profile(const ProfileInput& input, KeySet& keys,
                               std::span<const uint32_t> samples, ProfileOptions options);
  Profile() = default;

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
