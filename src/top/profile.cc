#include "top/profile.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "capture/opening/event_closer.h"
#include "capture/opening/event_switch.h"
#include "capture/opening/lost_counts.h"
#include "capture/synthesis/preamble.h"
#include "perfdata/header/dummy_event.h"
#include "replay/frames/prepare_lines.h"
#include "replay/frames/stitching.h"
#include "report/data.h"
#include "top/save.h"

namespace sonde::top {
namespace {

/// How much history a save can include.
constexpr size_t kKeptBytes = size_t{32} << 20;

}  // namespace

LiveProfile::LiveProfile(TopOptions& options, Env& env, Capture& capture,
                         RecordingFeatures& features)
    : o_(options),
      env_(env),
      capture_(capture),
      features_(features),
      session_(
          Session::live(event_descriptions(capture), features.features, session_options(), env)),
      traces_(session_),
      data_types_(std::make_shared<datatype::SessionTypes>(session_)),
      copies_(*capture.rings, kKeptBytes) {}

LiveProfile::~LiveProfile() = default;

SessionOptions LiveProfile::session_options() const {
  SessionOptions how;
  how.symbols = o_.report.symbol_sources;
  how.chains.reset();
  if (o_.record.sampling.call_graph != CallGraphMode::kNone ||
      need_chains(o_.report.sort.value_or("")))
    how.chains = {.max_stack = o_.report.max_stack,
                  .check = env_.tool != "perf",
                  .stitch_calls = o_.report.stitch_lbr};
  return how;
}

Result<> LiveProfile::start() {
  o_.report.only_rows = !o_.starts_anew();
  plan_ = TRY(report::make_plan(o_.report, session_, traces_));
  window_ = TRY(EventWindow::make(o_.report.gate, session_.events(), env_.tool));
  if (o_.report.stitch_lbr) warn_about_stitching(session_.recording(), env_.err);
  for (size_t i = 0; i < session_.events().size(); ++i) fading_.emplace_back(o_.report, plan_);
  figures_.events = event_text(session_.events());
  figures_.target = target_text(o_.record.target, capture_.target.cpus.size());
  describe_running();
  if (o_.record.sampling.call_graph == CallGraphMode::kBpf) {
    unwinding_ =
        TRY(KernelUnwinding::open(capture_, event_descriptions(capture_), o_.record, env_));
    copies_.set_joiner(&unwinding_->joiner());
  }
  EventSwitch(env_.sys, capture_.events).enable();
  taken_ns_ = monotonic_ns();
  return {};
}

/// Tasks and mappings that already exist.
void LiveProfile::describe_running() {
  ByteBuilder records;
  write_event_records(capture_, records);
  synthesise_state(capture_, o_.record, env_.losses, records);
  RecordBlock block;
  block.bytes = records.view();
  session_.take({block});
  session_.take({});  // nothing refers to the bytes any more
}

void LiveProfile::watch(Poller& poller) {
  if (capture_.target.kind == Target::Kind::kTasks) return watch_tasks(poller);
  for (const CaptureRing& ring : capture_.rings->rings())
    poller.add(ring.buffer.fd(), [&poller, fd = ring.buffer.fd()](Poller::Ready ready) {
      if (ready.hung_up) poller.remove(fd);
    });
}

/// An event hangs up when its task ends; when all have, there is nothing left to see.
void LiveProfile::watch_tasks(Poller& poller) {
  live_tasks_ = capture_.events.front().opened.size();
  for (const OpenedEvent& opened : capture_.events.front().opened)
    poller.add(opened.fd, [this, &poller, fd = opened.fd](Poller::Ready ready) {
      if (!ready.hung_up) return;
      poller.remove(fd);
      if (--live_tasks_ == 0) target_ended_ = true;
    });
}

int64_t LiveProfile::left_ms() const {
  auto due = taken_ns_ + static_cast<uint64_t>(this_interval_s_.value_or(o_.delay_s) * 1e9);
  auto now = monotonic_ns();
  return now >= due ? 0 : static_cast<int64_t>((due - now) / 1'000'000 + 1);
}

int LiveProfile::wait_ms() const {
  int64_t left = std::min<int64_t>(left_ms(), INT32_MAX);
  return static_cast<int>(pace_ms_ < 0 ? left : std::min<int64_t>(left, pace_ms_));
}

void LiveProfile::drain() {
  size_t fullest = copies_.drain();
  pace_ms_ = pace_.next_wait_ms(DrainPace::Clock::now(), fullest,
                                capture_.rings->rings().front().buffer.data_size());
}

Result<> LiveProfile::next_interval() {
  if (!put_by_.empty()) {
    std::vector<RecordBlock> passed(put_by_.size());
    for (size_t i = 0; i < passed.size(); ++i) passed[i].bytes = put_by_[i];
    session_.take(passed);
  }
  std::vector<RecordBlock> blocks = copies_.take();
  if (unwinding_) session_.add_interpreted_files(unwinding_->new_interpreted_files());
  session_.take(blocks);
  put_by_.clear();
  uint64_t now = monotonic_ns();
  figures_.seconds = static_cast<double>(now - taken_ns_) / 1e9;
  taken_ns_ = now;
  this_interval_s_.reset();
  count_interval(session_, figures_);
  window_before_ = window_;
  return build();
}

Result<> LiveProfile::remake() {
  o_.report.only_rows = !o_.starts_anew();
  plan_ = TRY(report::make_plan(o_.report, session_, traces_));
  forget_history();
  return build();
}

void LiveProfile::pass_over() {
  for (const RecordBlock& block : copies_.take()) {
    std::vector<std::byte> kept;
    RecordRange records(block, kHostOrder);
    for (RecordView record; records.next(record);)
      if (record.type != abi::kRecordSample)
        kept.insert(kept.end(), record.raw().begin(), record.raw().end());
    if (!kept.empty()) put_by_.push_back(std::move(kept));
  }
  taken_ns_ = monotonic_ns();
}

Result<> LiveProfile::build() {
  // Hidden samples are left out altogether: shares are relative to the rest.
  o_.report.leave_out_kernel = o_.hide_kernel;
  o_.report.leave_out_user = o_.hide_user;
  o_.report.leave_out_idle = !o_.show_idle;
  o_.report.only_rows = !o_.starts_anew();
  if (shows_lines()) prepare_lines(session_);
  if (plan_.rows != report::RowsOf::kSamples) session_.load_all_symbols();
  builder_ = std::make_unique<report::ReportBuilder>(session_, traces_, o_.report, plan_, env_.tool,
                                                     data_types_);
  window_ = window_before_;
  reports_ = TRY(builder_->build(&window_));
  std::erase_if(reports_, [&](const auto& report) {
    return is_dummy(session_.events()[report->members[0]].attr);
  });
  if (o_.starts_anew()) return {};
  for (const auto& report : reports_) {
    FadingRows& rows = fading_[report->members[0].index()];
    rows.fade();
    rows.add(*report);
  }
  return {};
}

bool LiveProfile::shows_lines() const {
  return o_.report.sort && o_.report.sort->find("src") != std::string::npos;
}

std::vector<LiveTable> LiveProfile::tables(size_t most) {
  std::vector<LiveTable> made;
  places_.assign(reports_.size(), {});
  for (size_t i = 0; i < reports_.size(); ++i) {
    EventId event = reports_[i]->members[0];
    if (o_.starts_anew()) {
      made.push_back({event, reports_[i]->name, reports_[i]->table});
      continue;
    }
    FadingRows::Shown shown = fading_[event.index()].table(most, o_.least_samples);
    set_widths(shown.table);
    places_[i] = std::move(shown.places);
    made.push_back({event, reports_[i]->name, std::move(shown.table)});
  }
  return made;
}

std::optional<Frame> LiveProfile::place(size_t table, uint32_t row) const {
  if (table < places_.size() && row < places_[table].size()) return places_[table][row];
  if (table >= reports_.size()) return std::nullopt;
  const report::EventReport::Data& data = *reports_[table]->data;
  if (row >= data.table_rows.size()) return std::nullopt;
  return report::frame_of_row(data, data.rows->any(data.table_rows[row]));
}

void LiveProfile::set_widths(view::Table& table) const {
  size_t column = 0;
  if (o_.report.widths.empty()) return;
  for (std::string_view word : split(o_.report.widths, ','))
    if (column < table.columns.size())
      table.columns[column++].user_width = parse_number(word).value_or(0);
}

void LiveProfile::forget_history() {
  for (FadingRows& rows : fading_) rows.clear();
}

Seen LiveProfile::seen() const {
  return {capture_, o_.record, features_.features, copies_, unwinding_.get()};
}

Result<std::string> LiveProfile::save() {
  return save_recording("perf.data", seen(), env_);
}

Result<std::unique_ptr<report::OpenRecording>> LiveProfile::recent() {
  Fd memory(::memfd_create("recent", MFD_CLOEXEC));
  if (!memory.valid()) return fail(ErrorCode::kIo, "no memory for recent samples");
  std::string path = fmt::format("/proc/self/fd/{}", memory.get());
  TRY(write_recording(path, seen(), env_));
  return open(path);
}

Result<std::unique_ptr<report::OpenRecording>> LiveProfile::open(const std::string& path) {
  // Its losses are already counted, or are none of the live profile's.
  auto outside = std::make_unique<report::Outside>(env_);
  Session session = TRY(Session::open(path, session_options(), outside->env));
  if (shows_lines()) prepare_lines(session);
  if (plan_.rows != report::RowsOf::kSamples) session.load_all_symbols();
  return std::make_unique<report::OpenRecording>(std::move(session), std::move(outside));
}

void LiveProfile::stop() {
  EventSwitch(env_.sys, capture_.events).disable();
}

void LiveProfile::finish() {
  ByteBuilder records;
  // The rings told of most of them already.
  uint64_t counted = env_.losses.count(LossKind::k_lost_by_kernel);
  uint64_t lost = read_lost_counts(env_.sys, capture_.events, records);
  if (lost > counted) env_.losses.add(LossKind::k_lost_by_kernel, lost - counted);
  if (unwinding_) unwinding_->report("top", o_.record, env_);
  close_events(capture_, env_.sys);
}

}  // namespace sonde::top
