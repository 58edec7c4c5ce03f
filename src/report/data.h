// What is behind a table of a report: keys, profiles and sorted rows; and how tables are filled
// from them.
#pragma once

#include "analysis/sampling/share_interval.h"
#include "profile/call_tree.h"
#include "report/tables.h"

namespace sonde::report {

struct EventReport::Data {
  explicit Data(const ProfileInput& profile_input) : input(profile_input), keys(input) {}
  ProfileInput input;
  KeySet keys;
  std::vector<size_t> key_of_choice;  // Plan::keys → KeySet; SIZE_MAX if the event lacks the field
  std::vector<std::unique_ptr<Profile>> profiles;
  std::vector<std::unique_ptr<Profile>> latencies;  // the same by latency; empty unless shown
  std::vector<LeftOut> left_out;                    // by member
  std::unique_ptr<TableRows> rows;
  std::vector<uint32_t> table_rows;  // into `rows`, by row of the table; for the upper levels of a
                                     // hierarchy, a row below it
};

/// The place that made a row: a sample's own, or a step of its path.
[[nodiscard]] const Frame& frame_of_row(const EventReport::Data& data, const Row& row);

/// Columns, rows and trees of a flat table.
void fill_table(EventReport& report, const ReportOptions& options, const Plan& plan);
/// The same for --hierarchy: one level of rows per sort key.
void fill_hierarchy(EventReport& report, const ReportOptions& options, const Plan& plan);

// Shared by both.

/// A share or its interval, not a sum.
[[nodiscard]] bool is_share(Weight weight);
/// The column of a weight.
[[nodiscard]] view::Column weight_column(Weight weight, bool self_title, size_t members);
/// The column of a key, as wide as the widest row needs, even one that is hidden because of its
/// weight.
[[nodiscard]] view::Column key_column(const EventReport::Data& data, size_t key);
/// Characters that a row needs in the column of a key.
[[nodiscard]] size_t key_width(const EventReport::Data& data, size_t key, uint32_t row);
/// The column's text for a row that stands for `samples` samples.
void append_key_text(const EventReport::Data& data, size_t key, uint32_t row, uint64_t samples,
                     std::string& out);
/// What shares are of: the periods or latencies of each event, according to --percentage.
class ShareTotals {
 public:
  ShareTotals(const EventReport::Data& data, bool relative);
  [[nodiscard]] double percent(uint64_t weight, Weight of, size_t member) const;

 private:
  std::vector<uint64_t> periods_, latencies_;  // by member
};
/// The share by which small rows are left out.
[[nodiscard]] Weight main_share(const Plan& plan);
/// What shares of a profile are of, according to --percentage. `left_out`: of samples that are not
/// in the profile.
[[nodiscard]] uint64_t total_of(const Profile& profile, uint64_t left_out, bool relative);
/// The same of one event.
[[nodiscard]] uint64_t total_period(const EventReport::Data& data, const ReportOptions& options,
                                    size_t member);
[[nodiscard]] double percent_of(uint64_t weight, uint64_t total);
/// The samples behind that total; `relative` as in --percentage.
[[nodiscard]] SampledTotal sampled_total(const EventReport::Data& data, bool relative,
                                         size_t member);
/// Appends the cell of a share of `percent`, or that of its interval. `effective`: the number of
/// samples (share_interval.h).
void add_share(view::Table& table, Weight weight, double percent, double effective);
/// Gives rows of the table call trees: `rows` are those of the profile.
void add_trees(EventReport& report, const ReportOptions& options, const Plan& plan,
               std::vector<uint32_t> rows);

}  // namespace sonde::report
