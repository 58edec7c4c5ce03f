// Records other than samples as lines of `script`: who, when, and the record in perf's notation.
//
//   swapper     0 [000]     0.000000: PERF_RECORD_FORK(2:2):(0:0)
//
// Selected by --show-task-events and related options; they are printed between the samples, in time
// order.
#pragma once

#include <cstdint>
#include <string>

#include "script/sample_printer.h"

namespace sonde {

/// Which records are shown: one switch per --show-…-events.
struct RecordFilter {
  bool tasks = false;
  bool mmaps = false;
  bool switches = false;
  bool namespaces = false;
  bool cgroups = false;
  bool bpf = false;
  bool lost = false;
  bool text_pokes = false;
  bool merge_chains = true;   // false: deferred user parts of call chains are shown separately
  bool rounds = false;        // everything is then in file order
  bool trace_errors = false;  // of instruction traces; set if there are any

  [[nodiscard]] bool wants(uint32_t type) const;
  [[nodiscard]] bool any() const;
};

class RecordLines {
 public:
  RecordLines(const Session& session, const SamplePrinter& printer)
      : session_(session), printer_(printer) {}

  /// The task and time from the id block of the record; zeros if it has none.
  [[nodiscard]] SampleId who(const OtherRecord& record) const;
  /// `shown_time` may be relative.
  void print(const OtherRecord& record, uint64_t shown_time, std::string& out) const;

 private:
  void print_deferred_chain(const OtherRecord& record, const SampleId& who, EventId event,
                            std::string& out) const;
  [[nodiscard]] EventId event_of(const OtherRecord& record) const;
  [[nodiscard]] uint32_t subject(const RecordView& record, const EventDesc& event,
                                 const SampleId& id) const;

  const Session& session_;
  const SamplePrinter& printer_;
};

}  // namespace sonde
