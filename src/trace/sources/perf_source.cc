#include "trace/sources/perf_source.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "capture/opening/event_switch.h"
#include "capture/opening/lost_counts.h"
#include "capture/synthesis/recording_features.h"
#include "event/print_fmt/tracefs.h"
#include "trace/sources/record_items.h"
#include "trace/sources/ring_lane.h"

namespace sonde {
namespace {

/// A record's timestamp is taken a moment before the record is in the ring.
constexpr uint64_t kWriting_ns = 1'000'000;

SyscallAbi host_syscall_abi() {
#if defined(__aarch64__)
  return SyscallAbi::kArm64;
#else
  return SyscallAbi::kX86_64;
#endif
}

}  // namespace

struct PerfSource::State {
  State(Capture& opened, Env& world)
      : capture(opened), env(world), events(world.sys, opened.events) {
    for (EventDesc& event : event_descriptions(capture)) table.add(std::move(event));
    lanes.assign(capture.rings->rings().size(), RingLane(table));
  }

  /// Reads the formats of the tracepoints from the kernel.
  Result<> read_formats() {
    Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
    formats.resize(capture.events.size());
    for (size_t i = 0; i < capture.events.size(); ++i) {
      const CaptureEvent& event = capture.events[i];
      if (event.attr().type != abi::kTypeTracepoint) continue;
      std::string text = TRY(tracefs.format(event.parsed.tracepoint));
      formats[i] = TRY(TracepointFormat::parse(text, event.parsed.tracepoint.system));
    }
    return {};
  }

  /// The lane with the oldest record; kept as long as its records are older than those of all
  /// others.
  [[nodiscard]] RingLane* oldest_lane() {
    auto time_of = [](const RingLane& lane) {
      return lane.front() ? lane.front()->time : UINT64_MAX;
    };
    if (current != nullptr && current->front() != nullptr && current->front()->time <= others_ns)
      return current;
    current = nullptr;
    uint64_t best = UINT64_MAX;
    others_ns = UINT64_MAX;
    for (RingLane& lane : lanes) {
      if (lane.front() == nullptr) continue;
      uint64_t time = time_of(lane);
      if (current == nullptr || time < best) {
        if (current != nullptr) others_ns = std::min(others_ns, best);
        current = &lane;
        best = time;
      } else {
        others_ns = std::min(others_ns, time);
      }
    }
    return current;
  }

  /// Finds the oldest record that makes an item; time does not go back.
  bool find_front() {
    while (!has_front) {
      RingLane* lane = oldest_lane();
      if (lane == nullptr || lane->front()->time > safe_until) return false;
      TimedRecord record = *lane->front();
      if (record.time < handed_out) {
        env.losses.add(LossKind::k_out_of_order);
        record.time = handed_out;
      }
      has_front = items->make(record, front, env.losses);
      if (has_front)
        handed_out = record.time;
      else
        lane->pop();
    }
    return true;
  }

  Capture& capture;
  Env& env;
  EventSwitch events;
  EventTable table;
  std::vector<std::optional<TracepointFormat>> formats;
  std::optional<RecordItems> items;
  std::vector<RingLane> lanes;  // by ring
  RingLane* current = nullptr;
  uint64_t others_ns = 0;  // no other lane than the current one has anything older
  uint64_t safe_until = 0;
  uint64_t handed_out = 0;
  size_t fullest = 0;
  bool ended = false;
  TraceItem front;
  bool has_front = false;
};

PerfSource::PerfSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
PerfSource::~PerfSource() = default;

Result<std::unique_ptr<PerfSource>> PerfSource::make(Capture& capture,
                                                     const std::function<bool(size_t)>& is_call,
                                                     Env& env) {
  auto state = std::make_unique<State>(capture, env);
  TRY(state->read_formats());
  State& made = *state;
  made.items.emplace(
      made.table,
      [&made](EventId id) {
        const std::optional<TracepointFormat>& format = made.formats[id.index()];
        return format ? &*format : nullptr;
      },
      host_syscall_abi(), [&is_call](EventId id) { return is_call(id.index()); });
  return std::unique_ptr<PerfSource>(new PerfSource(std::move(state)));
}

const std::vector<TracedEvent>& PerfSource::events() const {
  return state_->items->events();
}

std::vector<int> PerfSource::wait_fds() const {
  std::vector<int> fds;
  for (const CaptureRing& ring : state_->capture.rings->rings()) fds.push_back(ring.buffer.fd());
  return fds;
}

Result<> PerfSource::start() {
  state_->events.enable();
  return {};
}

void PerfSource::stop() {
  state_->events.disable();
}

Result<> PerfSource::refill(bool all) {
  State& state = *state_;
  uint64_t now = monotonic_ns();
  state.fullest = 0;
  std::vector<CaptureRing>& rings = state.capture.rings->rings();
  for (size_t i = 0; i < rings.size(); ++i) {
    if (rings[i].buffer.is_backward()) continue;
    RingPiece piece = rings[i].buffer.peek();
    state.fullest = std::max(state.fullest, piece.size());
    state.lanes[i].add(piece);
    rings[i].buffer.consume();
  }
  state.current = nullptr;
  state.ended = all;
  state.safe_until = all ? UINT64_MAX : now - kWriting_ns;
  return {};
}

const TraceItem* PerfSource::front() {
  return state_->find_front() ? &state_->front : nullptr;
}

void PerfSource::pop() {
  state_->has_front = false;
  state_->oldest_lane()->pop();
}

uint64_t PerfSource::safe_until_ns() const {
  return state_->safe_until;
}

bool PerfSource::at_end() const {
  return state_->ended && std::ranges::all_of(state_->lanes, [](const RingLane& lane) {
           return lane.front() == nullptr;
         });
}

size_t PerfSource::fullest_bytes() const {
  return state_->fullest;
}

size_t PerfSource::ring_bytes() const {
  return state_->capture.rings->rings().front().buffer.data_size();
}

}  // namespace sonde
