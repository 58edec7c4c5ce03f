// Samples that the processor wrote into its trace (PEBS via PT): which event each is of, and what
// it says (--itrace=o).
//
//   PebsOrigins origins(events, input, queue);
//   origins.find(items, time_ns, found);        // the events whose counters overflowed
//   PebsFields fields;
//   fields.put(items, attr, sample);            // what such an event's samples are to contain
#pragma once

#include <cstdint>
#include <vector>

#include "itrace/options.h"
#include "itrace/trace_input.h"
#include "perfdata/header/event_table.h"
#include "perfdata/records/sample.h"
#include "pt/block_items.h"

namespace sonde::itrace {

/// Leaves out registers that no such record has (segments) from what the samples of these events
/// are said to contain, except where a recording has samples of its own of them.
void prepare_pebs_events(EventTable& events, const TraceInput& input);

/// The events with `aux_output` that wrote into a queue's trace.
class PebsOrigins {
 public:
  PebsOrigins() = default;  // of none
  PebsOrigins(const EventTable& events, const TraceInput& input, const TraceQueue& queue);

  struct Origin {
    EventId event;
    uint64_t id = 0;  // of its samples
  };
  [[nodiscard]] bool empty() const { return !only_.event.valid() && !are_several_; }
  /// Sets `found` to one for each counter that the record is of, as AUX_OUTPUT_HW_ID records tell.
  /// Returns the number of counters that belong to an event that is not known.
  uint64_t find(const pt::BlockItems& items, uint64_t time_ns, std::vector<Origin>& found) const;

 private:
  struct Told {
    uint64_t time_ns;
    Origin origin;
  };
  static constexpr size_t kCounters = 64;
  [[nodiscard]] Origin of_counter(int counter, uint64_t time_ns) const;

  Origin only_;  // the only such event of the recording, if it has no more
  bool are_several_ = false;
  std::vector<std::vector<Told>> told_;  // by counter, each by time
};

class PebsFields {
 public:
  /// Registers are told only if all that the event asks for are there. What the sample views is
  /// valid until the next call.
  void put(const pt::BlockItems& items, const abi::EventAttr& attr, Sample& sample);

 private:
  void put_registers(const pt::BlockItems& items, uint64_t mask, Sample& sample);
  void put_branches(const pt::BlockItems& items, Sample& sample);

  std::vector<uint64_t> registers_, branches_;
};

}  // namespace sonde::itrace
