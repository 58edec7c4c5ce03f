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

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "profile/call_trie.h"
#include "profile/key_set.h"
#include "profile/path_frames.h"

namespace sonde {

struct ProfileOptions {
  bool children = false;      // callers get rows too
  bool call_graph = false;    // keep call paths
  bool caller_order = false;  // call paths run from the root; else from the sampled place
  CallKey call_key = CallKey::kFunction;
  uint32_t max_stack = UINT32_MAX;  // steps of a path that are looked at, from where it starts
  /// Without `children`: the share of the period that a node of a call tree must have to be wanted.
  /// Lighter ones need not be told apart, which saves most of the work; 0 keeps all.
  double min_path_share = 0;
  bool by_mode = false;    // split periods by kernel, user and guest
  bool by_weight = false;  // samples count with their weight instead of their period
  bool by_branch = false;  // one row entry per branch of a sample instead of per sample
  /// Samples to be kept out of sight (by SampleColumns index); empty: none. They still count in
  /// totals.
  std::vector<uint8_t> hidden = {};
  /// Frames whose callees are to be forgotten (--ignore-callees), by FrameId; empty: none.
  std::vector<uint8_t> is_root_frame = {};
};

/// Weights by where the sample was taken.
struct ModePeriods {
  uint64_t system = 0, user = 0, guest_system = 0, guest_user = 0;
};

struct Row {
  uint32_t group;
  uint32_t place_key;
  uint32_t self_count = 0;             // samples
  uint32_t first_sample = UINT32_MAX;  // the earliest by time that belongs to the row
  uint32_t first_step = 0;  // of that sample's path that made the row: 0 is its own place
  uint32_t max_depth = 0;   // of the call paths under the row, in frames
  bool hidden = false;      // its first sample was
  uint64_t self = 0;        // period
  uint64_t children = 0;    // period of all samples on whose path it is, its own included
};

struct ProfileTotals {
  uint64_t samples = 0;
  uint64_t shown_samples = 0;  // not hidden
  uint64_t period = 0;
  uint64_t shown_period = 0;         // of the rows that are not hidden
  uint64_t shown_sample_period = 0;  // of the samples that are not hidden
  double period_squares = 0;         // sum of the squares of the samples' periods
};

/// The samples that share row and call path.
struct PathEnd {
  uint32_t node;   // last step of the path in the trie; the root where there is no path
  uint32_t depth;  // steps to it
  uint32_t row;
  uint32_t count;
  uint32_t first_sample;
  uint64_t period;
};

/// Numbers with a span per row.
class SpanTable {
 public:
  /// `pairs` are (owner, number), owners below `owners`; numbers keep their order.
  SpanTable() = default;
  SpanTable(const std::vector<std::pair<uint32_t, uint32_t>>& pairs, size_t owners);
  [[nodiscard]] std::span<const uint32_t> operator[](size_t owner) const {
    return {numbers_.data() + starts_[owner], starts_[owner + 1] - starts_[owner]};
  }

 private:
  std::vector<uint32_t> starts_{0};
  std::vector<uint32_t> numbers_;
};

class Profile {
 public:
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const ProfileTotals& totals() const { return totals_; }
  [[nodiscard]] const ProfileOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<ModePeriods>& mode_periods() const { return mode_periods_; }

  // What call_tree.h builds the trees from. With `children` the trie has a root per group, else one
  // per row.
  [[nodiscard]] const CallTrie& trie() const { return trie_; }
  [[nodiscard]] const PathFrames& frames() const { return *frames_; }
  /// In the order of their nodes.
  [[nodiscard]] const LargeVector<PathEnd>& ends() const { return ends_; }
  [[nodiscard]] uint64_t period_below(uint32_t node) const { return period_[node]; }
  [[nodiscard]] uint32_t count_below(uint32_t node) const { return count_[node]; }
  /// The root of the row's own paths; CallTrie::kNone where it has none.
  [[nodiscard]] uint32_t root_of(size_t row) const { return root_of_row_[row]; }
  /// Path ends whose own place is this row's.
  [[nodiscard]] std::span<const uint32_t> own_ends(size_t row) const { return own_ends_[row]; }
  /// Nodes where this row's place occurs first on a path; only with `children`.
  [[nodiscard]] std::span<const uint32_t> occurrences(size_t row) const {
    return occurrences_[row];
  }

 private:
  friend class ProfileBuilder;
  ProfileOptions options_;
  ProfileTotals totals_;
  std::vector<Row> rows_;
  std::vector<ModePeriods> mode_periods_;  // by row
  CallTrie trie_;
  std::unique_ptr<PathFrames> frames_;
  LargeVector<PathEnd> ends_;
  Column<uint64_t> period_;  // by node: of the subtree
  Column<uint32_t> count_;
  std::vector<uint32_t> root_of_row_;
  SpanTable own_ends_;
  SpanTable occurrences_;
};

/// `samples`: indices into the columns, in any order. `keys` must be sealed and outlive the
/// profile.
[[nodiscard]] Profile build_profile(const ProfileInput& input, KeySet& keys,
                                    std::span<const uint32_t> samples, ProfileOptions options);

}  // namespace sonde
