// The live profile of `top`: turns the contents of the rings, interval by interval, into tables
// like those of `report`. It knows nothing of screens.
//
//   LiveProfile profile(options, env, capture, features);
//   TRY(profile.start());
//   …  profile.drain() as often as `wait_ms` says; when the interval is_over():
//   TRY(profile.next_interval());
//   for (LiveTable& table : profile.tables(20)) …
//
// Rows fade (cmd_top_rows.h), or cover one interval if trees or levels are shown. What a table's
// call trees need stays valid until the next interval.
#pragma once

#include <memory>
#include <vector>

#include "capture/rings/drain_pace.h"
#include "capture/rings/poller.h"
#include "capture/rings/ring_copies.h"
#include "capture/synthesis/recording_features.h"
#include "capture/unwinding/kernel_unwinding.h"
#include "report/browser/browser.h"
#include "top/figures.h"
#include "top/options.h"
#include "top/rows.h"
#include "top/save.h"

namespace sonde::top {

/// Of one event, or of a group.
struct LiveTable {
  EventId event;  // the first one of a group
  std::string name;
  view::Table table;
};

class LiveProfile {
 public:
  LiveProfile(TopOptions& options, Env& env, Capture& capture, RecordingFeatures& features);
  ~LiveProfile();
  LiveProfile(const LiveProfile&) = delete;
  LiveProfile& operator=(const LiveProfile&) = delete;

  /// Sets up columns, describes what is already running, then enables the events.
  Result<> start();
  /// Wakes the poller when data arrives or tasks end.
  void watch(Poller& poller);
  /// All tasks have ended; the last interval has been processed.
  [[nodiscard]] bool target_ended() const { return target_ended_; }
  /// Until the rings need draining, or the interval is over.
  [[nodiscard]] int wait_ms() const;
  void drain();
  [[nodiscard]] bool is_over() const { return left_ms() <= 0; }
  /// Applies to the current interval only.
  void end_interval_after(double seconds) { this_interval_s_ = seconds; }

  /// Moves what has arrived into the tables.
  Result<> next_interval();
  /// Rebuilds the same interval after options have changed; anything older is forgotten.
  Result<> remake();
  /// Sets aside what has arrived: tables stay as they are. Its samples are kept only for
  /// recordings.
  void pass_over();
  /// At most `most` fading rows; other tables are complete.
  [[nodiscard]] std::vector<LiveTable> tables(size_t most);
  /// The place of a row of tables()[table]; nothing if it has no function.
  [[nodiscard]] std::optional<Frame> place(size_t table, uint32_t row) const;
  [[nodiscard]] const TopFigures& figures() const { return figures_; }
  /// Whether call trees begin at the root.
  [[nodiscard]] bool caller_order() const { return plan_.caller_order; }
  [[nodiscard]] const Session& session() const { return session_; }
  void forget_history();

  /// Saves what was seen recently to perf.data.
  Result<std::string> save();
  /// The same as an open recording, without a file.
  Result<std::unique_ptr<report::OpenRecording>> recent();
  /// Opens any recording the way this one is opened.
  Result<std::unique_ptr<report::OpenRecording>> open(const std::string& path);
  /// Disables the events.
  void stop();
  /// Closes them and reports losses.
  void finish();

 private:
  [[nodiscard]] SessionOptions session_options() const;
  [[nodiscard]] int64_t left_ms() const;  // of the interval
  void describe_running();
  void watch_tasks(Poller& poller);
  [[nodiscard]] Seen seen() const;
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
      data_types_;  // findings are shared from one screen to the next
  report::Plan plan_;
  std::unique_ptr<KernelUnwinding> unwinding_;  // --call-graph bpf
  RingCopies copies_;
  // What --switch-on and --switch-off make of the next sample, and of the first one shown now.
  EventWindow window_, window_before_;
  std::vector<std::vector<std::byte>> put_by_;  // state changes from passed intervals
  std::unique_ptr<report::ReportBuilder> builder_;
  std::vector<std::unique_ptr<report::EventReport>> reports_;
  std::vector<FadingRows> fading_;          // per event
  std::vector<std::vector<Frame>> places_;  // of fading rows, by table
  TopFigures figures_;
  DrainPace pace_{DrainPace::Clock::now()};
  int pace_ms_ = 0;
  uint64_t taken_ns_ = 0;  // when the last interval ended
  std::optional<double> this_interval_s_;
  size_t live_tasks_ = 0;
  bool target_ended_ = false;
};

}  // namespace sonde::top
