// KernelEvent: one event, open on CPUs × threads; and EventRings, from which the records of several
// are read, one at a time. Nothing of Python is in here.
#pragma once

#include <sys/types.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi/perf_event.h"
#include "base/sys.h"
#include "capture/rings/ring_buffer.h"
#include "event/parser/event_list.h"
#include "event/print_fmt/tracepoint_format.h"
#include "perfdata/records/sample.h"

namespace sonde::bindings {

/// What a counter has counted, and for how long; times in ns.
struct CounterValue {
  uint64_t value = 0, enabled = 0, running = 0, id = 0, lost = 0;

  /// What was counted after an earlier reading.
  [[nodiscard]] CounterValue since(const CounterValue& before) const {
    return {value - before.value, enabled - before.enabled, running - before.running, id, lost};
  }
};

class KernelEvent {
 public:
  KernelEvent() = default;
  explicit KernelEvent(ParsedEvent event) : parsed(std::move(event)) {}
  ~KernelEvent() { close(); }
  KernelEvent(const KernelEvent&) = delete;
  KernelEvent& operator=(const KernelEvent&) = delete;

  ParsedEvent parsed;
  bool tracks = true;  // may carry the sideband: mmap, comm, task

  [[nodiscard]] abi::EventAttr& attr() { return parsed.attr; }

  /// Opens it for each thread (-1: any) on each CPU (-1: any); what was open is closed before. The
  /// error is an errno, and nothing stays open. With a `leader`, which must be open on the same,
  /// as a member of its group.
  SysResult<void> open(std::vector<int> cpus, std::vector<pid_t> threads,
                       const KernelEvent* leader = nullptr);
  void close();
  [[nodiscard]] bool is_open() const { return !descriptors_.empty(); }
  [[nodiscard]] const std::vector<int>& cpus() const { return cpus_; }
  [[nodiscard]] const std::vector<pid_t>& threads() const { return threads_; }
  /// Descriptors, the threads of a CPU side by side.
  [[nodiscard]] std::span<const int> descriptors() const { return descriptors_; }

  SysResult<void> control(unsigned long request) const;
  /// What was counted since the last call. ENOENT: not open there. A group's leader gives its own
  /// value.
  SysResult<CounterValue> read(int cpu, pid_t thread);
  /// Likewise, but since it was opened. Does not change what `read` gives.
  SysResult<CounterValue> total(int cpu, pid_t thread);

  [[nodiscard]] const SampleLayout& layout();
  /// The format of a tracepoint; null for other events, and if it cannot be read.
  [[nodiscard]] const TracepointFormat* format();

 private:
  /// -1: not open there.
  [[nodiscard]] int descriptor_of(int cpu, pid_t thread) const;

  std::vector<int> cpus_;
  std::vector<pid_t> threads_;
  std::vector<int> descriptors_;
  std::map<int, CounterValue> last_;  // by descriptor
  std::optional<SampleLayout> layout_;
  std::optional<TracepointFormat> format_;
  bool looked_for_format_ = false;
};

/// A record, and the event that it belongs to. Valid until the next one of that CPU is read.
struct EventRecord {
  RecordView view;
  KernelEvent* event = nullptr;
};

class EventRings {
 public:
  /// Maps rings for open events: one for each CPU, or, where events are open on any CPU, one for
  /// each thread. The events must outlive it. EBADF: one is not open, or elsewhere than the first.
  SysResult<void> map(std::span<KernelEvent* const> events, size_t pages);
  [[nodiscard]] bool is_mapped() const { return !rings_.empty(); }
  /// One descriptor per ring, to be polled.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// Whether there is a ring for that CPU.
  [[nodiscard]] bool has(int cpu) const;
  /// The next record of that CPU's rings, if there is one.
  std::optional<EventRecord> next(int cpu);

 private:
  struct Ring {
    int cpu;
    RingBuffer buffer;
    std::vector<std::byte> taken = {};  // out of the ring, not yet read to its end
    size_t position = 0;
  };
  static bool refill(Ring& ring);
  [[nodiscard]] KernelEvent* owner_of(const RecordView& view) const;

  std::deque<Ring> rings_;
  std::vector<KernelEvent*> events_;
  std::map<uint64_t, KernelEvent*> by_id_;
};

/// The tracepoint with that id; nothing if there is none, or tracefs cannot be read.
std::optional<TracepointName> find_tracepoint(uint64_t id);

}  // namespace sonde::bindings
