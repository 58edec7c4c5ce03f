#include "kvm/kvm_live.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>

#include "base/text.h"
#include "capture/control/signal_queue.h"
#include "capture/opening/event_closer.h"
#include "capture/opening/event_selection.h"
#include "capture/opening/lost_counts.h"
#include "capture/rings/drain_pace.h"
#include "capture/rings/poller.h"
#include "capture/synthesis/recording_features.h"
#include "trace/sources/perf_source.h"
#include "tui/terminal/text_screen.h"

namespace sonde {
namespace {

/// Turns ring items into what KvmStat reads.
class ItemDecoder {
 public:
  explicit ItemDecoder(const std::vector<TracedEvent>& events) {
    for (const TracedEvent& event : events) {
      Places& places = places_.emplace_back();
      for (const TracepointRequest& request : kvm_tracepoints()) {
        if (request.name != event.name || event.format == nullptr) continue;
        places.kind = request.kind;
        for (size_t i = 0; i < request.fields.size(); ++i)
          places.fields[i] = IntField::of(*event.format, request.fields[i]);
      }
    }
  }

  [[nodiscard]] TracepointItem make(const TraceItem& traced) const {
    const Sample& sample = *traced.sample;
    const Places& places = places_[traced.event];
    TracepointItem item;
    item.time = traced.time_ns;
    item.pid = sample.id.pid;
    item.tid = sample.id.tid;
    item.cpu = sample.id.cpu;
    item.kind = places.kind;
    for (size_t i = 0; i < places.fields.size(); ++i)
      item.values[i] = places.fields[i].read(sample.raw, sample.order);
    return item;
  }

 private:
  struct Places {
    uint8_t kind = TracepointItem::kOther;
    std::array<IntField, TracepointRequest::kFields> fields;
  };
  std::vector<Places> places_;  // per event
};

class KvmLive {
 public:
  KvmLive(KvmLiveOptions& options, Env& env)
      : o_(options),
        env_(env),
        screen_(env.out, env.out_fd),
        keys_(screen_.is_terminal() ? env.in_fd : -1) {}

  Result<int> run() {
    SignalQueue signals = TRY(SignalQueue::create());
    Poller poller = TRY(Poller::create());
    TRY(open());
    poller.add(signals.fd(), [&](auto) { on_signals(signals); });
    if (keys_.is_on()) poller.add(keys_.fd(), [this](auto) { on_keys(); });
    for (int fd : source_->wait_fds()) poller.add(fd, [](auto) {});
    TRY(source_->start());
    due_ = Clock::now() + interval();
    while (!done_) {
      poller.wait(wait_ms());
      TRY(consume(false));
      if (Clock::now() >= due_) show();
    }
    source_->stop();
    TRY(consume(true));
    return finish();
  }

 private:
  using Clock = std::chrono::steady_clock;

  static bool contains(const std::vector<uint64_t>& numbers, uint64_t number) {
    return std::ranges::find(numbers, number) != numbers.end();
  }
  [[nodiscard]] Clock::duration interval() const {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(o_.display_s));
  }

  Result<> open() {
    EventSelection selection(/*counting=*/false);
    selection.serve(o_.record.target, o_.record.verbose, env_);
    for (const TracepointRequest& request : kvm_tracepoints())
      TRY(selection.parse(request.name, o_.record.events, env_));
    o_.record.made = selection.made();
    capture_.emplace(TRY(set_up_capture(o_.record, false, env_)));
    RecordingFeatures here = TRY(initial_features(*capture_, o_.record, env_.tool));
    o_.view.machine = TRY(kvm_machine_of(here.features.cpu_id.value_or("")));
    source_ = TRY(PerfSource::make(*capture_, [](size_t) { return false; }, env_));
    items_.emplace(source_->events());
    o_.view.on_slow = [this](const KvmSlowEvent& event) { report_slow(event); };
    stat_.emplace(o_.view);
    return {};
  }

  Result<> consume(bool all) {
    TRY(source_->refill(all));
    while (const TraceItem* item = source_->front()) {
      if (item->kind == TraceItem::Kind::kSample) {
        stat_->consume(items_->make(*item));
        ++seen_;
      } else if (item->kind == TraceItem::Kind::kLost) {
        lost_ += item->lost;
      }
      source_->pop();
    }
    pace_ms_ = pace_.next_wait_ms(DrainPace::Clock::now(), source_->fullest_bytes(),
                                  source_->ring_bytes());
    return {};
  }

  [[nodiscard]] int wait_ms() const {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due_ - Clock::now()).count();
    int until_due = static_cast<int>(std::clamp<int64_t>(left + 1, 0, INT32_MAX));
    return pace_ms_ < 0 ? until_due : std::min(until_due, pace_ms_);
  }

  void show() {
    StringSink text(env_.out);
    std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    text.print("{:%H:%M:%S}\n", local);
    stat_->write(text);
    if (lost_ > 0) text.print("Lost events: {}\n\n", lost_);
    text.write_lines(slow_);
    screen_.show(text, keys_.is_on() ? "q quit" : "");
    for (uint64_t number : stat_->unknown_exits())
      if (!contains(unknown_, number)) unknown_.push_back(number);
    if (env_.out.failed() != 0) done_ = true;
    slow_.clear();
    stat_->start_anew();
    due_ = Clock::now() + interval();
  }

  void report_slow(const KvmSlowEvent& event) {
    constexpr uint64_t kMicrosecond = 1000;
    slow_ += fmt::format("VM {}, vcpu {}: {} event took {}usec\n", event.pid, event.vcpu,
                         event.name, event.length_ns / kMicrosecond);
  }

  Result<int> finish() {
    show();
    screen_.leave();
    report_unknown_exits(unknown_, o_.view.machine, env_);
    ByteBuilder records;
    lost_ = std::max(lost_, read_lost_counts(env_.sys, capture_->events, records));
    if (lost_ > 0) env_.losses.add(LossKind::k_lost_by_kernel, lost_);
    close_events(*capture_, env_.sys);
    if (seen_ == 0)
      env_.err.write(
          "kvm stat live: nothing was seen of any guest: none ran on KVM, or this kernel has its "
          "tracepoints off (kvm:kvm_entry, kvm:kvm_exit)\n");
    return 0;
  }

  void on_signals(SignalQueue& signals) {
    while (std::optional<int> number = signals.next())
      if (*number == SIGINT || *number == SIGTERM || *number == SIGHUP) done_ = true;
  }
  void on_keys() {
    for (char key : keys_.read())
      if (key == 'q' || key == 'Q') done_ = true;
  }

  KvmLiveOptions& o_;
  Env& env_;
  tui::TextScreen screen_;
  tui::KeyInput keys_;
  std::optional<Capture> capture_;
  std::unique_ptr<PerfSource> source_;
  std::optional<ItemDecoder> items_;
  std::optional<KvmStat> stat_;
  DrainPace pace_{DrainPace::Clock::now()};
  int pace_ms_ = -1;
  Clock::time_point due_;
  std::string slow_;
  std::vector<uint64_t> unknown_;
  uint64_t seen_ = 0, lost_ = 0;
  bool done_ = false;
};

}  // namespace

void report_unknown_exits(std::span<const uint64_t> numbers, KvmMachine machine, Env& env) {
  for (uint64_t number : numbers)
    env.err.print("unknown kvm exit code:{} on {}\n", number,
                  machine == KvmMachine::kIntel ? "VMX" : "SVM");
}

Result<int> run_kvm_live(KvmLiveOptions& options, Env& env) {
  return KvmLive(options, env).run();
}

}  // namespace sonde
