// What `inject --itrace` leaves out of a copy: the traces themselves, whose samples it has instead.
#pragma once

#include "itrace/synthesizer.h"
#include "objects/record_rewriter.h"
#include "perfdata/records/trace_flags.h"

namespace sonde {

class TraceRecords final : public RecordRewriter {
 public:
  /// `strips`: samples that were not made of a trace are left out, too.
  TraceRecords(const EventTable& events, bool strips) : events_(events), strips_(strips) {}

  bool rewrite(const InjectedRecord& record, ByteBuilder& out) override {
    const RecordView& view = record.view;
    switch (view.type) {
      case abi::kRecordAuxtrace:
      case abi::kRecordAuxtraceInfo:
      case abi::kRecordAux:
      case abi::kRecordItraceStart:
        return true;
      case abi::kRecordSample:
        if (!record.event.valid() || !itrace::is_of_trace(events_[record.event])) return strips_;
        return without_flags(view, out);
      default:
        return false;
    }
  }

 private:
  /// Other readers do not expect anything behind a sample's fields.
  static bool without_flags(const RecordView& view, ByteBuilder& out) {
    auto details = trace_details_of(view);
    if (!details) return false;
    Bytes fields = view.raw().first(view.size() - details->size());
    out.bytes(fields);
    constexpr size_t kSizeInHeader = 6;
    out.patch<uint16_t>(kSizeInHeader, static_cast<uint16_t>(fields.size()));
    return true;
  }

  const EventTable& events_;
  bool strips_;
};

}  // namespace sonde
