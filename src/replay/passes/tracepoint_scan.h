// TracepointScan: the samples of some tracepoints as items of an analysis's own, in time order and
// bounded memory (replay/passes/record_pipeline.h explains how).
//
// `Fields` says where the samples of one event of the recording have what an item needs (a
// SampleOffsets with a `kind`; kinds_of_events.h finds them). `Item` has `time` and `record`; where
// it has `event` and `kind`, they are filled in here. An analysis derives a scan of its own, with a
// reader that makes the items:
//
//   struct Reader {
//     static constexpr bool kKeepsState = false;  // as for a Decoder of process_records
//     bool wants(const Fields& fields) const;
//     // The sample's fields; `raw` is its raw data, never empty.
//     Decoded read(const Fields& fields, const RecordView& record, const SampleLayout& layout,
//                  Item& item);
//     // COMM, MMAP, LOST …
//     bool read_other(const OtherRecord& record, const SampleLayout& layout, Item& item);
//   };
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "replay/fields/kinds_of_events.h"
#include "replay/fields/sample_offsets.h"
#include "replay/passes/record_pipeline.h"

namespace sonde {

/// What most items are made of. False: the sample is damaged.
[[nodiscard]] inline bool read_sample(const SampleOffsets& offsets, const RecordView& record,
                                      const SampleLayout& layout, SampleHead& head, Bytes& raw) {
  if (!offsets.read(record, head)) return false;
  raw = offsets.raw_data(record, layout);
  return !raw.empty();
}

template <typename ItemType, typename FieldsType>
class TracepointScan {
 public:
  using Item = ItemType;
  using Fields = FieldsType;

  /// `scan` must be at its start and outlive this. `fields`: by event of the recording.
  TracepointScan(FileScan& scan, std::vector<Fields> fields, LossLedger& losses)
      : scan_(scan), losses_(losses), fields_(std::move(fields)) {}

  /// Whether the recording has an event of that kind, and its format.
  [[nodiscard]] bool has(auto kind) const { return has_kind(fields_, kind); }

  /// Receives items; called by one thread at a time, but not always the same one.
  using Take = std::function<void(std::span<const Item>)>;
  /// Complete after the scan.
  [[nodiscard]] const PipelineCounts& counts() const { return counts_; }

  [[nodiscard]] const EventTable& events() const { return scan_.events(); }
  [[nodiscard]] ByteOrder order() const { return scan_.facts().order; }
  [[nodiscard]] const Fields& fields(const Item& item) const { return fields_[item.event]; }
  [[nodiscard]] RecordView record(const Item& item) const {
    return record_at(item.record, order());
  }
  [[nodiscard]] const SampleLayout& layout(const Item& item) const {
    return events()[EventId(size_t{item.event})].layout;
  }
  /// The raw data of a sample.
  [[nodiscard]] Bytes raw(const Item& item) const {
    return fields(item).raw_data(record(item), layout(item));
  }

 protected:
  /// By event.
  [[nodiscard]] const std::vector<Fields>& all_fields() const { return fields_; }
  /// Reads everything, once.
  template <typename Reader>
  void scan_with(Reader& reader, SortedBy sorted_by, const Take& take) {
    Decoder<Reader> decoder{*this, reader};
    counts_ = process_records(scan_, losses_, decoder, sorted_by, take);
  }

 private:
  template <typename Reader>
  struct Decoder {
    using Item = ItemType;
    static constexpr bool kKeepsState = Reader::kKeepsState;
    TracepointScan& scan;
    Reader& reader;

    Decoded decode(const RecordView& record, uint32_t id, Item& item) {
      const Fields& fields = scan.fields_[id];
      if (!reader.wants(fields)) return Decoded::kNothing;
      Decoded read = reader.read(fields, record, scan.events()[EventId(size_t{id})].layout, item);
      if (read != Decoded::kItem) return read;
      item.record = record.raw().data();
      if constexpr (requires { item.event; }) item.event = static_cast<uint16_t>(id);
      if constexpr (requires { item.kind; }) item.kind = fields.kind;
      return Decoded::kItem;
    }
    bool decode_other(const OtherRecord& other, Item& item) {
      if (!reader.read_other(other, scan.events()[other.event].layout, item)) return false;
      item.time = other.time;
      item.record = other.view.raw().data();
      if constexpr (requires { item.event; }) item.event = static_cast<uint16_t>(other.event.value);
      return true;
    }
    [[nodiscard]] bool is_over() const {
      if constexpr (requires { reader.is_over(); }) return reader.is_over();
      return false;
    }
  };

  FileScan& scan_;
  LossLedger& losses_;
  std::vector<Fields> fields_;
  PipelineCounts counts_;
};

}  // namespace sonde
