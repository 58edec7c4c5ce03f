#include "python/tracepoint_run.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "python/interrupt.h"
#include "replay/fields/event_ids.h"
#include "replay/fields/sample_offsets.h"
#include "replay/passes/record_pipeline.h"
#include "replay/passes/thread_names.h"

namespace sonde::python {
namespace {

constexpr uint64_t kNeeded = abi::kSampleTid | abi::kSampleTime | abi::kSampleRaw;

bool is_dummy(const abi::EventAttr& attr) {
  return attr.type == abi::kTypeSoftware && attr.config == abi::kSwDummy;
}

struct TimedRecord {
  uint64_t time = 0;                  // ns
  const std::byte* record = nullptr;  // its header
};

uint64_t place_in_file(const TimedRecord& sample) {
  return reinterpret_cast<uintptr_t>(sample.record);
}

/// Sorted samples on their way to the script's thread.
class Queue {
 public:
  /// Waits if many are waiting already.
  void push(std::vector<TimedRecord> samples) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kMost || is_over_; });
    waiting_.push_back(std::move(samples));
    changed_.notify_all();
  }
  void close() {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  /// Nothing more is wanted: nobody waits any longer.
  void end() {
    std::lock_guard lock(mutex_);
    is_over_ = true;
    waiting_.clear();
    changed_.notify_all();
  }
  [[nodiscard]] bool is_over() const { return is_over_.load(std::memory_order_relaxed); }
  /// The next samples; nothing at the end.
  std::optional<std::vector<TimedRecord>> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty() || is_closed_; });
    if (waiting_.empty()) return std::nullopt;
    std::vector<TimedRecord> samples = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return samples;
  }

 private:
  static constexpr size_t kMost = 8;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<TimedRecord>> waiting_;
  bool is_closed_ = false;
  std::atomic<bool> is_over_ = false;
};

class SampleDecoder {
 public:
  using Item = TimedRecord;
  static constexpr bool kKeepsState = false;
  SampleDecoder(const std::vector<SampleOffsets>& places, const EventTable& events,
                const Queue& queue)
      : places_(places), events_(events), queue_(queue) {}

  Decoded decode(const RecordView& record, uint32_t event, TimedRecord& sample) {
    SampleHead head;
    if (!places_[event].read(record, head) ||
        places_[event].raw_data(record, events_[EventId(size_t{event})].layout).empty())
      return Decoded::kBad;
    sample = {head.time, record.raw().data()};
    return Decoded::kItem;
  }
  static bool decode_other(const OtherRecord& /*record*/, TimedRecord& /*sample*/) { return false; }
  [[nodiscard]] bool is_over() const { return queue_.is_over(); }

 private:
  const std::vector<SampleOffsets>& places_;
  const EventTable& events_;
  const Queue& queue_;
};

/// The names of threads, each with its time of validity.
class CachedNames {
 public:
  explicit CachedNames(const Machine& machine) : machine_(machine), slots_(kSlots) {}
  StringId at(uint32_t tid, uint64_t time) {
    Slot& slot = slots_[tid % kSlots];
    if (slot.tid != tid || time < slot.name.valid_from || time >= slot.name.valid_to)
      slot = {tid, machine_.comm_span_at(tid, time)};
    return slot.name.comm;
  }

 private:
  static constexpr size_t kSlots = 1024;
  struct Slot {
    uint32_t tid = 0;
    Machine::CommAt name{StringId(), 1, 0};  // never valid
  };
  const Machine& machine_;
  std::vector<Slot> slots_;
};

/// The script's side.
class Caller {
 public:
  Caller(TracepointCalls& calls, const FileScan& scan, const std::vector<SampleOffsets>& places,
         const Machine& machine)
      : calls_(calls), scan_(scan), places_(places), ids_(scan.events()), names_(machine) {}

  Result<> call(std::span<const TimedRecord> samples) {
    constexpr size_t kAhead = 8;  // samples adjacent in time are far apart in the file
    for (size_t i = 0; i < samples.size() && !Interrupt::has_come(); ++i) {
      if (i + kAhead < samples.size()) __builtin_prefetch(samples[i + kAhead].record);
      TRY(call(samples[i]));
    }
    return {};
  }

 private:
  Result<> call(const TimedRecord& sample) {
    RecordView record = record_at(sample.record, scan_.facts().order);
    EventId event(size_t{ids_.of(record)});
    if (!calls_.handles(event)) return {};
    SampleHead head;
    const SampleOffsets& places = places_[event.index()];
    places.read(record, head);
    Bytes raw = places.raw_data(record, scan_.events()[event].layout);
    return calls_.call({event, raw, head.time, head.cpu, names_.at(head.tid, head.time)}, {});
  }

  TracepointCalls& calls_;
  const FileScan& scan_;
  const std::vector<SampleOffsets>& places_;
  EventIds ids_;
  CachedNames names_;
};

}  // namespace

bool is_of_tracepoints(const EventTable& events) {
  if (file_order_is_time(events)) return false;
  bool any = false;
  for (const EventDesc& event : events.all()) {
    if (is_dummy(event.attr)) continue;
    if (event.attr.type != abi::kTypeTracepoint || (event.attr.sample_type & kNeeded) != kNeeded)
      return false;
    any = true;
  }
  return any;
}

Result<> run_tracepoints(ScriptEvents& script, const PyRef& context, FileScan& names,
                         FileScan& samples, LossLedger& losses) {
  ThreadNames threads(names, losses);
  names.forget_all();
  const EventTable& events = samples.events();
  std::vector<SampleOffsets> places;
  for (const EventDesc& event : events.all())
    places.push_back(SampleOffsets::of(event.attr.sample_type));
  TracepointCalls calls(script.interpreter(), script.context(), context,
                        threads.machine().strings());
  calls.prepare(events, samples.features());
  Caller caller(calls, samples, places, threads.machine());

  Queue queue;
  SampleDecoder decoder(places, events, queue);
  std::thread finder([&] {
    process_records(
        samples, losses, decoder, SortedBy::kOwnStep,
        [&](std::span<const TimedRecord> batch) { queue.push({batch.begin(), batch.end()}); });
    queue.close();
  });
  Result<> done;
  while (done && !Interrupt::has_come()) {
    PyThreadState* state = py().PyEval_SaveThread();  // the script's own threads may run meanwhile
    std::optional<std::vector<TimedRecord>> batch = queue.pop();
    py().PyEval_RestoreThread(state);
    if (!batch) break;
    done = caller.call(*batch);
  }
  queue.end();
  finder.join();
  return done;
}

}  // namespace sonde::python
