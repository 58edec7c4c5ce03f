#include "replay/frames/live_unwinder.h"

#include <algorithm>
#include <thread>

#include "base/parallel.h"
#include "perfdata/records/unwound_sample.h"
#include "replay/frames/address_resolver.h"

namespace sonde {
namespace {

/// As many frames as fit into a stack of the usual copy size.
constexpr size_t kMaxFrames = 1024;
/// Fewer are not worth waking another thread.
constexpr size_t kSamplesPerSlice = 256;

}  // namespace

/// A run of records in time order, with what is needed to unwind them, for one thread.
class LiveUnwinder::Slice {
 public:
  explicit Slice(LiveUnwinder& owner)
      : owner_(owner),
        resolver_(owner.machine_, frames_),
        stacks_(owner.options_.arch, &owner.cfi_, &owner.call_sites_) {}
  Slice(const Slice&) = delete;
  Slice& operator=(const Slice&) = delete;

  /// Consecutive records of one kind: the kernel's (and those like them), or the recorder's own.
  struct Run {
    bool is_own;
    size_t end;  // in `bytes`
  };
  std::vector<std::byte> bytes;
  std::vector<Run> runs;

  void read(std::span<const TimedRecord> records) {
    bytes.clear();
    runs.clear();
    for (const TimedRecord& timed : records) {
      bool is_own = timed.record.type >= abi::kRecordUserStart;
      if (runs.empty() || runs.back().is_own != is_own) runs.push_back({is_own, 0});
      if (timed.record.type == abi::kRecordSample && timed.event.valid())
        sample(timed);
      else
        pass_on(timed.record);
      runs.back().end = bytes.size();
    }
  }
  void machine_changed() { resolver_.machine_changed(); }

  [[nodiscard]] const UnwindCounts& counts() const { return stacks_.counts(); }
  [[nodiscard]] const LeftAsCopies& left_as_copies() const { return left_; }

 private:
  void pass_on(const RecordView& record) {
    Bytes raw = record.raw();
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }

  void sample(const TimedRecord& timed) {
    const SampleLayout& layout = owner_.events_[timed.event].layout;
    Sample sample;
    if (!layout.attr().samples(abi::kSampleStackUser) ||
        !layout.attr().samples(abi::kSampleCallchain) ||
        !decode_sample(timed.record, layout, sample) || sample.regs_user.abi == abi::kRegsAbiNone)
      return pass_on(timed.record);
    if (owner_.behind_ && stacks_.can_unwind(sample)) {
      ++left_.for_want_of_time;
      return append_without_user_chain(timed.record, sample, bytes);
    }
    resolver_.enter(sample.id.pid, timed.time, sample.cpu_mode);
    frame_pointers_.clear();
    WordView kernel_saw = user_part(sample.callchain);
    for (size_t i = 0; i < kernel_saw.size(); ++i) frame_pointers_.push_back(kernel_saw[i]);
    ChainCut cut = stacks_.unwind(sample, {.addresses = frame_pointers_}, resolver_, kMaxFrames);
    if (passes_untold_code(sample.id.pid)) {
      ++left_.for_want_of_dumps;
      return append_without_user_chain(timed.record, sample, bytes);
    }
    if (!append_unwound(timed.record, sample, stacks_.addresses(), cut,
                        owner_.options_.keep_registers, bytes))
      append_without_user_chain(timed.record, sample, bytes);
  }

  /// Compilers write their dumps in large pieces: report, which has the whole dump, knows more.
  [[nodiscard]] bool passes_untold_code(uint32_t pid) {
    if (owner_.options_.dumps_are_complete || !owner_.jit_.knows_dump_of(pid)) return false;
    return std::ranges::any_of(stacks_.addresses(), [this](uint64_t address) {
      DsoId dso = resolver_.place(address, abi::kMiscUser).dso;
      return dso.valid() && owner_.machine_.dsos()[dso].kind == DsoKind::kJit;
    });
  }

  LiveUnwinder& owner_;
  FrameTable frames_;  // only for the resolver's regions
  AddressResolver resolver_;
  StackCopies stacks_;
  std::vector<uint64_t> frame_pointers_;
  LeftAsCopies left_;
};

LiveUnwinder::LiveUnwinder(LiveUnwinderOptions options)
    : options_(std::move(options)),
      finder_(options_.files),
      sorter_(
          [this](std::span<const TimedRecord> records) {
            ready_.insert(ready_.end(), records.begin(), records.end());
          },
          losses_) {}

LiveUnwinder::~LiveUnwinder() = default;

void LiveUnwinder::begin(const std::vector<EventDesc>& events) {
  events_ = {};
  for (const EventDesc& event : events) events_.add(event);
}

Result<> LiveUnwinder::take(std::vector<std::byte> block, bool behind, Output& output) {
  behind_ = behind;
  blocks_.push_back({std::move(block), rounds_});
  RecordBlock records;
  records.bytes = blocks_.back().bytes;
  RecordRange range(records, kHostOrder);
  for (RecordView record; range.next(record);) {
    sorter_.push(with_time(record, events_));
    if (record.type != abi::kRecordFinishedRound) continue;
    sorter_.finish_round();
    ++rounds_;
    TRY(give_out(output));
  }
  blocks_.back().rounds = rounds_;
  if (range.stopped_at() != records.bytes.size()) losses_.add(LossKind::k_bad_record);
  release_blocks(output);
  return {};
}

Result<> LiveUnwinder::finish(Output& output) {
  sorter_.flush();
  TRY(give_out(output));
  rounds_ += 2;
  release_blocks(output);
  return {};
}

/// Runs before any of the samples is unwound: the machine keeps history, so later records do no
/// harm.
void LiveUnwinder::apply_sideband() {
  uint64_t exits = 0;
  sideband_.clear();
  for (const TimedRecord& timed : ready_) {
    uint32_t type = timed.record.type;
    if (type == abi::kRecordSample || type >= abi::kRecordUserStart) continue;
    sideband_.push_back({timed.time, timed.event, timed.record});
    if (type == abi::kRecordExit) ++exits;
  }
  LossLedger unsaid;  // an unreadable dump is left for report to mention: it reads it once
  apply_in_order(sideband_, events_, machine_, &jit_, unsaid);
  for (const BuildIdEntry& entry : options_.build_ids)
    machine_.set_build_id(entry.path, entry.build_id, entry.misc, entry.file);
  if (std::optional<uint64_t> before = forget_.after(exits, ready_.back().time))
    machine_.forget_before(*before);
  for (const std::unique_ptr<Slice>& slice : slices_) slice->machine_changed();
  machine_.freeze();
  cfi_.grow();
  call_sites_.grow();
}

Result<> LiveUnwinder::give_out(Output& output) {
  if (ready_.empty()) return {};
  apply_sideband();
  size_t most = std::max(1u, std::thread::hardware_concurrency());
  size_t count = std::clamp<size_t>(ready_.size() / kSamplesPerSlice, 1, most);
  while (slices_.size() < count) slices_.push_back(std::make_unique<Slice>(*this));
  std::span<const TimedRecord> all = ready_;
  parallel_for(count, [&](size_t i) {
    size_t first = all.size() * i / count;
    slices_[i]->read(all.subspan(first, all.size() * (i + 1) / count - first));
  });
  for (size_t i = 0; i < count; ++i) TRY(write(*slices_[i], output));
  ready_.clear();
  return {};
}

Result<> LiveUnwinder::write(const Slice& slice, Output& output) {
  size_t start = 0;
  for (const Slice::Run& run : slice.runs) {
    Bytes records = Bytes(slice.bytes).subspan(start, run.end - start);
    TRY(run.is_own ? output.write(records) : output.write_ring(records));
    start = run.end;
  }
  return {};
}

void LiveUnwinder::release_blocks(Output& output) {
  while (!blocks_.empty() && blocks_.front().rounds + 2 <= rounds_) {
    output.release(std::move(blocks_.front().bytes));
    blocks_.pop_front();
  }
}

void LiveUnwinder::add_losses(LossLedger& losses) const {
  losses.merge(losses_);
  UnwindCounts counts;
  for (const std::unique_ptr<Slice>& slice : slices_) counts.add(slice->counts());
  count_unfinished(counts, true, machine_.dsos(), losses);
}

LiveUnwinder::LeftAsCopies LiveUnwinder::left_as_copies() const {
  LeftAsCopies sum;
  for (const std::unique_ptr<Slice>& slice : slices_) {
    sum.for_want_of_time += slice->left_as_copies().for_want_of_time;
    sum.for_want_of_dumps += slice->left_as_copies().for_want_of_dumps;
  }
  return sum;
}

}  // namespace sonde
