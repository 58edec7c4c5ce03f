#include "replay/fields/read_values.h"

#include <algorithm>
#include <numeric>

namespace sonde {
namespace {

/// A future row: the old row with another event and period.
struct NewRow {
  uint32_t row;
  uint32_t member;  // index into the values of its sample
  uint32_t event;
  uint64_t period;
};

class ReadValues {
 public:
  ReadValues(const Recording& recording, const SampleColumns& samples, CounterValues& last)
      : recording_(recording), samples_(samples), last_(last) {}

  /// Counters grow with time, so samples are visited in time order.
  std::vector<NewRow> rows() {
    std::vector<uint32_t> order(samples_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](uint32_t i) { return std::pair(samples_.time[i], i); });
    for (uint32_t row : order) take(row);
    std::ranges::sort(rows_, {}, [](const NewRow& r) { return std::pair(r.row, r.member); });
    return std::move(rows_);
  }

 private:
  void take(uint32_t row) {
    EventId event(size_t{samples_.event[row]});
    const EventDesc& desc = recording_.events()[event];
    Sample sample;
    if (!desc.attr.samples(abi::kSampleRead) || !decode_sample(record(row), desc.layout, sample) ||
        !sample.read.present) {
      rows_.push_back({row, 0, event.value, samples_.period[row]});
      return;
    }
    for (uint32_t i = 0; i < sample.read.count; ++i) {
      ReadValue value = sample.read.at(i);
      EventId member = recording_.events().by_id(value.id);
      if (!member.valid()) continue;
      uint64_t& last = last_[{value.id, desc.attr.inherit != 0 ? samples_.tid[row] : 0}];
      uint64_t grown = value.value - std::exchange(last, value.value);
      if (grown != 0) rows_.push_back({row, i, member.value, grown});
    }
  }

  [[nodiscard]] RecordView record(uint32_t row) const {
    RecordRef where = samples_.record[row];
    return record_at(recording_.blocks()[where.block], where.offset, recording_.byte_order());
  }

  const Recording& recording_;
  const SampleColumns& samples_;
  CounterValues& last_;
  std::vector<NewRow> rows_;
};

template <typename Column>
void pick(Column& column, const std::vector<NewRow>& rows) {
  if (column.empty()) return;
  Column picked(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) picked[i] = column[rows[i].row];
  column = std::move(picked);
}

}  // namespace

bool has_read_values(const EventTable& events) {
  return std::ranges::any_of(
      events.all(), [](const EventDesc& event) { return event.attr.samples(abi::kSampleRead); });
}

void spread_read_values(const Recording& recording, SampleColumns& samples, CounterValues& last) {
  if (!has_read_values(recording.events())) return;
  std::vector<NewRow> rows = ReadValues(recording, samples, last).rows();
  pick(samples.time, rows);
  pick(samples.pid, rows);
  pick(samples.tid, rows);
  pick(samples.cpu, rows);
  pick(samples.weight, rows);
  pick(samples.comm, rows);
  pick(samples.leaf, rows);
  pick(samples.chain, rows);
  pick(samples.cpu_mode, rows);
  pick(samples.was_copied, rows);
  pick(samples.record, rows);
  samples.event.resize(rows.size());
  samples.period.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    samples.event[i] = rows[i].event;
    samples.period[i] = rows[i].period;
  }
}

}  // namespace sonde
