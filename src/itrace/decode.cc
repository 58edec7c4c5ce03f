#include "itrace/decode.h"

#include <algorithm>
#include <cstring>

#include "itrace/code_image.h"
#include "itrace/etm_queue.h"
#include "itrace/queue_tasks.h"
#include "itrace/synthesizer.h"
#include "perfdata/read/spool.h"

namespace sonde::itrace {
namespace {

/// Records are kept in pieces of this size, and shown as blocks of at most kBlockSize.
constexpr size_t kPieceSize = size_t{16} << 20;
constexpr size_t kBlockSize = size_t{1} << 20;
constexpr size_t kMostInMemory = size_t{256} << 20;

/// Keeps records, and shows them as blocks.
class RecordStore {
 public:
  RecordStore(Recording& recording, std::vector<RecordBlock>& blocks)
      : recording_(recording), blocks_(blocks) {}

  void begin_stream(uint32_t stream) {
    end_block();
    stream_ = stream;
  }
  void add(Bytes record) {
    if (failure_) return;
    if (block_size_ + record.size() > kBlockSize) end_block();
    if (used_ + record.size() > capacity_) new_piece();
    if (failure_) return;
    std::memcpy(piece_ + used_, record.data(), record.size());
    used_ += record.size();
    block_size_ += record.size();
  }
  Result<> finish() {
    end_block();
    if (failure_) return std::unexpected(*failure_);
    return {};
  }

 private:
  void new_piece() {
    end_block();
    auto memory = SpoolMemory::allocate(kPieceSize, total_ >= kMostInMemory);
    if (!memory) {
      failure_ = memory.error();
      return;
    }
    total_ += kPieceSize;
    piece_ = memory->data();
    capacity_ = memory->capacity();
    used_ = 0;
    recording_.keep(std::move(*memory));
  }
  void end_block() {
    if (block_size_ == 0) return;
    RecordBlock block;
    block.bytes = {piece_ + (used_ - block_size_), block_size_};
    block.expanded = true;  // its records have no place in the file
    block.stream = stream_;
    blocks_.push_back(block);
    block_size_ = 0;
  }

  Recording& recording_;
  std::vector<RecordBlock>& blocks_;
  std::optional<Error> failure_;
  std::byte* piece_ = nullptr;
  size_t used_ = 0, capacity_ = 0, block_size_ = 0, total_ = 0;
  uint32_t stream_ = 0;
};

class QueueCode final : public pt::CodeReader {
 public:
  QueueCode(CodeImage& image, TaskTimeline& tasks, const TraceClock& clock)
      : image_(image), tasks_(tasks), clock_(clock) {}
  size_t read(uint64_t address, std::span<std::byte> to, uint64_t tsc) override {
    uint64_t time = clock_.to_ns(tsc);
    return image_.read(tasks_.task_at(time).pid, time, address, to);
  }

 private:
  CodeImage& image_;
  TaskTimeline& tasks_;
  TraceClock clock_;
};

/// Pieces that continue one another, as one.
std::vector<TracePiece> joined(const std::vector<TracePiece>& pieces,
                               std::vector<std::vector<std::byte>>& memory) {
  std::vector<TracePiece> runs;
  for (size_t i = 0; i < pieces.size();) {
    size_t end = i + 1;
    while (end < pieces.size() &&
           pieces[end].offset == pieces[end - 1].offset + pieces[end - 1].bytes.size())
      ++end;
    if (end == i + 1) {
      runs.push_back(pieces[i]);
    } else {
      std::vector<std::byte>& all = memory.emplace_back();
      for (size_t k = i; k < end; ++k)
        all.insert(all.end(), pieces[k].bytes.begin(), pieces[k].bytes.end());
      runs.push_back({all, pieces[i].offset});
    }
    i = end;
  }
  return runs;
}

/// Whether these may be what a command takes without --itrace.
bool is_default(const ItraceOptions& options) {
  bool of_script = options.calls && options.errors && options.period == 1 &&
                   options.unit == PeriodUnit::kInstructions;
  bool of_report = options.instructions && options.transactions && options.ptwrites &&
                   options.power && options.interrupts;
  return of_script || of_report;
}

/// As perf: branches are all of them if nobody asked for some, and periods count instructions,
/// because few of these traces have times.
ItraceOptions of_etm(ItraceOptions options) {
  if (!options.is_given && is_default(options)) {
    options.branches = true;
    options.calls = options.returns = false;
  }
  options.unit = PeriodUnit::kInstructions;
  return options;
}

/// All of a queue, and what was lost of it. `samples` has finish and put_lost.
Result<> follow_queue(const TraceInput& input, const TraceQueue& queue, auto& samples,
                      const auto& follow) {
  std::vector<std::vector<std::byte>> memory;
  for (const TracePiece& run : joined(queue.pieces, memory)) TRY(follow(run));
  samples.finish();
  for (const LostTrace& lost : input.lost)
    if (queue.cpu == UINT32_MAX ? lost.tid == queue.tid : lost.cpu == queue.cpu)
      samples.put_lost(lost);
  return {};
}

}  // namespace

Result<> add_trace_samples(Recording& recording, const Machine& machine, const ObjectFinder& finder,
                           const ItraceOptions& options, LossLedger& losses) {
  if (const char* what = options.not_decoded())
    return fail(ErrorCode::kUnsupported,
                "--itrace: {} cannot be had yet; i, b, c, r, x, e, g and l can", what);
  if (recording.byte_order() != kHostOrder)
    return fail(ErrorCode::kUnsupported,
                "{}: recorded on a machine with the other byte order, whose traces are not decoded",
                recording.facts().path);
  auto traces = read_traces(recording);
  // What nobody asked for is not missed either.
  if (!traces && traces.error().code == ErrorCode::kUnsupported && is_default(options)) return {};
  TraceInput input = TRY(std::move(traces));
  ItraceOptions wanted = input.tracer == Tracer::kCoreSight ? of_etm(options) : options;
  SynthesizedEvents made = add_events(recording.edit_events(), input, wanted);
  std::vector<RecordBlock> blocks = recording.blocks();
  uint32_t stream = 0;
  for (const RecordBlock& block : blocks) stream = std::max(stream, block.stream);
  RecordStore store(recording, blocks);
  CodeImage image(machine, finder);
  RecordSink sink = [&](Bytes record) { store.add(record); };
  for (const TraceQueue& queue : input.queues) {
    store.begin_stream(++stream);
    if (input.tracer == Tracer::kCoreSight) {
      EtmQueue etm(recording.events(), made, wanted, input, queue, machine, image, sink);
      TRY(follow_queue(input, queue, etm, [&](const TracePiece& run) { return etm.follow(run); }));
      etm.report(losses);
      continue;
    }
    QueueTasks tasks(input, queue.cpu, queue.tid, machine);
    QueueCode code(image, tasks, input.clock);
    Synthesizer samples(recording.events(), made, wanted, input, queue.cpu, tasks, sink);
    TRY(follow_queue(input, queue, samples, [&](const TracePiece& run) {
      return pt::follow(run.bytes, input.setup, code, samples);
    }));
    samples.report(losses);
  }
  TRY(store.finish());
  recording.show(std::move(blocks));
  return {};
}

}  // namespace sonde::itrace
