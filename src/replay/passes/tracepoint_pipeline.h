// TracepointPipeline: samples of some tracepoints, in time order and bounded memory, with the few
// integer fields that an analysis asks for (replay/passes/record_pipeline.h explains how it works).
//
//   constexpr std::array kWishes{TracepointRequest{"irq:softirq_entry", kEntry, {"vec"}}, …};
//   TracepointPipeline pipeline(scan, kWishes, losses);
//   pipeline.run([&](std::span<const TracepointItem> items) { … items[0].values[0] … });
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/fields/field_offsets.h"
#include "replay/fields/sample_offsets.h"
#include "replay/fields/trace_formats.h"
#include "replay/passes/record_pipeline.h"

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

/// For RoundSorterOf: only tells items apart.
[[nodiscard]] inline uint64_t place_in_file(const TracepointItem& item) {
  return reinterpret_cast<uintptr_t>(item.record);
}

class TracepointPipeline {
 public:
  /// CPU numbers are below this; a sample with a higher one is damaged.
  static constexpr uint32_t kMaxCpus = 1 << 16;

  /// `scan` must be at its start and outlive the pipeline. Among requests with the same name, the
  /// last wins.
  TracepointPipeline(FileScan& scan, std::span<const TracepointRequest> requests,
                     LossLedger& losses);

  /// Whether the recording has an event of that kind, and its format.
  [[nodiscard]] bool has(uint8_t kind) const;
  /// Also gives records of these types (PERF_RECORD_COMM …), as items of kind kOther.
  void want_records(std::initializer_list<uint32_t> types) { types_ = types; }

  /// Reads everything, once. `take` is called by one thread at a time.
  void run(const std::function<void(std::span<const TracepointItem>)>& take,
           SortedBy sorted_by = SortedBy::kConsumer);

  /// Complete after run.
  [[nodiscard]] const PipelineCounts& counts() const { return counts_; }

  [[nodiscard]] RecordView record(const TracepointItem& item) const {
    return record_at(item.record, scan_.facts().order);
  }
  [[nodiscard]] const SampleLayout& layout(const TracepointItem& item) const {
    return scan_.events()[EventId(size_t{item.event})].layout;
  }
  /// The raw data of a sample.
  [[nodiscard]] Bytes raw(const TracepointItem& item) const {
    return events_[item.event].places.raw_data(record(item), layout(item));
  }
  [[nodiscard]] const TracepointFormat& format(const TracepointItem& item) const {
    return *formats_.of(EventId(size_t{item.event}));
  }
  /// A text field, wherever its event keeps it; empty if it has none. Looks up the field.
  [[nodiscard]] std::string_view text(const TracepointItem& item, std::string_view field) const;
  [[nodiscard]] ByteOrder order() const { return scan_.facts().order; }
  [[nodiscard]] const EventTable& events() const { return scan_.events(); }

 private:
  struct Event {
    bool is_wanted = false;
    uint8_t kind = 0;
    SampleOffsets places;
    std::array<IntField, TracepointRequest::kFields> fields;
  };
  class Decoder;

  FileScan& scan_;
  LossLedger& losses_;
  TraceFormats formats_;
  std::vector<Event> events_;  // of the recording
  std::vector<uint32_t> types_;
  PipelineCounts counts_;
};

}  // namespace sonde
