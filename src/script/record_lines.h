// Records that are not samples as lines of `script`: who, when, and the record in perf's words.
//
//   swapper     0 [000]     0.000000: PERF_RECORD_FORK(2:2):(0:0)
//
// --show-task-events and its sisters choose them; they come between the samples, in time order.
#pragma once

#include <cstdint>
#include <string>

#include "script/sample_printer.h"

namespace sonde {

/// Which records are shown: one switch per --show-…-events.
struct RecordChoice {
  bool tasks = false;
  bool mmaps = false;
  bool switches = false;
  bool namespaces = false;
  bool cgroups = false;
  bool bpf = false;
  bool lost = false;
  bool text_pokes = false;
  bool merge_chains = true;  // false: deferred user parts of call chains are shown by themselves
  bool rounds = false;       // then everything comes in the order of the file

  [[nodiscard]] bool wants(uint32_t type) const;
  [[nodiscard]] bool any() const;
};

class RecordLines {
 public:
  RecordLines(const Session& session, const SamplePrinter& printer)
      : session_(session), printer_(printer) {}

  /// Who and when, by the id block behind the record; zeros where there is none.
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
