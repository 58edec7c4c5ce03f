// Instruction traces in the text of `-D`: a line for each packet, as perf prints it.
//
//   .
//   . ... Intel Processor Trace data: size 64 bytes
//   .  00000000:  02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82 PSB
//   .  00000010:  99 01                                           MODE.Exec IF:0 64
#pragma once

#include "base/sink.h"
#include "etm/trace_unit.h"
#include "perfdata/records/record.h"
#include "perfdata/records/sample.h"

namespace sonde::dump {

/// Knows what kind of trace the recording has, from the records that came so far.
class TraceDump {
 public:
  /// AUXTRACE_INFO, which tells the kind.
  void take_info(const RecordView& record);
  /// What says how traces after it in the file are encoded: AUX, AUX_OUTPUT_HW_ID.
  void note(const RecordView& record, const SampleLayout& layout);
  /// The data that follows an AUXTRACE record.
  void put(Bytes trace, Sink& out) const;
  /// The piece of a trace that a sample carries; empty if it carries none.
  void put_of_sample(Bytes trace, Sink& out) const;

 private:
  void put_etm(Bytes trace, Sink& out) const;

  uint32_t type_ = 0;  // of the latest AUXTRACE_INFO; 0: none
  Result<etm::TraceUnits> units_;
  etm::Format format_ = etm::Format::kFrames;
};

}  // namespace sonde::dump
