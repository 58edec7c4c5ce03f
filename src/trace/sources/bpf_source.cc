#include "trace/sources/bpf_source.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "trace/sources/bpf_file_names.h"
#include "trace/sources/bpf_request.h"
#include "trace/sources/bpf_rings.h"
#include "trace/sources/bpf_totals.h"

namespace sonde {
namespace {

/// The time from taking a record's timestamp until the record is in its ring: some microseconds,
/// unless the CPU itself is held up.
constexpr uint64_t kSlackNs = 1'000'000;
constexpr uint64_t kBusyNs = 4'000'000, kIdleNs = 64'000'000;

/// A one-shot timer that fires when it is worth looking.
class LookTimer {
 public:
  static Result<LookTimer> create() {
    LookTimer timer;
    timer.fd_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!timer.fd_.valid())
      return fail(ErrorCode::kFailed, "cannot create a timer: {}", std::strerror(errno));
    timer.set(true);
    return timer;
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Rearms after a look that found something, or nothing.
  void set(bool found) {
    wait_ns_ = found ? kBusyNs : std::min(wait_ns_ * 2, kIdleNs);
    itimerspec when{};
    when.it_value.tv_nsec = static_cast<long>(wait_ns_);
    ::timerfd_settime(fd_.get(), 0, &when, nullptr);
  }

 private:
  Fd fd_;
  uint64_t wait_ns_ = kBusyNs;
};

}  // namespace

struct BpfSource::State {
  State(const TraceRequest& wanted, LossLedger& ledger, LookTimer look)
      : request(wanted), losses(ledger), timer(std::move(look)) {}

  TraceRequest request;
  LossLedger& losses;
  LookTimer timer;
  SyscallAbis abis = host_syscall_abis();
  std::optional<SyscallTrace> trace;  // one of the two
  std::optional<SyscallTotals> sums;
  std::optional<BpfRings> rings;

  TraceItem item;
  bool has_item = false;
  bool item_is_record = false;
  std::vector<ArgMemory> memory;
  BpfFileNames file_names;
  uint64_t safe_ns = 0, last_ns = 0;
  uint64_t lost_before = 0, lost_now = 0;
  uint64_t not_followed = 0;
  bool tasks_gone = false;
  std::vector<SyscallTotals::Name> names;  // what totals() returned points into them

  Result<> open_programs(TracedCalls calls);
  template <typename Programs>
  Result<> look_after(Programs& programs);
  bool next_record();
  void give_time(uint64_t time_ns);
};

BpfSource::BpfSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
BpfSource::~BpfSource() = default;

Result<> BpfSource::State::open_programs(TracedCalls calls) {
  if (request.totals != TraceRequest::Totals::kNone) {
    auto by = request.totals == TraceRequest::Totals::kByThread   ? SyscallTotals::By::kThread
              : request.totals == TraceRequest::Totals::kByCgroup ? SyscallTotals::By::kCgroup
                                                                  : SyscallTotals::By::kAll;
    sums = TRY(SyscallTotals::open(calls, by));
  } else {
    trace = TRY(
        SyscallTrace::open(calls, rules_for(request, calls), {.ring_bytes = request.buffer_bytes}));
    rings.emplace(trace->rings());
  }
  return {};
}

Result<std::unique_ptr<BpfSource>> BpfSource::open(const TraceRequest& request,
                                                   LossLedger& losses) {
  TracedCalls calls = TRY(traced_calls(request));
  auto state = std::make_unique<State>(request, losses, TRY(LookTimer::create()));
  Result<> opened = state->open_programs(calls);
  if (!opened && !calls.tracepoints.empty()) {
    // Without tracefs there are no per-call tracepoints; the common ones do not need it.
    calls.tracepoints.clear();
    opened = state->open_programs(calls);
  }
  if (!opened) return std::unexpected(opened.error());
  // Threads that started before the programs were attached.
  std::vector<uint32_t> tids = threads_asked_for(request);
  if (state->trace) state->trace->follow(tids);
  if (state->sums) state->sums->follow(tids);
  return std::unique_ptr<BpfSource>(new BpfSource(std::move(state)));
}

std::vector<int> BpfSource::wait_fds() const {
  return {state_->timer.fd()};
}

Result<> BpfSource::start() {
  if (state_->trace) state_->trace->set_enabled(true);
  if (state_->sums) state_->sums->set_enabled(true);
  return {};
}

void BpfSource::stop() {
  if (state_->trace) state_->trace->set_enabled(false);
  if (state_->sums) state_->sums->set_enabled(false);
}

/// Handles what has changed about the programs and their tasks since the last call.
template <typename Programs>
Result<> BpfSource::State::look_after(Programs& programs) {
  if (TRY(programs.include_new_compat_programs()))
    losses.add(LossKind::k_lost_by_kernel, 1, "the first calls of a 32-bit program");
  uint64_t now = programs.tasks_not_followed();
  if (now != not_followed) losses.add(LossKind::k_task_not_followed, now - not_followed);
  not_followed = now;
  bool has_targets = !request.pids.empty() || !request.tids.empty();
  tasks_gone = has_targets && !programs.has_tasks();
  lost_now = programs.lost();
  return {};
}

Result<> BpfSource::refill(bool all) {
  State& state = *state_;
  uint64_t now = monotonic_ns();
  if (state.trace) TRY(state.look_after(*state.trace));
  if (state.sums) TRY(state.look_after(*state.sums));
  bool at_last = all || state.tasks_gone;
  state.safe_ns = at_last ? UINT64_MAX : now - kSlackNs;
  if (state.rings) state.rings->look(state.safe_ns);
  state.timer.set(state.rings && !state.rings->front().empty());
  return {};
}

/// The times of items never go back.
void BpfSource::State::give_time(uint64_t time_ns) {
  if (time_ns < last_ns) losses.add(LossKind::k_out_of_order);
  last_ns = std::max(last_ns, time_ns);
  item.time_ns = last_ns;
}

bool BpfSource::State::next_record() {
  while (rings && !rings->front().empty()) {
    if (decode_call_record(rings->front(), abis, item.call, memory)) {
      item.kind = TraceItem::Kind::kCall;
      item.call.files = file_names.take(item.call);
      give_time(rings->front_ns());
      return true;
    }
    losses.add(LossKind::k_bad_record);
    rings->pop();
  }
  return false;
}

const TraceItem* BpfSource::front() {
  State& state = *state_;
  if (state.has_item) return &state.item;
  if (uint64_t lost = state.lost_now - state.lost_before; lost != 0) {
    state.item.kind = TraceItem::Kind::kLost;
    state.item.lost = lost;
    state.item.time_ns = state.last_ns;
    state.lost_before = state.lost_now;
    state.item_is_record = false;
    state.has_item = true;
  } else {
    state.item_is_record = state.has_item = state.next_record();
  }
  return state.has_item ? &state.item : nullptr;
}

void BpfSource::pop() {
  State& state = *state_;
  if (!state.has_item) return;
  state.has_item = false;
  if (state.item_is_record) state.rings->pop();
}

uint64_t BpfSource::safe_until_ns() const {
  const State& state = *state_;
  return state.rings && !state.rings->front().empty() ? state.rings->front_ns() : state.safe_ns;
}

bool BpfSource::at_end() const {
  const State& state = *state_;
  return state.tasks_gone && !state.has_item && (!state.rings || state.rings->front().empty());
}

std::vector<SyscallTrace::Loss> BpfSource::losses() const {
  if (!state_->trace) return {};
  std::vector<SyscallTrace::Loss> all = state_->trace->losses();
  std::ranges::sort(all, std::greater{}, &SyscallTrace::Loss::count);
  return all;
}

Result<std::vector<CallTotals>> BpfSource::totals() {
  State& state = *state_;
  if (!state.sums) return std::vector<CallTotals>{};
  state.names = state.sums->names();
  return total_rows(state.sums->rows(), state.names,
                    {state.request.totals, state.request.errno_totals, state.abis});
}

Result<int> BpfSource::map(std::string_view name) const {
  return state_->trace ? state_->trace->map(name) : state_->sums->map(name);
}

}  // namespace sonde
