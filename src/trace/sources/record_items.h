// Turns perf records into the items of a TraceSource: system calls from samples of their
// tracepoints, samples of other events, and the records about tasks and losses.
//
// Calls are samples of raw_syscalls:sys_enter and sys_exit, or of the per-call tracepoints
// (syscalls:sys_enter_accept). The offsets of their fields are looked up once per event; after
// that, a record is a few loads.
#pragma once

#include <functional>
#include <vector>

#include "base/loss.h"
#include "perfdata/header/event_table.h"
#include "perfdata/read/ordering.h"
#include "trace/sources/trace_source.h"

namespace sonde {

class RecordItems {
 public:
  using FormatOf = std::function<const TracepointFormat*(EventId)>;
  /// `is_call`: whether a syscall tracepoint is one whose samples become calls, rather than an
  /// event in its own right.
  RecordItems(const EventTable& events, const FormatOf& format_of, SyscallAbi abi,
              const std::function<bool(EventId)>& is_call);

  [[nodiscard]] const std::vector<TracedEvent>& events() const { return traced_; }

  /// Makes `item` from a record; false if there is nothing to hand out. The item's views are valid
  /// as long as the record and this.
  bool make(const TimedRecord& record, TraceItem& item, LossLedger& losses);

 private:
  enum class Use : uint8_t { kSample, kEnter, kExit };
  struct Place {
    uint32_t offset = 0, size = 0;
  };
  struct Plan {
    Use use = Use::kSample;
    Place number, result;
    std::array<Place, 6> args = {};
    bool is_shown = false;  // asked for as an event: not paired to calls
  };

  static Plan plan_of(const TracepointFormat& format);
  bool make_sample(const TimedRecord& record, TraceItem& item, LossLedger& losses);
  bool make_call(const Plan& plan, TraceItem& item) const;
  bool make_task(const TimedRecord& record, TraceItem& item);
  [[nodiscard]] static bool load(Bytes raw, ByteOrder order, const Place& place, uint64_t& value);

  const EventTable& table_;
  SyscallAbi abi_;
  std::vector<TracedEvent> traced_;
  std::vector<Plan> plans_;  // by event
  Sample sample_;
  RecordView record_;
  SampleLayout no_layout_;
};

}  // namespace sonde
