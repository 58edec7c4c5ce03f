#include "replay/sample_pass.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "replay/address_resolver.h"
#include "unwind/callchain.h"

namespace sonde {
namespace {

bool contains(const std::vector<uint32_t>& list, uint32_t value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

bool passes(const SampleFilter& filter, const Sample& sample, uint64_t time) {
  if (!contains(filter.pids, sample.id.pid) || !contains(filter.tids, sample.id.tid) ||
      !contains(filter.cpus, sample.id.cpu))
    return false;
  return filter.times.empty() || std::ranges::any_of(filter.times, [time](const auto& range) {
           return range.from_ns <= time && time <= range.to_ns;
         });
}

template <typename Body>
void for_each_column(SampleColumns& columns, const Body& body) {
  body(columns.event);
  body(columns.time);
  body(columns.pid);
  body(columns.tid);
  body(columns.cpu);
  body(columns.period);
  body(columns.weight);
  body(columns.comm);
  body(columns.leaf);
  body(columns.chain);
  body(columns.cpu_mode);
  body(columns.record);
}

void resize(SampleColumns& columns, size_t size) {
  for_each_column(columns, [size](auto& column) { column.resize(size); });
}

/// Moves rows [from, from + count) to `to`, which lies before them.
void move_rows(SampleColumns& columns, size_t to, size_t from, size_t count) {
  for_each_column(columns, [=](auto& column) {
    auto first = column.begin() + static_cast<ptrdiff_t>(from);
    std::move(first, first + static_cast<ptrdiff_t>(count),
              column.begin() + static_cast<ptrdiff_t>(to));
  });
}

/// A run of blocks with tables of its own. Rows go straight to their place in the common columns.
class Slice {
 public:
  Slice(const Recording& recording, const Machine& machine, const SidebandResult& sideband,
        const SamplePassOptions& options, SampleColumns& columns, LossLedger& losses)
      : recording_(recording),
        sideband_(sideband),
        options_(options),
        columns_(columns),
        losses_(losses),
        resolver_(machine, frames) {}
  Slice(const Slice&) = delete;
  Slice& operator=(const Slice&) = delete;

  void read(size_t first_block, size_t end_block) {
    first_row = row_ = sideband_.samples_before[first_block];
    if (options_.want_chains) expect_chains(first_block, end_block);
    for (size_t block = first_block; block < end_block; ++block) {
      const RecordBlock& bytes = recording_.blocks()[block];
      RecordRange range(bytes, recording_.byte_order());
      uint64_t rank = sideband_.records_before[block];
      size_t offset = 0;
      for (RecordView record; range.next(record); ++rank) {
        if (record.type == abi::kRecordSample)
          take(record, rank, {static_cast<uint32_t>(block), static_cast<uint32_t>(offset)});
        offset = range.stopped_at();
      }
    }
    queue_.flush();
    rows = row_ - first_row;
  }

  FrameTable frames;
  ChainTable chains;
  size_t first_row = 0;
  size_t rows = 0;
  uint64_t filtered = 0;
  uint64_t first_time = UINT64_MAX, last_time = 0;

 private:
  /// At the most: every word of the records an address, and no chain twice. The first slice's table
  /// will take in all others.
  void expect_chains(size_t first_block, size_t end_block) {
    if (first_block == 0) end_block = recording_.blocks().size();
    size_t bytes = 0;
    for (size_t block = first_block; block < end_block; ++block)
      bytes += recording_.blocks()[block].bytes.size();
    chains.expect(sideband_.samples_before[end_block] - first_row, bytes / sizeof(uint64_t));
  }

  void take(const RecordView& record, uint64_t rank, RecordRef where) {
    EventId event = recording_.events().of(record);
    if (!event.valid()) {
      losses_.add(LossKind::k_unknown_event_id, 1,
                  fmt::format("at file offset {:#x}", record.file_offset));
      return;
    }
    Sample sample;
    if (!decode_sample(record, recording_.events()[event].layout, sample)) {
      losses_.add(LossKind::k_bad_record, 1,
                  fmt::format("sample at file offset {:#x}", record.file_offset));
      return;
    }
    uint64_t time = sideband_.rank_is_time || !sample.id.has_time() ? rank : sample.id.time;
    first_time = std::min(first_time, time);
    last_time = std::max(last_time, time);
    if (!passes(options_.filter, sample, time)) {
      ++filtered;
      return;
    }
    store(sample, event, time, where);
  }

  void store(const Sample& sample, EventId event, uint64_t time, RecordRef where) {
    size_t i = row_++;
    resolver_.enter(sample.id.pid, time, sample.cpu_mode);
    columns_.event[i] = event.value;
    columns_.time[i] = time;
    columns_.pid[i] = sample.id.pid;
    columns_.tid[i] = sample.id.tid;
    columns_.cpu[i] = sample.id.cpu;
    columns_.period[i] = sample.period;
    columns_.weight[i] = sample.weight;
    columns_.comm[i] = resolver_.comm(sample.id.tid, time);
    columns_.leaf[i] = resolver_.resolve(sample.ip, sample.cpu_mode);
    store_chain(sample, columns_.chain[i]);
    columns_.cpu_mode[i] = static_cast<uint8_t>(sample.cpu_mode);
    columns_.record[i] = where;
  }

  void store_chain(const Sample& sample, ChainId& id) {
    if (!options_.want_chains || sample.callchain.empty()) return;
    chain_.clear();
    bool whole = for_each_address(sample.callchain, [&](uint64_t ip, uint16_t mode) {
      if (chain_.size() < options_.max_stack) chain_.push_back(resolver_.resolve(ip, mode));
    });
    if (!whole) losses_.add(LossKind::k_bad_call_chain);
    if (!chain_.empty()) queue_.add(chain_, id);
  }

  const Recording& recording_;
  const SidebandResult& sideband_;
  const SamplePassOptions& options_;
  SampleColumns& columns_;
  LossLedger& losses_;
  AddressResolver resolver_;
  ChainQueue queue_{chains};
  std::vector<FrameId> chain_;
  size_t row_ = 0;
};

/// Brings a slice's frame and chain ids into the common tables.
void merge(Slice& slice, SampleColumns& columns, FrameTable& frames, ChainTable& chains) {
  std::vector<FrameId> frame_of(slice.frames.size());
  for (size_t i = 0; i < frame_of.size(); ++i) {
    const Frame& frame = slice.frames[FrameId(i)];
    frame_of[i] = frames.intern(frame.dso, frame.address, frame.level);
  }
  std::vector<ChainId> chain_of(slice.chains.size());
  std::vector<FrameId> chain;
  ChainQueue queue(chains);
  for (size_t i = 0; i < chain_of.size(); ++i) {
    chain.clear();
    for (FrameId frame : slice.chains[ChainId(i)]) chain.push_back(frame_of[frame.index()]);
    queue.add(chain, chain_of[i]);
  }
  queue.flush();
  for (size_t i = slice.first_row; i < slice.first_row + slice.rows; ++i) {
    columns.leaf[i] = frame_of[columns.leaf[i].index()];
    if (columns.chain[i].valid()) columns.chain[i] = chain_of[columns.chain[i].index()];
  }
}

}  // namespace

SamplePassResult read_samples(const Recording& recording, const Machine& machine,
                              const SidebandResult& sideband, const SamplePassOptions& options,
                              size_t slices, LossLedger& losses, FrameTable known) {
  SamplePassResult result;
  resize(result.samples, sideband.counts.samples);
  size_t blocks = recording.blocks().size();
  slices = std::clamp<size_t>(slices, 1, std::max<size_t>(blocks, 1));
  std::vector<std::unique_ptr<Slice>> parts;
  for (size_t i = 0; i < slices; ++i)
    parts.push_back(
        std::make_unique<Slice>(recording, machine, sideband, options, result.samples, losses));
  parts[0]->frames = std::move(known);
  parallel_for(slices,
               [&](size_t i) { parts[i]->read(blocks * i / slices, blocks * (i + 1) / slices); });

  // The first slice's tables become the common ones: its ids are already those of a sequential
  // pass.
  result.frames = std::move(parts[0]->frames);
  result.chains = std::move(parts[0]->chains);
  size_t rows = 0;
  for (size_t i = 0; i < slices; ++i) {
    Slice& part = *parts[i];
    if (i > 0) merge(part, result.samples, result.frames, result.chains);
    if (rows != part.first_row) move_rows(result.samples, rows, part.first_row, part.rows);
    rows += part.rows;
    result.filtered += part.filtered;
    result.first_time_ns = std::min(result.first_time_ns, part.first_time);
    result.last_time_ns = std::max(result.last_time_ns, part.last_time);
    parts[i].reset();
  }
  resize(result.samples, rows);
  return result;
}

}  // namespace sonde
