#include "itrace/decode.h"

#include <algorithm>
#include <cstring>

#include "itrace/code_image.h"
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

/// The tasks of one queue.
class QueueTasks final : public TaskTimeline {
 public:
  QueueTasks(const TraceInput& input, const TraceQueue& queue, const Machine& machine) {
    uint32_t pid = queue.tid;
    if (const Machine::Thread* thread = machine.thread(queue.tid)) pid = thread->pid;
    first_ = {pid, queue.tid};
    if (queue.cpu == UINT32_MAX) return;
    auto begin = std::ranges::lower_bound(input.switches, queue.cpu, {}, &TaskSwitch::cpu);
    auto end = std::ranges::upper_bound(input.switches, queue.cpu, {}, &TaskSwitch::cpu);
    switches_ = {begin, end};
  }

  Task task_at(uint64_t time_ns) override {
    if (at_ > 0 && time_ns < switches_[at_ - 1].time_ns) at_ = 0;
    while (at_ < switches_.size() && switches_[at_].time_ns <= time_ns) ++at_;
    if (at_ == 0) return first_;
    return {switches_[at_ - 1].pid, switches_[at_ - 1].tid};
  }

 private:
  Task first_;
  std::span<const TaskSwitch> switches_;
  size_t at_ = 0;  // switches up to the latest time
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
  bool of_report = options.instructions && options.branches && options.transactions &&
                   options.ptwrites && options.power && options.interrupts;
  return of_script || of_report;
}

}  // namespace

Result<> add_trace_samples(Recording& recording, const Machine& machine, const ObjectFinder& finder,
                           const ItraceOptions& options, LossLedger& losses) {
  if (const char* what = options.not_decoded())
    return fail(ErrorCode::kUnsupported, "--itrace: {} cannot be had yet; i, b, c, r, x and e can",
                what);
  if (recording.byte_order() != kHostOrder)
    return fail(
        ErrorCode::kUnsupported,
        "{}: recorded on a machine with the other byte order, whose traces are not Intel PT's",
        recording.facts().path);
  auto traces = read_traces(recording);
  // What nobody asked for is not missed either.
  if (!traces && traces.error().code == ErrorCode::kUnsupported && is_default(options)) return {};
  TraceInput input = TRY(std::move(traces));
  SynthesizedEvents made = add_events(recording.edit_events(), input, options);
  std::vector<RecordBlock> blocks = recording.blocks();
  uint32_t stream = 0;
  for (const RecordBlock& block : blocks) stream = std::max(stream, block.stream);
  RecordStore store(recording, blocks);
  CodeImage image(machine, finder);
  for (const TraceQueue& queue : input.queues) {
    store.begin_stream(++stream);
    QueueTasks tasks(input, queue, machine);
    QueueCode code(image, tasks, input.clock);
    Synthesizer synthesizer(recording.events(), made, options, input, queue.cpu, tasks,
                            [&](Bytes record) { store.add(record); });
    std::vector<std::vector<std::byte>> memory;
    for (const TracePiece& run : joined(queue.pieces, memory))
      TRY(pt::follow(run.bytes, input.setup, code, synthesizer));
    synthesizer.finish();
    for (const LostTrace& lost : input.lost)
      if (queue.cpu == UINT32_MAX ? lost.tid == queue.tid : lost.cpu == queue.cpu)
        synthesizer.put_error(pt::FlowError::kLost, 0, lost.time_ns, {lost.pid, lost.tid},
                              lost.cpu);
    losses.add(LossKind::k_lost_aux, synthesizer.errors(), synthesizer.first_error());
  }
  TRY(store.finish());
  recording.show(std::move(blocks));
  return {};
}

}  // namespace sonde::itrace
