// A level of the browser: the tables of one set of options, and the user's position in them.
// Zooming pushes a level; undo pops it at no cost.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "report/browser/browser.h"
#include "report/browser/zoom.h"
#include "tui/models/table_view.h"

namespace sonde::report {

class ReportLevel {
 public:
  /// An error is what --stdio would print for these options.
  static Result<std::unique_ptr<ReportLevel>> make(const OpenRecording& recording,
                                                   ReportOptions options, std::string_view tool);
  ReportLevel(const ReportLevel&) = delete;
  ReportLevel& operator=(const ReportLevel&) = delete;

  [[nodiscard]] const ReportOptions& options() const { return options_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// Samples that the tables received.
  [[nodiscard]] uint64_t samples() const { return builder_->samples(); }
  [[nodiscard]] size_t events() const { return tables_.size(); }

  [[nodiscard]] size_t event() const { return event_; }
  void show_event(size_t event) { event_ = event; }
  [[nodiscard]] const EventReport& report() const { return *tables_[event_]; }
  [[nodiscard]] tui::TableView& view() { return *views_[event_]; }

  // For the row at the cursor; nothing if the table is empty or the row has none.
  [[nodiscard]] std::optional<uint32_t> row() const;  // into EventReport::Data::rows
  [[nodiscard]] std::optional<Frame> frame() const;
  /// Rows distinguish data types, not functions.
  [[nodiscard]] bool is_of_types() const {
    return (has_key("type") || has_key("typeoff") || has_key("typecln")) && !has_key("symbol");
  }
  [[nodiscard]] std::optional<ZoomStep> dso_step() const;
  /// By thread, process or name, whichever the rows distinguish.
  [[nodiscard]] std::optional<ZoomStep> thread_step() const;
  [[nodiscard]] std::optional<ZoomStep> symbol_step() const;

  std::optional<ZoomStep> step;  // that led here from the level below; nothing: other options did
  std::string note;              // what else is different: "verbose"

 private:
  ReportLevel(ReportOptions options, Plan plan)
      : options_(std::move(options)), plan_(std::move(plan)) {}
  [[nodiscard]] bool has_key(std::string_view name) const;

  ReportOptions options_;
  Plan plan_;
  std::unique_ptr<ReportBuilder> builder_;
  std::vector<std::unique_ptr<EventReport>> tables_;
  std::vector<std::unique_ptr<tui::TableView>> views_;
  size_t event_ = 0;
};

}  // namespace sonde::report
