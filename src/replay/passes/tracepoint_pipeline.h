// TracepointPipeline: samples of some tracepoints, in time order and bounded memory, with the few
// integer fields that an analysis asks for (replay/passes/tracepoint_scan.h).
//
//   constexpr std::array kWishes{TracepointRequest{"irq:softirq_entry", kEntry, {"vec"}}, …};
//   TracepointPipeline pipeline(scan, kWishes, losses);
//   pipeline.run([&](std::span<const TracepointItem> items) { … items[0].values[0] … });
#pragma once

#include <array>
#include <string_view>

#include "replay/fields/field_offsets.h"
#include "replay/fields/trace_formats.h"
#include "replay/passes/tracepoint_scan.h"

namespace sonde {

/// An event that is wanted. `kind` labels its items; several events may share it.
struct TracepointRequest {
  static constexpr size_t kFields = 3;
  std::string_view name;  // "irq:softirq_entry"; "power:*" is not supported
  uint8_t kind = 0;
  std::array<std::string_view, kFields> fields{};  // integers; a missing one reads as 0
};

struct TracepointItem {
  static constexpr uint8_t kOther = UINT8_MAX;  // kind: a record that is not a sample
  uint64_t time = 0;                            // ns
  const std::byte* record = nullptr;            // its header
  std::array<uint64_t, TracepointRequest::kFields> values{};
  uint32_t pid = 0, tid = 0;  // the context in which the sample was taken
  uint32_t cpu = 0;
  uint16_t event = 0;  // index into the recording's events
  uint8_t kind = kOther;
};

struct RequestedFields : SampleOffsets {
  uint8_t kind = TracepointItem::kOther;  // that: it is not wanted
  std::array<IntField, TracepointRequest::kFields> values;
};

class TracepointPipeline : public TracepointScan<TracepointItem, RequestedFields> {
 public:
  /// CPU numbers are below this; a sample with a higher one is damaged.
  static constexpr uint32_t kMaxCpus = 1 << 16;

  /// Among requests with the same name, the last wins.
  TracepointPipeline(FileScan& scan, std::span<const TracepointRequest> requests,
                     LossLedger& losses);

  /// Also gives records of these types (PERF_RECORD_COMM …), as items of kind kOther.
  void want_records(std::initializer_list<uint32_t> types) { types_ = types; }
  /// Reads everything, once.
  void run(const Take& take, SortedBy sorted_by = SortedBy::kConsumer);

  [[nodiscard]] const TracepointFormat& format(const TracepointItem& item) const {
    return *formats_.of(EventId(size_t{item.event}));
  }
  /// A text field, wherever its event keeps it; empty if it has none. Looks up the field.
  [[nodiscard]] std::string_view text(const TracepointItem& item, std::string_view field) const;

 private:
  TraceFormats formats_;
  std::vector<uint32_t> types_;
};

}  // namespace sonde
