// One recording of a comparison: replayed, with each event's samples grouped into rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profile/counterparts.h"
#include "report/data.h"
#include "report/diff/options.h"
#include "report/outside.h"

namespace sonde::diff {

class DiffInput {
 public:
  /// `number` is the recording's index, from 0, for --time.
  static Result<std::unique_ptr<DiffInput>> open(const std::string& path, size_t number,
                                                 const DiffOptions& options, Env& env);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Session& session() const { return session_; }
  /// This recording's own, which join the command's in the end.
  [[nodiscard]] const LossLedger& losses() const { return outside_->losses; }
  [[nodiscard]] const report::ReportOptions& options() const { return options_; }
  /// Finds out which of its tasks and objects the baseline has under other names. `long_names`:
  /// objects are compared by the names that -v shows.
  void find_counterparts(const DiffInput& baseline, bool long_names);
  /// From the baseline to this recording; names are themselves unless they were looked for.
  [[nodiscard]] const Counterparts& counterparts() const { return counterparts_; }
  /// What is compared under two names, as far as the rows show it; empty if nothing is.
  [[nodiscard]] std::string matched_names() const;
  [[nodiscard]] const report::Plan& plan() const { return plan_; }
  /// By EventId.
  [[nodiscard]] const std::vector<std::unique_ptr<report::EventReport>>& events() const {
    return events_;
  }
  /// The first event that counts the same thing; null if there is none.
  [[nodiscard]] const report::EventReport* find(const abi::EventAttr& attr) const;
  [[nodiscard]] const EventDesc& desc(const report::EventReport& event) const {
    return session_.events()[event.members[0]];
  }

 private:
  DiffInput(std::string path, std::unique_ptr<report::Outside> outside, Session session);
  Result<> build(const DiffOptions& options, size_t number);

  std::string path_;
  std::unique_ptr<report::Outside> outside_;
  Session session_;
  TraceTexts traces_;
  report::ReportOptions options_;
  Counterparts counterparts_;
  report::Plan plan_;
  std::unique_ptr<report::ReportBuilder> builder_;
  std::vector<std::unique_ptr<report::EventReport>> events_;
};

/// The period that an event's shares are relative to.
[[nodiscard]] uint64_t total_of(const report::EventReport& event, bool relative);

}  // namespace sonde::diff
