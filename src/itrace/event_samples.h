// Samples of what a trace tells besides branches: PTWRITE, changes of the power state, the core's
// frequency, and where its PSB packets are (--itrace=wp). Those of the event trace are the
// synthesizer's.
//
// Some of these packets come without an address: they belong between the latest instruction and the
// next, and have the address of that, as soon as it is known.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "itrace/options.h"
#include "itrace/trace_input.h"
#include "perfdata/header/event_table.h"
#include "perfdata/records/trace_events.h"
#include "pt/flow_decoder.h"

namespace sonde::itrace {

/// By TraceEventKind; invalid: not asked for.
using TraceEventIds = std::array<EventId, kTraceEventKinds>;

/// Of the samples that `options` ask for, in the order in which perf adds their events.
std::vector<TraceEventKind> wanted_trace_events(const ItraceOptions& options);
/// "ptwrite"
const char* name_of(TraceEventKind kind);

class EventSamples {
 public:
  /// Receives a sample. `now` is the time stamp counter.
  using Put = std::function<void(EventId event, uint64_t ip, Bytes raw, uint64_t now)>;

  EventSamples(const TraceEventIds& events, const TraceInput& input, Put put);

  void ptwrite(std::optional<uint64_t> ip, uint64_t value, uint64_t now);
  void power(const pt::PowerEvent& event, std::optional<uint64_t> ip, uint64_t now);
  /// Only changes are shown.
  void core_frequency(uint32_t ratio, uint64_t now);
  /// All PSBs of a piece of trace that begins at `offset` of its queue.
  void psbs(Bytes trace, uint64_t offset);
  /// Where the processor goes on; 0: nobody knows.
  void goes_on(uint64_t ip) {
    if (!waiting_.empty()) put_waiting(ip);
  }

 private:
  struct Waiting {
    TraceEventKind kind;
    TraceEventData data;
    uint64_t now;
  };
  void put_waiting(uint64_t ip);
  void take(TraceEventKind kind, const TraceEventData& data, std::optional<uint64_t> ip,
            uint64_t now);
  void put(TraceEventKind kind, const TraceEventData& data, uint64_t ip, uint64_t now);

  TraceEventIds events_;
  Put put_;
  bool tells_ptwrite_ip_;
  uint32_t base_ratio_;  // the largest one without turbo
  uint64_t kilohertz_per_ratio_;
  std::optional<uint32_t> ratio_;
  std::vector<Waiting> waiting_;
  ByteBuilder raw_;
};

}  // namespace sonde::itrace
