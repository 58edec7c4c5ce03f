// From a replayed session to the tables of a report: one per event or event group.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profile/session_input.h"
#include "report/plan.h"
#include "view/table.h"

namespace sonde::datatype {
class SessionTypes;
}

namespace sonde::report {

class FunctionIpcs;

/// A table with the data of its heading. Owns everything that the table's call trees need.
struct EventReport {
  std::vector<EventId> members;  // leader first
  std::string name;              // of the event, or "anon group { a, b }"
  uint64_t samples = 0;
  uint64_t period = 0;
  bool was_joined = false;  // --no-group: perf joins the events first, then shows them separately
  view::Table table;

  struct Data;
  std::shared_ptr<Data> data;
};

/// Samples of an event that --parallelism leaves out. They still count in totals.
struct LeftOut {
  uint64_t samples = 0, period = 0, latency = 0;
};

class ReportBuilder {
 public:
  /// `tool` is the program's name in hints. `types` are the session's data types, which others may
  /// already have used; null: the builder's own.
  ReportBuilder(const Session& session, const TraceTexts& traces, const ReportOptions& options,
                const Plan& plan, std::string_view tool,
                std::shared_ptr<datatype::SessionTypes> types = nullptr);
  ~ReportBuilder();

  /// Tables in the order of events; those without samples are left out if the options say so.
  /// `window`: what earlier samples made of --switch-on and --switch-off; it is left as these
  /// samples make it. Null: these are the first ones.
  [[nodiscard]] Result<std::vector<std::unique_ptr<EventReport>>> build(
      EventWindow* window = nullptr);
  /// Notes on what the tables could not show.
  [[nodiscard]] std::vector<std::string> notes() const;
  /// Samples that any table received, hidden ones included.
  [[nodiscard]] uint64_t samples() const { return samples_; }

 private:
  [[nodiscard]] std::vector<std::vector<EventId>> tables() const;
  [[nodiscard]] double min_path_share() const;
  Result<std::unique_ptr<EventReport>> build_one(const std::vector<EventId>& members, bool is_last);
  [[nodiscard]] bool filters_rows() const;
  [[nodiscard]] Result<std::vector<uint8_t>> hidden_samples() const;
  /// The rows that --symbol-filter hides, if it filters rows.
  [[nodiscard]] std::function<bool(uint32_t group, uint32_t place_key)> row_filter(
      const EventReport::Data& data) const;
  [[nodiscard]] std::vector<uint8_t> gated_off(EventWindow& window) const;
  [[nodiscard]] Result<std::vector<uint8_t>> root_frames() const;
  void sort_by_event();
  [[nodiscard]] std::vector<uint32_t> samples_of(EventId event) const;
  [[nodiscard]] LeftOut leave_out_levels(std::vector<uint32_t>& samples) const;
  [[nodiscard]] bool is_pipe() const { return session_.recording().facts().is_pipe; }
  [[nodiscard]] bool leads_others(EventId event) const;
  [[nodiscard]] std::string name_of(const std::vector<EventId>& members) const;

  const Session& session_;
  const ReportOptions& options_;
  const Plan& plan_;
  std::string_view tool_;
  SessionInput adapter_;
  ProfileInput input_;
  KeySettings settings_;
  std::shared_ptr<datatype::SessionTypes> data_types_;
  std::unique_ptr<FunctionIpcs> ipcs_;
  uint64_t samples_ = 0;
  std::vector<uint8_t> hidden_;
  std::vector<uint8_t> off_;  // per sample: outside of what --switch-on, --switch-off leave
  std::vector<uint8_t> root_frames_;
  std::vector<uint32_t> by_event_;    // samples, by event and place in the file
  std::vector<size_t> event_starts_;  // by event: of its samples in by_event_; one more entry
  std::vector<uint8_t> idle_frames_;  // empty unless needed
  std::vector<TimeRange> times_;
  std::vector<uint32_t> parallelism_;  // per sample; empty unless needed
};

}  // namespace sonde::report
