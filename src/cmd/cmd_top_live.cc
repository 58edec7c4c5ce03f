#include "cmd/cmd_top_live.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/clock.h"
#include "base/text.h"
#include "capture/drain_pace.h"
#include "capture/event_closer.h"
#include "capture/event_switch.h"
#include "capture/lost_counts.h"
#include "capture/poller.h"
#include "capture/preamble.h"
#include "capture/recorder_priority.h"
#include "capture/signal_queue.h"
#include "cmd/cmd_top_rows.h"
#include "cmd/cmd_top_save.h"
#include "cmd/cmd_top_screen.h"
#include "render/table_text.h"
#include "replay/prepare_lines.h"

namespace sonde::top {
namespace {

/// What a save can go back to.
constexpr size_t kKeptBytes = size_t{32} << 20;
constexpr std::string_view kKeyHelp =
    "d delay  e rows  f samples  K kernel  U user  z zero  p pause  w save  q quit";

class LiveTop {
 public:
  LiveTop(TopOptions& options, Env& env, SignalQueue& signals, Poller& poller, Capture& capture,
          RecordingFeatures& features)
      : o_(options),
        env_(env),
        signals_(signals),
        poller_(poller),
        capture_(capture),
        features_(features),
        session_(make_session()),
        traces_(session_),
        copies_(capture.rings->rings(), kKeptBytes),
        screen_(env.out, env.out_fd),
        keys_(screen_.is_terminal() ? env.in_fd : -1) {}

  Result<int> run() {
    o_.report.only_rows = !o_.starts_anew();
    plan_ = TRY(report::make_plan(o_.report, session_, traces_));
    for (size_t i = 0; i < session_.events().size(); ++i) fading_.emplace_back(o_.report, plan_);
    describe_running();
    watch();
    EventSwitch events(env_.sys, capture_.events);
    events.enable();
    shown_ns_ = monotonic_ns();
    while (!done_) {
      poller_.wait(wait_ms());
      drain();
      if (monotonic_ns() >= shown_ns_ + delay_ns()) TRY(refresh());
    }
    events.disable();
    if (target_ended_) {
      drain();
      TRY(refresh());
    }
    finish();
    return 0;
  }

 private:
  Session make_session() {
    SessionOptions how;
    how.symbols = o_.report.symbol_sources;
    how.want_chains = o_.record.sampling.call_graph != CallGraphMode::kNone ||
                      (o_.report.sort && o_.report.sort->find("parent") != std::string::npos);
    how.max_stack = o_.report.max_stack;
    return Session::live(event_descriptions(capture_), features_.features, how, env_);
  }

  /// Tasks and mappings of before.
  void describe_running() {
    ByteBuilder records;
    write_event_records(capture_, records);
    synthesise_state(capture_, o_.record, env_.losses, records);
    RecordBlock block;
    block.bytes = records.view();
    session_.take({block});
    session_.take({});  // nothing refers to the bytes any more
  }

  void watch() {
    poller_.add(signals_.fd(), [this](auto) { on_signals(); });
    if (keys_.is_on()) poller_.add(keys_.fd(), [this](auto) { on_keys(); });
    if (capture_.target.kind == Target::Kind::kTasks) return watch_tasks();
    for (const CaptureRing& ring : capture_.rings->rings())
      poller_.add(ring.buffer.fd(), [this, fd = ring.buffer.fd()](Poller::Ready ready) {
        if (ready.hung_up) poller_.remove(fd);
      });
  }

  /// An event hangs up when its task ends; when all have, there is nothing more to see.
  void watch_tasks() {
    live_tasks_ = capture_.events.front().opened.size();
    for (const OpenedEvent& opened : capture_.events.front().opened)
      poller_.add(opened.fd, [this, fd = opened.fd](Poller::Ready ready) {
        if (!ready.hung_up) return;
        poller_.remove(fd);
        if (--live_tasks_ == 0) done_ = target_ended_ = true;
      });
  }

  [[nodiscard]] uint64_t delay_ns() const { return static_cast<uint64_t>(o_.delay_s * 1e9); }

  [[nodiscard]] int wait_ms() const {
    uint64_t now = monotonic_ns(), due = shown_ns_ + delay_ns();
    int left = now >= due ? 0 : static_cast<int>((due - now) / 1'000'000 + 1);
    return pace_ms_ < 0 ? left : std::min(left, pace_ms_);
  }

  void drain() {
    size_t fullest = copies_.drain();
    pace_ms_ = pace_.next_wait_ms(DrainPace::Clock::now(), fullest,
                                  capture_.rings->rings().front().buffer.data_size());
  }

  Result<> refresh() {
    uint64_t now = monotonic_ns();
    session_.take(copies_.take());
    figures_.seconds = static_cast<double>(now - shown_ns_) / 1e9;
    shown_ns_ = now;
    count();
    std::string tables = TRY(make_tables());
    if (paused_) return {};
    std::string text = fmt::format("{}\n{}\n\n{}", heading(figures_), std::string(79, '-'), tables);
    screen_.show(text, footer());
    if (env_.out.failed() != 0) done_ = true;
    return {};
  }

  void count() {
    const SampleColumns& samples = session_.samples();
    figures_.lost_before += figures_.lost;
    figures_.lost = session_.counts().lost_events + session_.counts().lost_samples;
    figures_.samples = samples.size();
    figures_.kernel = figures_.exact = 0;
    for (size_t i = 0; i < samples.size(); ++i)
      if (samples.cpu_mode[i] == abi::kMiscKernel) ++figures_.kernel;
    if (is_precise())
      for (size_t i = 0; i < samples.size(); ++i)
        if ((session_.record(i).misc & abi::kMiscExactIp) != 0) ++figures_.exact;
    figures_.events = event_text();
    figures_.target = target_text();
  }
  [[nodiscard]] bool is_precise() const {
    return std::ranges::any_of(session_.events().all(),
                               [](const EventDesc& event) { return event.attr.precise_ip > 0; });
  }

  [[nodiscard]] static bool is_sideband(const EventDesc& event) {
    return event.attr.type == abi::kTypeSoftware && event.attr.config == abi::kSwDummy;
  }
  [[nodiscard]] std::string event_text() const {
    const EventDesc* only = nullptr;
    for (const EventDesc& event : session_.events().all()) {
      if (is_sideband(event)) continue;
      if (only != nullptr) return {};
      only = &event;
    }
    if (only == nullptr) return {};
    return fmt::format("[{}{} {}]", only->attr.sample_period, only->attr.freq != 0 ? "Hz" : "",
                       only->name);
  }

  [[nodiscard]] std::string target_text() const {
    const TargetOptions& target = o_.record.target;
    std::string text = " (all";
    if (!target.pids.empty())
      text = " (target_pid: " + target.pids;
    else if (!target.tids.empty())
      text = " (target_tid: " + target.tids;
    else if (!target.user.empty())
      text = " (uid: " + target.user;
    if (!target.cpus.empty()) return fmt::format("{}, CPU: {})", text, target.cpus);
    if (target.has_task()) return text + ")";
    size_t cpus = capture_.target.cpus.size();
    return fmt::format("{}, {} CPU{})", text, cpus, cpus == 1 ? "" : "s");
  }

  [[nodiscard]] size_t rows_wanted() const { return o_.entries != 0 ? o_.entries : screen_.room(); }

  Result<std::string> make_tables() {
    // A sample that is hidden is left out altogether: shares are of the others.
    o_.report.leave_out_kernel = o_.hide_kernel;
    o_.report.leave_out_user = o_.hide_user;
    o_.report.only_rows = !o_.starts_anew();
    if (shows_lines()) prepare_lines(session_);
    if (plan_.rows != report::RowsOf::kSamples) session_.load_all_symbols();
    report::ReportBuilder builder(session_, traces_, o_.report, plan_, env_.tool);
    auto reports = TRY(builder.build());
    StringSink text;
    for (const auto& report : reports) {
      const EventDesc& event = session_.events()[report->members[0]];
      if (is_sideband(event)) continue;
      if (figures_.events.empty())
        text.print("{}# {}\n", text.text().empty() ? "" : "\n", event.name);
      add_table(*report, text);
    }
    return text.text();
  }
  [[nodiscard]] bool shows_lines() const {
    return o_.report.sort && o_.report.sort->find("src") != std::string::npos;
  }

  void add_table(const report::EventReport& report, Sink& text) {
    render::TableTextOptions how{.header = false, .color = screen_.is_terminal()};
    if (o_.starts_anew()) {
      StringSink whole;
      render::write_table(whole, report.table, how);
      write_first_lines(whole.text(), text);
      return;
    }
    FadingRows& rows = fading_[report.members[0].index()];
    rows.fade();
    rows.add(report);
    size_t left_out = 0;
    view::Table table = rows.table(rows_wanted(), o_.least_samples, left_out);
    set_widths(table);
    render::write_table(text, table, how);
  }

  void write_first_lines(std::string_view all, Sink& text) const {
    std::vector<std::string_view> lines = split(all, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    size_t most = o_.record.sampling.call_graph != CallGraphMode::kNone && o_.entries == 0 &&
                          !screen_.is_terminal()
                      ? lines.size()
                      : rows_wanted();
    for (size_t i = 0; i < std::min(lines.size(), most); ++i) text.print("{}\n", lines[i]);
  }

  void set_widths(view::Table& table) const {
    size_t column = 0;
    if (o_.report.widths.empty()) return;
    for (std::string_view word : split(o_.report.widths, ','))
      if (column < table.columns.size())
        table.columns[column++].user_width = parse_number(word).value_or(0);
  }

  // --- keys ---

  [[nodiscard]] std::string footer() {
    if (!keys_.is_on()) return {};
    if (!question_.empty()) return fmt::format("{}: {}", question_, answer_);
    std::string said = std::exchange(message_, {});
    return said.empty() ? std::string(kKeyHelp) : said;
  }

  void on_keys() {
    for (char key : keys_.read()) question_.empty() ? on_key(key) : on_answer(key);
  }
  void say(std::string text) {
    message_ = std::move(text);
    redraw_footer();
  }
  void redraw_footer() { screen_.show_footer(footer()); }

  void on_key(char key) {
    switch (key) {
      case 'q':
      case 'Q':
        done_ = true;
        return;
      case 'd':
        return ask(key, "Delay between refreshes, in seconds");
      case 'e':
        return ask(key, "Entries to display (0: as many as fit)");
      case 'f':
        return ask(key, "Least samples of a row");
      case 'K':
        return toggle(o_.hide_kernel, "kernel symbols are hidden", "kernel symbols are shown");
      case 'U':
        return toggle(o_.hide_user, "user symbols are hidden", "user symbols are shown");
      case 'z':
        return toggle(o_.zero, "each screen starts anew", "samples fade");
      case 'p':
      case ' ':
        return toggle(paused_, "paused; what comes is counted all the same", "goes on");
      case 'w':
        return save();
      default:
        return redraw_footer();
    }
  }

  void toggle(bool& setting, std::string_view on, std::string_view off) {
    setting = !setting;
    for (FadingRows& rows : fading_)
      if (&setting != &paused_) rows.clear();
    say(std::string(setting ? on : off));
  }

  void ask(char key, std::string_view question) {
    asked_ = key;
    question_ = question;
    answer_.clear();
    redraw_footer();
  }
  void on_answer(char key) {
    constexpr char kBackspace = 127, kEscape = 27;
    constexpr size_t kLongest = 12;
    if (key == '\n' || key == '\r') return take_answer();
    if (key == kEscape) {
      question_.clear();
    } else if (key == kBackspace || key == '\b') {
      if (!answer_.empty()) answer_.pop_back();
    } else if (((key >= '0' && key <= '9') || key == '.') && answer_.size() < kLongest) {
      answer_ += key;
    }
    redraw_footer();
  }
  void take_answer() {
    question_.clear();
    auto number = detail::number_from<double>(answer_);
    constexpr double kShortest_s = 0.1;
    if (!number || (asked_ == 'd' && !(*number >= kShortest_s)))
      return say(fmt::format("'{}' is no {}", answer_, asked_ == 'd' ? "delay" : "number"));
    if (asked_ == 'd') o_.delay_s = *number;
    if (asked_ == 'e') o_.entries = static_cast<uint64_t>(*number);
    if (asked_ == 'f') o_.least_samples = static_cast<uint64_t>(*number);
    redraw_footer();
  }

  void save() {
    auto saved = save_recording("perf.data", capture_, o_.record, features_, copies_, env_);
    say(saved ? *saved : saved.error().message);
  }

  void on_signals() {
    while (std::optional<int> number = signals_.next())
      if (*number == SIGINT || *number == SIGTERM || *number == SIGHUP) done_ = true;
  }

  // --- the end ---

  void finish() {
    screen_.leave();
    ByteBuilder records;
    uint64_t lost = std::max(figures_.lost_before + figures_.lost,
                             read_lost_counts(env_.sys, capture_.events, records));
    if (lost > 0) env_.losses.add(LossKind::k_lost_by_kernel, lost);
    close_events(capture_, env_.sys);
  }

  TopOptions& o_;
  Env& env_;
  SignalQueue& signals_;
  Poller& poller_;
  Capture& capture_;
  RecordingFeatures& features_;
  Session session_;
  TraceTexts traces_;
  report::Plan plan_;
  RingCopies copies_;
  TopScreen screen_;
  KeyInput keys_;
  std::vector<FadingRows> fading_;  // by event
  TopFigures figures_;
  DrainPace pace_{DrainPace::Clock::now()};
  int pace_ms_ = 0;
  uint64_t shown_ns_ = 0;  // when the last stretch ended
  size_t live_tasks_ = 0;
  bool done_ = false, target_ended_ = false, paused_ = false;
  char asked_ = 0;
  std::string question_, answer_, message_;
};

}  // namespace

Result<int> run_top(TopOptions& options, Env& env) {
  SignalQueue signals = TRY(SignalQueue::create());
  Poller poller = TRY(Poller::create());
  Capture capture = TRY(set_up_capture(options.record, false, env));
  RecordingFeatures features = TRY(initial_features(capture, options.record, env.tool));
  TRY(raise_recorder_priority(options.record));
  return LiveTop(options, env, signals, poller, capture, features).run();
}

}  // namespace sonde::top
