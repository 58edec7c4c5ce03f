#include "python/tracepoint_run.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/memory_shortage.h"
#include "perfdata/header/dummy_event.h"
#include "python/interrupt.h"
#include "replay/fields/event_ids.h"
#include "replay/passes/placed_samples.h"
#include "replay/passes/thread_names.h"

namespace sonde::python {
namespace {

constexpr uint64_t kNeeded = abi::kSampleTid | abi::kSampleTime | abi::kSampleRaw;

/// Sorted samples on their way to the script's thread.
class Queue {
 public:
  /// Waits if many are waiting already.
  void push(std::vector<PlacedSample> samples) {
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
  /// Whether nothing more is wanted.
  [[nodiscard]] const std::atomic<bool>& over() const { return is_over_; }
  /// The next samples; nothing at the end.
  std::optional<std::vector<PlacedSample>> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty() || is_closed_; });
    if (waiting_.empty()) return std::nullopt;
    std::vector<PlacedSample> samples = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return samples;
  }

 private:
  static constexpr size_t kMost = 8;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<PlacedSample>> waiting_;
  bool is_closed_ = false;
  std::atomic<bool> is_over_ = false;
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
  Caller(TracepointCalls& calls, const FileScan& scan, const PlacedSamples& samples,
         const Machine& machine)
      : calls_(calls), scan_(scan), samples_(samples), ids_(scan.events()), names_(machine) {}

  Result<> call(std::span<const PlacedSample> samples) {
    constexpr size_t kAhead = 8;  // samples adjacent in time are far apart in the file
    for (size_t i = 0; i < samples.size() && !Interrupt::has_come(); ++i) {
      if (i + kAhead < samples.size()) __builtin_prefetch(samples[i + kAhead].record);
      TRY(call(samples[i]));
    }
    return {};
  }

 private:
  Result<> call(const PlacedSample& sample) {
    RecordView record = record_at(sample.record, scan_.facts().order);
    EventId event(size_t{ids_.of(record)});
    if (!calls_.handles(event)) return {};
    SampleHead head;
    const SampleOffsets& offsets = samples_.offsets(event);
    offsets.read(record, head);
    Bytes raw = offsets.raw_data(record, scan_.events()[event].layout);
    return calls_.call({event, raw, head.time, head.cpu, names_.at(head.tid, head.time)}, {});
  }

  TracepointCalls& calls_;
  const FileScan& scan_;
  const PlacedSamples& samples_;
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
  PlacedSamples placed(samples, losses);
  TracepointCalls calls(script.interpreter(), script.context(), context,
                        threads.machine().strings());
  calls.prepare(events, samples.features());
  Caller caller(calls, samples, placed, threads.machine());

  Queue queue;
  ThreadFailure failure;
  std::thread finder([&] {
    failure.guard([&] {
      placed.run(queue.over(), [&](std::span<const PlacedSample> batch) {
        queue.push({batch.begin(), batch.end()});
      });
    });
    queue.close();
  });
  Result<> done;
  while (done && !Interrupt::has_come()) {
    PyThreadState* state = py().PyEval_SaveThread();  // the script's own threads may run meanwhile
    std::optional<std::vector<PlacedSample>> batch = queue.pop();
    py().PyEval_RestoreThread(state);
    if (!batch) break;
    done = caller.call(*batch);
  }
  queue.end();
  finder.join();
  failure.rethrow();
  return done;
}

}  // namespace sonde::python
