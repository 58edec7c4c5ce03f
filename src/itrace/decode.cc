#include "itrace/decode.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>

#include <tsl/robin_set.h>

#include "base/parallel.h"
#include "itrace/bts_samples.h"
#include "itrace/etm_queue.h"
#include "itrace/existing_samples.h"
#include "itrace/pebs_samples.h"
#include "itrace/queue_tasks.h"
#include "itrace/spe_samples.h"
#include "itrace/synthesizer.h"
#include "perfdata/header/dummy_event.h"
#include "perfdata/read/spool.h"
#include "pt/quick_flow.h"

namespace sonde::itrace {
namespace {

/// Records are kept in pieces of this size, and shown as blocks of at most kBlockSize.
constexpr size_t kPieceSize = size_t{16} << 20;
constexpr size_t kBlockSize = size_t{1} << 20;
constexpr size_t kMostInMemory = size_t{256} << 20;

/// Keeps the records of one queue.
class RecordStore {
 public:
  /// `total`: the memory of all stores.
  explicit RecordStore(std::atomic<size_t>& total) : total_(total) {}

  void add(Bytes record) {
    if (failure_) return;
    if (block_size_ + record.size() > kBlockSize) end_block();
    if (used_ + record.size() > capacity_) new_piece();
    if (failure_) return;
    std::memcpy(piece_ + used_, record.data(), record.size());
    used_ += record.size();
    block_size_ += record.size();
  }
  /// Hands the records over, as blocks of a stream.
  Result<> move_to(Recording& recording, std::vector<RecordBlock>& blocks, uint32_t stream) {
    end_block();
    if (failure_) return std::unexpected(*failure_);
    for (SpoolMemory& piece : pieces_) recording.keep(std::move(piece));
    for (Bytes bytes : blocks_) {
      RecordBlock& block = blocks.emplace_back();
      block.bytes = bytes;
      block.expanded = true;  // its records have no place in the file
      block.stream = stream;
    }
    return {};
  }

 private:
  void new_piece() {
    end_block();
    auto memory = SpoolMemory::allocate(kPieceSize, total_.fetch_add(kPieceSize) >= kMostInMemory);
    if (!memory) {
      failure_ = memory.error();
      return;
    }
    piece_ = memory->data();
    capacity_ = memory->capacity();
    used_ = 0;
    pieces_.push_back(std::move(*memory));
  }
  void end_block() {
    if (block_size_ == 0) return;
    blocks_.emplace_back(piece_ + (used_ - block_size_), block_size_);
    block_size_ = 0;
  }

  std::atomic<size_t>& total_;
  std::vector<SpoolMemory> pieces_;
  std::vector<Bytes> blocks_;
  std::optional<Error> failure_;
  std::byte* piece_ = nullptr;
  size_t used_ = 0, capacity_ = 0, block_size_ = 0;
};

/// Images of the same code; each serves one thread at a time.
class CodeImages {
 public:
  CodeImages(const Recording& recording, const Machine& machine, const CodeSources& sources)
      : recording_(recording), machine_(machine), sources_(sources) {}
  std::unique_ptr<CodeImage> take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<CodeImage>(recording_, machine_, sources_);
    std::unique_ptr<CodeImage> image = std::move(free_.back());
    free_.pop_back();
    return image;
  }
  void give_back(std::unique_ptr<CodeImage> image) {
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(image));
  }

 private:
  const Recording& recording_;
  const Machine& machine_;
  const CodeSources& sources_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CodeImage>> free_;
};

class QueueCode final : public pt::CodeReader {
 public:
  /// `is_timeless`: what the code was last is read, whatever the trace's times are.
  QueueCode(CodeImage& image, TaskTimeline& tasks, const TraceClock& clock, bool is_timeless)
      : image_(image), tasks_(tasks), clock_(clock), is_timeless_(is_timeless) {}
  size_t read(uint64_t address, std::span<std::byte> to, uint64_t tsc) override {
    uint64_t time = time_of(tsc);
    size_t got = image_.read(tasks_.task_at(time).pid, time, address, to);
    if (got > 0) use();
    return got;
  }
  std::optional<FilePart> file_part(uint64_t address, uint64_t tsc) override {
    uint64_t time = time_of(tsc);
    auto part = image_.file_part(tasks_.task_at(time).pid, time, address);
    if (part) use();
    return part;
  }
  /// Another process runs, or something that was read is not mapped any more.
  uint64_t version(uint64_t tsc) override {
    uint64_t time = time_of(tsc);
    uint32_t pid = tasks_.task_at(time).pid;
    if (pid == pid_ && time >= valid_from_ && time < valid_to_) return version_;
    pid_ = pid;
    valid_from_ = 0;
    valid_to_ = UINT64_MAX;
    return ++version_;
  }
  /// Whether the code there is missing as that of another address was that was asked about: the
  /// whole object is.
  bool is_known_to_miss(uint64_t address, uint64_t tsc) {
    uint64_t time = time_of(tsc);
    DsoId object = image_.missing_object(tasks_.task_at(time).pid, time, address);
    return object.valid() && !missing_.insert(object.value).second;
  }

 private:
  [[nodiscard]] uint64_t time_of(uint64_t tsc) const {
    constexpr uint64_t kLast = UINT64_MAX - 1;
    return is_timeless_ ? kLast : clock_.to_ns(tsc);
  }
  /// The latest answer of the image is one that decoding goes by.
  void use() {
    auto [from, to] = image_.valid();
    valid_from_ = std::max(valid_from_, from);
    valid_to_ = std::min(valid_to_, to);
  }

  CodeImage& image_;
  TaskTimeline& tasks_;
  TraceClock clock_;
  bool is_timeless_;
  uint32_t pid_ = UINT32_MAX;
  uint64_t valid_from_ = 0, valid_to_ = UINT64_MAX;  // of all that was read
  uint64_t version_ = 0;
  tsl::robin_set<uint32_t> missing_;  // objects
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
  bool of_report = !options.is_given && options.instructions && options.transactions;
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

/// BTS tells branches only.
ItraceOptions of_bts(ItraceOptions options) {
  options.instructions = options.transactions = options.ptwrites = options.power = false;
  options.chains = options.branch_stacks = false;
  return options;
}

/// An event that has samples with times of its own; null if there is none.
const EventDesc* other_timed_event(const EventTable& events, uint32_t tracer) {
  for (const EventDesc& event : events.all()) {
    if (event.attr.type != tracer && !is_dummy(event.attr) && event.attr.samples(abi::kSampleTime))
      return &event;
  }
  return nullptr;
}

ItraceOptions of_tracer(Tracer tracer, const ItraceOptions& options) {
  switch (tracer) {
    case Tracer::kCoreSight:
      return of_etm(options);
    case Tracer::kIntelBts:
      return of_bts(options);
    case Tracer::kIntelPt:
    case Tracer::kArmSpe:
      return options;
  }
  return options;
}

/// All of a queue, and what was lost of it. `samples` has finish and put_lost.
Result<> follow_queue(const TraceInput& input, const TraceQueue& queue, auto& samples,
                      const auto& follow) {
  std::vector<std::vector<std::byte>> memory;
  for (const TracePiece& run : joined(queue.pieces, memory)) TRY(follow(run));
  samples.finish();
  bool of_thread = queue.cpu == UINT32_MAX;
  const auto& all = of_thread ? input.lost_of_thread : input.lost_on_cpu;
  if (auto lost = all.find(of_thread ? queue.tid : queue.cpu); lost != all.end())
    for (const LostTrace& one : lost->second) samples.put_lost(one);
  return {};
}

/// What queues are followed with; they are followed on several threads.
struct Following {
  const EventTable& events;
  const Machine& machine;
  const TraceInput& input;
  const ItraceOptions& options;
  const SynthesizedEvents& made;
  const std::vector<SpeEvent>& made_of_spe;
  const ExistingSamples& existing;
  DebugLog* log;  // null: none is written
};

Result<> follow_intel_pt(const Following& with, size_t number, TaskTimeline& tasks, QueueCode& code,
                         Synthesizer& samples) {
  std::optional<LoggedFlow> logged;
  if (with.log != nullptr) logged.emplace(samples, *with.log, with.input, number, tasks, code);
  pt::FlowObserver& observer = logged ? static_cast<pt::FlowObserver&>(*logged) : samples;
  auto follow = [&](const TracePiece& run) -> Result<> {
    samples.put_psbs(run.bytes, run.offset);
    if (logged) logged->begin(run);
    if (with.options.quick == 0) {
      TRY(pt::follow(run.bytes, with.input.setup, code, observer));
    } else {
      using enum pt::QuickDetail;
      pt::follow_quickly(run.bytes, with.input.setup, with.options.quick == 1 ? kAddresses : kPsbs,
                         observer);
    }
    if (logged) logged->end();
    return {};
  };
  TRY(follow_queue(with.input, with.input.queues[number], samples, follow));
  if (logged) logged->finish();
  return {};
}

Result<> follow_one(const Following& with, size_t number, CodeImage& image, const RecordSink& sink,
                    LossLedger& losses) {
  const TraceQueue& queue = with.input.queues[number];
  if (with.input.tracer == Tracer::kCoreSight) {
    EtmQueue etm(with.events, with.made, with.options, with.input, queue, with.machine, image,
                 sink);
    TRY(follow_queue(with.input, queue, etm,
                     [&](const TracePiece& run) { return etm.follow(run); }));
    etm.report(losses);
    return {};
  }
  if (with.input.tracer == Tracer::kArmSpe) {
    SpeSamples spe(with.events, with.made_of_spe, with.options, with.input, queue, with.machine,
                   sink);
    std::vector<std::vector<std::byte>> memory;
    for (const TracePiece& run : joined(queue.pieces, memory)) spe.follow(run.bytes);
    spe.report(losses);
    return {};
  }
  QueueTasks tasks(with.input, queue.cpu, queue.tid, with.machine);
  // A CPU's times tell whose instructions they are.
  bool is_timeless = with.options.without_times && queue.cpu == UINT32_MAX;
  QueueCode code(image, tasks, with.input.clock, is_timeless);
  Synthesizer samples(
      with.events, with.made, with.options, with.input, queue.cpu, tasks, sink,
      {with.existing.of_queue(number), with.options},
      with.options.pebs ? PebsOrigins(with.events, with.input, queue) : PebsOrigins());
  if (with.input.tracer == Tracer::kIntelBts) {
    BtsSamples(samples, code, with.input.clock, tasks, queue.cpu).follow(queue.pieces);
    samples.report(losses);
    return {};
  }
  if (!with.options.tells_every_error)
    samples.tell_once(
        [&code](uint64_t ip, uint64_t tsc) { return code.is_known_to_miss(ip, tsc); });
  TRY(follow_intel_pt(with, number, tasks, code, samples));
  samples.report(losses);
  return {};
}

}  // namespace

Result<> add_trace_samples(Recording& recording, const Machine& machine, const CodeSources& sources,
                           const ItraceOptions& options, const LogSetup& log_setup,
                           LossLedger& losses) {
  auto traces = read_traces(recording);
  bool of_spe = traces && traces->tracer == Tracer::kArmSpe;
  if (const char* what = of_spe ? options.not_of_spe() : options.only_of_spe())
    return fail(ErrorCode::kUnsupported, "--itrace: {} cannot be had of what traced {}", what,
                recording.facts().path);
  if (recording.byte_order() != kHostOrder)
    return fail(ErrorCode::kUnsupported,
                "{}: recorded on a machine with the other byte order, whose traces are not decoded",
                recording.facts().path);
  // What nobody asked for is not missed either.
  if (!traces && traces.error().code == ErrorCode::kUnsupported && is_default(options)) return {};
  TraceInput input = TRY(std::move(traces));
  ItraceOptions wanted = of_tracer(input.tracer, options);
  if (const char* what = options.only_of_intel_pt();
      what != nullptr && input.tracer != Tracer::kIntelPt)
    return fail(ErrorCode::kUnsupported,
                "--itrace: {} can be had of Intel PT only, which did not trace {}", what,
                recording.facts().path);
  if (wanted.quick > 0) {
    if (wanted.interrupts)
      return fail(ErrorCode::kUnsupported,
                  "--itrace=q does not follow events of the event trace: leave out I");
    if (wanted.counts_cycles || wanted.approximate_ipc)
      return fail(
          ErrorCode::kUnsupported,
          "--itrace=q follows no instructions, whose cycles could be told: leave out -F ipc "
          "and A");
    // Places that packets have: all of them, as in perf.
    wanted.unit = PeriodUnit::kInstructions;
    wanted.period = 1;
  }
  if ((wanted.counts_cycles || wanted.approximate_ipc) && !input.setup.counts_cycles &&
      !input.has_mtc)
    return fail(ErrorCode::kUnsupported,
                "{}: its trace does not tell cycles: record with -e intel_pt/cyc/, or at least "
                "with MTC packets (mtc), or leave out -F ipc and --itrace=A",
                recording.facts().path);
  if (wanted.without_times) {
    // Without times for some, there would be none for any.
    if (const EventDesc* other = other_timed_event(recording.events(), input.pmu_type))
      return fail(ErrorCode::kUnsupported,
                  "--itrace=Z is for recordings of a trace alone: samples of {} have times",
                  other->name);
    input.has_times = false;
  }
  input.setup.counts_cycles &= wanted.counts_cycles || wanted.approximate_ipc;
  ExistingSamples existing(recording, input, wanted);
  if (wanted.pebs) prepare_pebs_events(recording.edit_events(), input);
  SynthesizedEvents made;
  std::vector<SpeEvent> made_of_spe;
  if (of_spe)
    made_of_spe = TRY(add_spe_events(recording.edit_events(), input, wanted));
  else
    made = add_events(recording.edit_events(), input, wanted);
  struct Followed {
    explicit Followed(std::atomic<size_t>& memory) : records(memory) {}
    RecordStore records;
    LossLedger losses;
    Result<> outcome;
  };
  std::atomic<size_t> memory = 0;
  std::deque<Followed> followed;
  for (size_t i = 0; i < input.queues.size(); ++i) followed.emplace_back(memory);
  CodeImages images(recording, machine, sources);
  std::optional<DebugLog> log;
  if (wanted.debug_log) log = TRY(DebugLog::open(recording, wanted, log_setup));
  const Following with{recording.events(),   machine, input, wanted, made, made_of_spe, existing,
                       log ? &*log : nullptr};
  auto follow = [&](size_t i) {
    Followed& one = followed[i];
    std::unique_ptr<CodeImage> image = images.take();
    one.outcome =
        follow_one(with, i, *image, [&one](Bytes record) { one.records.add(record); }, one.losses);
    images.give_back(std::move(image));
  };
  if (log) {
    // Whoever reads a log reads one queue after the other.
    for (size_t i = 0; i < input.queues.size(); ++i) follow(i);
    TRY(log->finish());
  } else {
    parallel_jobs(input.queues.size(), follow);
  }
  for (Followed& one : followed) TRY(one.outcome);
  TRY(existing.put_into(recording, losses));
  std::vector<RecordBlock> blocks = recording.blocks();
  uint32_t stream = 0;
  for (const RecordBlock& block : blocks) stream = std::max(stream, block.stream);
  for (Followed& one : followed) {
    TRY(one.records.move_to(recording, blocks, ++stream));
    losses.merge(one.losses);
  }
  recording.show(std::move(blocks));
  return {};
}

}  // namespace sonde::itrace
