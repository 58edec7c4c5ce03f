// The live profile of `top`: what rings hold becomes, stretch by stretch, tables as `report` makes
// them. It knows no screen.
//
//   LiveProfile profile(options, env, capture, features);
//   TRY(profile.start());
//   …  profile.drain() as often as `wait_ms` says; when the stretch is_over():
//   TRY(profile.next_stretch());
//   for (LiveTable& table : profile.tables(20)) …
//
// Rows fade (cmd_top_rows.h), or are those of one stretch where trees or levels are shown. What a
// table's call trees need holds until the next stretch.
#pragma once

#include <memory>
#include <vector>

#include "capture/drain_pace.h"
#include "capture/poller.h"
#include "capture/recording_features.h"
#include "capture/ring_copies.h"
#include "cmd/cmd_report_browser.h"
#include "cmd/cmd_top_figures.h"
#include "cmd/cmd_top_options.h"
#include "cmd/cmd_top_rows.h"

namespace sonde::top {

/// Of one event.
struct LiveTable {
  EventId event;
  view::Table table;
};

class LiveProfile {
 public:
  LiveProfile(TopOptions& options, Env& env, Capture& capture, RecordingFeatures& features);
  ~LiveProfile();
  LiveProfile(const LiveProfile&) = delete;
  LiveProfile& operator=(const LiveProfile&) = delete;

  /// Columns, what runs already; then events count.
  Result<> start();
  /// Wakes the poller when something comes, or when tasks end.
  void watch(Poller& poller);
  /// All tasks have; the last stretch is taken.
  [[nodiscard]] bool target_ended() const { return target_ended_; }
  /// Until rings want to be emptied, or the stretch is over.
  [[nodiscard]] int wait_ms() const;
  void drain();
  [[nodiscard]] bool is_over() const { return left_ms() <= 0; }
  /// This one only.
  void end_stretch_after(double seconds) { this_stretch_s_ = seconds; }

  /// What has come becomes what tables show.
  Result<> next_stretch();
  /// The same stretch once more, after options have changed; what was before it is forgotten.
  Result<> remake();
  /// What has come is put by: tables stay as they are. Its samples are only kept for recordings.
  void pass_over();
  /// At most so many rows that fade; the others whole.
  [[nodiscard]] std::vector<LiveTable> tables(size_t most);
  /// The place of a row of tables()[table]; nothing where it has no function.
  [[nodiscard]] std::optional<Frame> place(size_t table, uint32_t row) const;
  [[nodiscard]] const TopFigures& figures() const { return figures_; }
  /// Whether call trees begin at the root.
  [[nodiscard]] bool caller_order() const { return plan_.caller_order; }
  [[nodiscard]] const Session& session() const { return session_; }
  void forget_history();

  /// perf.data of what was seen of late.
  Result<std::string> save();
  /// The same as an open recording, without a file.
  Result<std::unique_ptr<report::OpenRecording>> recent();
  /// Any recording, opened as this one.
  Result<std::unique_ptr<report::OpenRecording>> open(const std::string& path);
  /// Events count no more.
  void stop();
  /// Closes them, and says what was lost.
  void finish();

 private:
  [[nodiscard]] SessionOptions session_options() const;
  [[nodiscard]] int64_t left_ms() const;  // of the stretch
  void describe_running();
  void watch_tasks(Poller& poller);
  Result<> build();
  [[nodiscard]] bool shows_lines() const;
  void set_widths(view::Table& table) const;

  TopOptions& o_;
  Env& env_;
  Capture& capture_;
  RecordingFeatures& features_;
  Session session_;
  TraceTexts traces_;
  std::shared_ptr<datatype::SessionTypes>
      data_types_;  // what one screen has found the next one has
  report::Plan plan_;
  RingCopies copies_;
  std::vector<std::vector<std::byte>> put_by_;  // of passed stretches, what changes the machine
  std::unique_ptr<report::ReportBuilder> builder_;
  std::vector<std::unique_ptr<report::EventReport>> reports_;
  std::vector<FadingRows> fading_;          // by event
  std::vector<std::vector<Frame>> places_;  // of fading rows, by table
  TopFigures figures_;
  DrainPace pace_{DrainPace::Clock::now()};
  int pace_ms_ = 0;
  uint64_t taken_ns_ = 0;  // when the last stretch ended
  std::optional<double> this_stretch_s_;
  size_t live_tasks_ = 0;
  bool target_ended_ = false;
};

}  // namespace sonde::top
