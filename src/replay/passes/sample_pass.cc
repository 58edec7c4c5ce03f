#include "replay/passes/sample_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "replay/fields/guest_samples.h"
#include "replay/frames/address_resolver.h"
#include "replay/frames/frame_counts.h"
#include "replay/passes/block_shares.h"
#include "unwind/call_stack_branches.h"

namespace sonde {
namespace {

bool contains(const std::vector<uint32_t>& list, uint32_t value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

}  // namespace

bool SampleFilter::passes(const SampleId& who, uint64_t time) const {
  return contains(pids, who.pid) && contains(tids, who.tid) && contains(cpus, who.cpu) &&
         is_in(times, time);
}

namespace {

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
  body(columns.was_copied);
  body(columns.record);
}

void make_room(SampleColumns& columns, size_t rows, const SamplePassOptions& options) {
  if (options.detail == SampleDetail::kPlaces) return;
  for_each_column(columns, [rows](auto& column) { column.resize(rows); });
  if (!options.chains) columns.chain = {};
  if (options.detail == SampleDetail::kSamples) return;
  columns.time = {};
  columns.pid = columns.tid = columns.cpu = {};
  columns.cpu_mode = {};
  columns.record = {};
}

void shorten(SampleColumns& columns, size_t rows) {
  for_each_column(columns, [rows](auto& column) { column.resize(std::min(column.size(), rows)); });
}

/// Moves rows [from, from + count) to `to`, which is before them.
void move_rows(SampleColumns& columns, size_t to, size_t from, size_t count) {
  for_each_column(columns, [=](auto& column) {
    if (column.empty()) return;
    auto first = column.begin() + static_cast<ptrdiff_t>(from);
    std::move(first, first + static_cast<ptrdiff_t>(count),
              column.begin() + static_cast<ptrdiff_t>(to));
  });
}

/// Records with stack pieces are farther apart than the hardware prefetcher looks ahead. While one
/// is unwound, the next one's registers and innermost frames are prefetched.
void prefetch_next(const RecordView& record) {
  constexpr size_t kLarge = 2048, kLine = 64, kLines = 16;
  if (record.payload.size() < kLarge) return;
  const std::byte* next = record.payload.data() + record.payload.size();
  for (size_t line = 0; line < kLines; ++line) __builtin_prefetch(next + line * kLine);
}

/// A run of blocks with its own tables. Rows go straight to their place in the shared columns.
class Slice {
  /// Few records are read again, and the pages of a large file that stay mapped would be a large
  /// part of a command's memory.
  static constexpr size_t kBlocksMapped = 8;

 public:
  /// More than batches mostly hold at a time.
  static constexpr size_t kFramesOfBatches = size_t{1} << 18;

  Slice(const Recording& recording, const Machine& machine, const SidebandResult& sideband,
        const SamplePassOptions& options, const ChainSources& sources, SampleColumns& columns,
        LossLedger& losses)
      : counts(recording.events().size()),
        recording_(recording),
        events_(recording.events()),
        sideband_(sideband),
        options_(options),
        columns_(columns),
        losses_(losses),
        guests_(recording.events(), machine),
        has_guests_(guests_.any()),
        has_outside_(machine.has_outside_tasks()),
        resolver_(machine, frames, options.merge_unmapped, options.late_names),
        chain_builder_(sources, resolver_, frames, losses) {}
  Slice(const Slice&) = delete;
  Slice& operator=(const Slice&) = delete;

  void read(BlockShares& shares, size_t share) {
    size_t first_block = shares.first_block(share);
    first_row = row_ = sideband_.samples_before[first_block];
    if (options_.chains) expect_chains(first_block, shares.end_block(share));
    size_t mapped_from = first_block;
    while (std::optional<size_t> block = shares.next(share)) {
      const RecordBlock& bytes = recording_.blocks()[*block];
      if (bytes.samples_taken) continue;
      if (*block - mapped_from >= kBlocksMapped)
        release(std::exchange(mapped_from, *block), *block);
      RecordRange range(bytes, recording_.byte_order());
      uint64_t rank = sideband_.records_before[*block];
      size_t offset = 0;
      for (RecordView record; range.next(record); ++rank) {
        prefetch_next(record);
        if (record.type == abi::kRecordSample)
          take(record, rank, {static_cast<uint32_t>(*block), static_cast<uint32_t>(offset)});
        offset = range.stopped_at();
      }
    }
    release(mapped_from, shares.end_block(share));
    queue_.flush();
    chains.end_interning();
    rows = row_ - first_row;
  }

  /// The rows of a batch, from `row` on.
  void read(std::span<const TimedSample> samples, size_t row) {
    constexpr size_t kAhead = 4;  // samples adjacent in time may be far apart in the file
    in_batches_ = true;
    first_row = row_ = row;
    chains.clear();
    for (size_t i = 0; i < samples.size(); ++i) {
      if (i + kAhead < samples.size()) prefetch(samples[i + kAhead].where);
      RecordRef where = samples[i].where;
      take(record_at(recording_.blocks()[where.block], where.offset, recording_.byte_order()),
           samples[i].time, where);
    }
    rows = row_ - first_row;
  }

  void read(const ScanSegment& segment) {
    segment.for_each_run([&](const ScanRun& run, std::span<const ScanSegment::Sample> samples) {
      sonde::count_bad(run, losses_);
      for (const ScanSegment::Sample& sample : samples) {
        uint64_t time = run.time + sample.after;
        first_time = std::min(first_time, time);
        last_time = std::max(last_time, time);
        count(run.pid, time, run.cpu_mode, sample.address(), run.event, run.period + sample.period);
      }
    });
  }

  void forget_frames() {
    frames = FrameTable();
    frames.expect(kFramesOfBatches);
    resolver_.machine_changed();  // it knows where frames are
  }

  [[nodiscard]] const UnwindCounts& unwound() const { return chain_builder_.counts(); }
  [[nodiscard]] const CheckedChains& checked() const { return chain_builder_.checked(); }
  [[nodiscard]] uint64_t missing_parts() const { return chain_builder_.missing(); }

  FrameTable frames;
  ChainTable chains;
  FrameCounts counts;
  size_t first_row = 0;
  size_t rows = 0;
  uint64_t filtered = 0;
  uint64_t outside = 0;  // samples of tasks outside of the recorder's PID namespace
  uint64_t first_time = UINT64_MAX, last_time = 0;

 private:
  /// Upper bound of chains, even if others take blocks of this share: every word of the records is
  /// an address, and no chain repeats. Places do repeat.
  void expect_chains(size_t first_block, size_t end_block) {
    size_t bytes = 0;
    for (size_t block = first_block; block < end_block; ++block)
      bytes += recording_.blocks()[block].bytes.size();
    chains.expect(sideband_.samples_before[end_block] - first_row, bytes / sizeof(uint64_t));
    constexpr size_t kWordsPerPlace = 16;
    frames.expect(bytes / sizeof(uint64_t) / kWordsPerPlace);
  }

  void release(size_t first_block, size_t end_block) const {
    recording_.release_pages(
        std::span(recording_.blocks()).subspan(first_block, end_block - first_block));
  }

  void prefetch(RecordRef where) const {
    prefetch_records(recording_.blocks()[where.block].bytes.data() + where.offset);
  }

  /// `rank` replaces a time that is not recorded.
  void take(const RecordView& record, uint64_t rank, RecordRef where) {
    EventId event = events_.of(record);
    if (!event.valid()) return count_bad(ScanRun::Kind::kUnknownEvent, record);
    Sample& sample = sample_;
    const SampleLayout& layout = events_[event].layout;
    bool is_whole = options_.detail != SampleDetail::kSamples && !options_.chains
                        ? decode_sample_for_sums(record, layout, sample)
                        : decode_sample(record, layout, sample);
    if (!is_whole) return count_bad(ScanRun::Kind::kBadRecord, record);
    uint64_t time = sideband_.rank_is_time || !sample.id.has_time() ? rank : sample.id.time;
    first_time = std::min(first_time, time);
    last_time = std::max(last_time, time);
    if (!options_.filter.passes(sample.id, time)) {
      ++filtered;
      return;
    }
    if (has_guests_) guests_.set_task(sample.cpu_mode, time, sample.id);
    if (has_outside_ && sample.id.tid == 0) ++outside;
    store(sample, event, time, rank, where);
  }

  void count_bad(ScanRun::Kind why, const RecordView& record) {
    sonde::count_bad({.kind = why,
                      .size = static_cast<uint32_t>(record.size()),
                      .file_offset = record.file_offset},
                     losses_);
  }

  void count(uint32_t pid, uint64_t time, uint16_t cpu_mode, uint64_t ip, uint32_t event,
             uint64_t period) {
    resolver_.enter(pid, time, cpu_mode);
    counts.add(resolver_.resolve(ip, cpu_mode), event, {1, period});
  }

  void store(const Sample& sample, EventId event, uint64_t time, uint64_t rank, RecordRef where) {
    if (options_.detail == SampleDetail::kPlaces)
      return count(sample.id.pid, time, sample.cpu_mode, sample.ip, event.value, sample.period);
    resolver_.enter(sample.id.pid, time, sample.cpu_mode);
    size_t i = row_++;
    // New rows are zero; those of a batch have been used.
    if (event.value != 0 || in_batches_) columns_.event[i] = event.value;
    columns_.period[i] = sample.period;
    if (sample.weight != 0 || in_batches_) columns_.weight[i] = sample.weight;
    columns_.comm[i] = resolver_.comm(sample.id.tid, time);
    columns_.leaf[i] = resolver_.resolve(sample.ip, sample.cpu_mode);
    if (options_.chains) {
      columns_.chain[i] = ChainId();
      std::span<const FrameId> chain =
          chain_builder_.build(sample, events_[event].attr, time, rank);
      if (!chain.empty()) add_chain(chain, columns_.chain[i]);
      bool used_copy = chain_builder_.used_copy();
      if (used_copy || in_batches_) columns_.was_copied[i] = used_copy ? 1 : 0;
    }
    if (options_.detail == SampleDetail::kSums) return;
    columns_.time[i] = time;
    columns_.pid[i] = sample.id.pid;
    columns_.tid[i] = sample.id.tid;
    columns_.cpu[i] = sample.id.cpu;
    columns_.cpu_mode[i] = static_cast<uint8_t>(sample.cpu_mode);
    columns_.record[i] = where;
  }

  /// Those of a batch are soon forgotten: looking for equal ones would take longer than storing
  /// them.
  void add_chain(std::span<const FrameId> chain, ChainId& id) {
    if (!in_batches_) return queue_.add(chain, id);
    id = ChainId(chains.size());
    chains.append(chain);
  }

  const Recording& recording_;
  const EventTable& events_;
  const SidebandResult& sideband_;
  const SamplePassOptions& options_;
  SampleColumns& columns_;
  LossLedger& losses_;
  GuestSamples guests_;
  bool has_guests_;
  bool has_outside_;  // tasks that all have the number 0
  AddressResolver resolver_;
  ChainBuilder chain_builder_;
  ChainQueue queue_{chains};
  Sample sample_;  // the current one: nothing of it is kept, so it is not cleared each time
  size_t row_ = 0;
  bool in_batches_ = false;
};

/// Maps a slice's frames to the common table; those that `frame_of` has are known.
void merge_frames(const Slice& slice, FrameTable& frames, std::vector<FrameId>& frame_of) {
  size_t known = frame_of.size();
  frame_of.resize(slice.frames.size());
  for (size_t i = known; i < frame_of.size(); ++i) {
    const Frame& frame = slice.frames[FrameId(i)];
    frame_of[i] = frames.intern(frame.dso, frame.address, frame.level);
    if (frame.was_unwound) frames.mark_unwound(frame_of[i]);
  }
}

/// Rewrites a slice's rows to the ids of the common tables, where its chains begin at
/// `first_chain`.
void renumber_rows(const Slice& slice, SampleColumns& columns, std::span<const FrameId> frame_of,
                   size_t first_chain) {
  for (size_t i = slice.first_row; i < slice.first_row + slice.rows; ++i) {
    columns.leaf[i] = frame_of[columns.leaf[i].index()];
    if (ChainId chain = columns.chain_of(i); chain.valid())
      columns.chain[i] = ChainId(first_chain + chain.index());
  }
}

void add_counts(const Slice& part, SamplePassResult& result) {
  result.filtered += part.filtered;
  result.unwound.add(part.unwound());
  result.checked.add(part.checked());
  result.missing_parts += part.missing_parts();
  result.outside += part.outside;
  result.first_time_ns = std::min(result.first_time_ns, part.first_time);
  result.last_time_ns = std::max(result.last_time_ns, part.last_time);
}

/// Those that the options name, and the `deferred` parts if they are wanted.
ChainSources sources_of(const SamplePassOptions& options, const DeferredChains& deferred) {
  ChainOptions chains = options.chains.value_or(ChainOptions());
  return {.arch = options.arch,
          .cfi = options.cfi,
          .max_stack = chains.max_stack,
          .deferred = chains.merge_deferred ? &deferred : nullptr,
          .call_sites = options.call_sites,
          .broken_chain = options.broken_chain,
          .branch_history = chains.branch_history};
}

void count_incomplete(const SamplePassResult& result, const SamplePassOptions& options,
                      const Machine& machine, LossLedger& losses) {
  if (result.missing_parts > 0)
    losses.add(LossKind::k_broken_chain, result.missing_parts,
               "their user part, put off to the return from the kernel, never came");
  if (result.outside > 0) losses.add(LossKind::k_outside_task, result.outside);
  count_unfinished(result.unwound, !options.more_follows, machine.dsos(), losses);
}

}  // namespace

SamplePassResult read_samples(const Recording& recording, const Machine& machine,
                              const SidebandResult& sideband, const SamplePassOptions& options,
                              size_t threads, LossLedger& losses, FrameTable known) {
  SamplePassResult result;
  make_room(result.samples, sideband.counts.samples, options);
  DeferredChains deferred(sideband, recording.events(), losses);
  ChainSources sources = sources_of(options, deferred);
  StitchedCalls stitched;
  if (options.chains && options.chains->stitch_calls)
    stitched = stitch_call_stacks(recording, sideband);
  sources.stitched_calls = &stitched;
  std::vector<ScanSegment> segments;
  if (options.deferred != nullptr) segments = options.deferred->segments();
  size_t blocks = recording.blocks().size();
  threads = std::clamp<size_t>(threads, 1, std::max<size_t>(blocks, 1));
  BlockShares shares(blocks, threads);
  std::vector<std::unique_ptr<Slice>> parts(threads);  // by share
  std::mutex mutex;                                    // of `parts`
  auto add_slice = [&](size_t share) -> Slice& {
    auto made = std::make_unique<Slice>(recording, machine, sideband, options, sources,
                                        result.samples, losses);
    std::lock_guard lock(mutex);
    parts.resize(std::max(parts.size(), share + 1));
    return *(parts[share] = std::move(made));
  };
  parallel_for(threads, [&](size_t i) {
    Slice& slice = add_slice(i);
    if (i == 0) slice.frames = std::move(known);
    for (size_t k = segments.size() * i / threads; k < segments.size() * (i + 1) / threads; ++k)
      slice.read(segments[k]);
    slice.read(shares, i);
    while (std::optional<size_t> share = shares.split_largest())
      add_slice(*share).read(shares, *share);
  });
  std::ranges::stable_sort(parts, {}, [](const auto& part) { return part->first_row; });
  size_t slices = parts.size();

  // The first slice's tables become the common ones: its ids are already those of a sequential
  // pass.
  result.frames = std::move(parts[0]->frames);
  std::vector<std::vector<FrameId>> frame_of(slices);
  std::vector<size_t> first_chain(slices);
  for (size_t i = 1; i < slices; ++i) {
    merge_frames(*parts[i], result.frames, frame_of[i]);
    first_chain[i] = first_chain[i - 1] + parts[i - 1]->chains.size();
  }
  parallel_for(slices - 1, [&](size_t i) {
    parts[i + 1]->chains.renumber(frame_of[i + 1]);
    renumber_rows(*parts[i + 1], result.samples, frame_of[i + 1], first_chain[i + 1]);
  });
  for (size_t i = 1; i < slices; ++i) parts[0]->counts.add(parts[i]->counts, frame_of[i]);
  std::move(parts[0]->counts).move_to(result.samples);
  result.chains = std::move(parts[0]->chains);
  size_t rows = 0;
  for (size_t i = 0; i < slices; ++i) {
    Slice& part = *parts[i];
    if (i > 0) result.chains.append(std::move(part.chains));
    if (rows != part.first_row) move_rows(result.samples, rows, part.first_row, part.rows);
    rows += part.rows;
    add_counts(part, result);
    parts[i].reset();
  }
  if (options.detail != SampleDetail::kPlaces) shorten(result.samples, rows);
  count_incomplete(result, options, machine, losses);
  return result;
}

struct SampleBatches::State {
  State(const Recording& recording, const Machine& of, const SidebandResult& sideband,
        const SamplePassOptions& how, size_t slices, LossLedger& ledger, SamplePassResult& filled)
      : options(how),
        machine(of),
        losses(ledger),
        result(filled),
        deferred(sideband, recording.events(), ledger),
        sources(sources_of(how, deferred)),
        frame_of(slices) {
    for (size_t i = 0; i < slices; ++i) {
      parts.push_back(std::make_unique<Slice>(recording, machine, sideband, options, sources,
                                              result.samples, losses));
      parts.back()->frames.expect(Slice::kFramesOfBatches);
    }
    result.frames.expect(Slice::kFramesOfBatches);
  }

  void merge();
  void add_up();

  SamplePassOptions options;
  const Machine& machine;
  LossLedger& losses;
  SamplePassResult& result;
  DeferredChains deferred;
  ChainSources sources;
  std::vector<std::unique_ptr<Slice>> parts;
  std::vector<std::vector<FrameId>>
      frame_of;  // by part; the first one's frames are the common ones
};

SampleBatches::SampleBatches(const Recording& recording, const Machine& machine,
                             const SidebandResult& sideband, const SamplePassOptions& options,
                             size_t slices, LossLedger& losses, SamplePassResult& result)
    : state_(
          std::make_unique<State>(recording, machine, sideband, options, slices, losses, result)) {}
SampleBatches::~SampleBatches() = default;

bool SampleBatches::suit(const EventTable& events) {
  return std::ranges::none_of(events.all(), [](const EventDesc& event) {
    return event.attr.samples(abi::kSampleStackUser | abi::kSampleRegsUser) ||
           has_call_stacks(event.attr);
  });
}

void SampleBatches::read(std::span<const TimedSample> samples) {
  State& state = *state_;
  make_room(state.result.samples, samples.size(), state.options);
  size_t slices = state.parts.size();
  state.parts[0]->frames = std::move(state.result.frames);
  parallel_for(slices, [&](size_t i) {
    size_t begin = samples.size() * i / slices, end = samples.size() * (i + 1) / slices;
    state.parts[i]->read(samples.subspan(begin, end - begin), begin);
  });
  state.result.frames = std::move(state.parts[0]->frames);
  state.merge();
  state.add_up();
}

void SampleBatches::forget_frames() {
  State& state = *state_;
  state.result.frames = FrameTable();
  state.result.frames.expect(Slice::kFramesOfBatches);
  for (auto& part : state.parts) part->forget_frames();
  for (auto& frames : state.frame_of) frames.clear();
}

/// Frames and chains become those of the result.
void SampleBatches::State::merge() {
  struct Ends {
    size_t chain = 0, frame = 0;
  };
  std::vector<Ends> first(1);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) merge_frames(*parts[i], result.frames, frame_of[i]);
    const ChainTable& chains = parts[i]->chains;
    first.push_back({first[i].chain + chains.size(), first[i].frame + chains.frame_count()});
  }
  result.chains.make_room(first.back().chain, first.back().frame);
  parallel_for(parts.size(), [&](size_t i) {
    result.chains.fill(first[i].chain, first[i].frame, parts[i]->chains, frame_of[i]);
    if (i > 0) renumber_rows(*parts[i], result.samples, frame_of[i], first[i].chain);
  });
}

void SampleBatches::State::add_up() {
  size_t rows = 0;
  result.filtered = result.missing_parts = result.outside = 0;
  result.unwound = {};
  for (const auto& part : parts) {
    if (rows != part->first_row) move_rows(result.samples, rows, part->first_row, part->rows);
    rows += part->rows;
    add_counts(*part, result);
  }
  shorten(result.samples, rows);
}

void SampleBatches::finish() {
  State& state = *state_;
  count_incomplete(state.result, state.options, state.machine, state.losses);
}

}  // namespace sonde
