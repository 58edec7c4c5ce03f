#include "itrace/existing_samples.h"

#include <algorithm>
#include <cstring>

#include "itrace/branch_ring.h"
#include "itrace/kernel_code.h"
#include "perfdata/read/spool.h"
#include "perfdata/records/record_encoder.h"

namespace sonde::itrace {
namespace {

constexpr size_t kMostWrittenInMemory = size_t{256} << 20;
constexpr uint64_t kNeededOfSamples = abi::kSampleTid | abi::kSampleTime | abi::kSampleIp;

uint64_t context_of(uint64_t ip) {
  return is_kernel_address(ip) ? abi::kContextKernel : abi::kContextUser;
}

/// The calls that a program was in: on the way from an event to its sample the kernel may have
/// made calls of its own.
std::span<const CallStack::Call> calls_at(uint64_t ip, std::span<const CallStack::Call> calls) {
  if (is_kernel_address(ip)) return calls;
  while (!calls.empty() && is_kernel_address(calls.back().return_address))
    calls = calls.first(calls.size() - 1);
  return calls;
}

}  // namespace

void append_chain(uint64_t ip, std::span<const CallStack::Call> calls, uint32_t most_frames,
                  std::vector<uint64_t>& chain) {
  // As in perf, the leaf counts, and one marker.
  size_t most = size_t{most_frames} + 1;
  uint64_t context = context_of(ip);
  chain.assign({context, ip});
  for (size_t i = calls.size(); i > 0 && chain.size() < most; --i) {
    uint64_t caller = calls[i - 1].return_address;
    if (context_of(caller) != context) {
      if (chain.size() + 1 >= most) break;
      context = context_of(caller);
      chain.push_back(context);
    }
    chain.push_back(caller);
  }
}

ExistingSamples::ExistingSamples(const Recording& recording, const TraceInput& input,
                                 const ItraceOptions& options)
    : options_(options) {
  if (!options.chains_for_others && !options.branch_stacks_for_others) return;
  const EventTable& events = recording.events();
  for (const EventDesc& event : events.all()) {
    uint64_t type = event.attr.sample_type;
    bool lacks = (options.chains_for_others && (type & abi::kSampleCallchain) == 0) ||
                 (options.branch_stacks_for_others && (type & abi::kSampleBranchStack) == 0);
    changed_.push_back(lacks && event.attr.type != input.pmu_type && event.attr.aux_output == 0 &&
                       (type & kNeededOfSamples) == kNeededOfSamples);
  }
  std::vector<uint32_t> cpus;
  for (const RecordBlock& block : recording.blocks()) {
    if (!block.may_hold(abi::kRecordSample)) continue;
    RecordRange range(block, recording.byte_order());
    for (RecordView record; range.next(record);) {
      if (record.type != abi::kRecordSample) continue;
      EventId event = events.of(record);
      Sample sample;
      if (!changes(event) || !decode_sample(record, events[event].layout, sample)) continue;
      samples_.push_back({sample.id.time, sample.ip, sample.id.tid, {}, {}});
      cpus.push_back(sample.id.cpu);
    }
  }
  if (samples_.empty()) return;
  for (const TraceQueue& queue : input.queues) {
    std::vector<ExistingSample*>& own = by_queue_.emplace_back();
    for (size_t i = 0; i < samples_.size(); ++i)
      if (queue.cpu == UINT32_MAX ? samples_[i].tid == queue.tid : cpus[i] == queue.cpu)
        own.push_back(&samples_[i]);
    std::ranges::stable_sort(own, {}, &ExistingSample::time_ns);
  }
}

Result<> ExistingSamples::put_into(Recording& recording, LossLedger& losses) {
  if (samples_.empty()) return {};
  std::vector<RecordBlock> blocks = recording.blocks();
  size_t next = 0;
  for (RecordBlock& block : blocks)
    if (block.may_hold(abi::kRecordSample)) TRY(rewrite(recording, block, next, losses));
  for (size_t i = 0; i < changed_.size(); ++i) {
    if (!changed_[i]) continue;
    EventDesc& event = recording.edit_events().edit(EventId(i));
    if (options_.chains_for_others) event.attr.sample_type |= abi::kSampleCallchain;
    if (options_.branch_stacks_for_others && !event.attr.samples(abi::kSampleBranchStack)) {
      event.attr.sample_type |= abi::kSampleBranchStack;
      event.attr.branch_sample_type |= abi::kBranchHwIndex;
    }
    event.layout = SampleLayout(event.attr);
  }
  recording.show(std::move(blocks));
  return {};
}

/// The block's records with its samples as they shall be; `next`: the number of the first of them.
Result<> ExistingSamples::rewrite(Recording& recording, RecordBlock& block, size_t& next,
                                  LossLedger& losses) {
  const EventTable& events = recording.events();
  size_t first = next;
  ByteBuilder out;
  RecordRange range(block, recording.byte_order());
  for (RecordView record; range.next(record);) {
    EventId event = record.type == abi::kRecordSample ? events.of(record) : EventId();
    Sample sample;
    if (!changes(event) || !decode_sample(record, events[event].layout, sample)) {
      out.bytes(record.raw());
      continue;
    }
    const ExistingSample& made = samples_[next++];
    abi::EventAttr attr = events[event].attr;
    std::vector<uint64_t> alone;
    if (options_.chains_for_others && !attr.samples(abi::kSampleCallchain)) {
      attr.sample_type |= abi::kSampleCallchain;
      if (made.chain.empty()) append_chain(made.ip, {}, options_.chain_size, alone);
      std::span<const uint64_t> chain = made.chain.empty() ? alone : made.chain;
      sample.callchain = WordView(std::as_bytes(chain), kHostOrder);
    }
    if (options_.branch_stacks_for_others && !attr.samples(abi::kSampleBranchStack)) {
      attr.sample_type |= abi::kSampleBranchStack;
      attr.branch_sample_type |= abi::kBranchHwIndex;
      sample.has_branches = true;
      sample.branches = WordView(std::as_bytes(std::span(made.branches)), kHostOrder);
    }
    size_t before = out.size();
    if (encode_sample(sample, attr, out)) continue;
    out.truncate(before);  // too large for a record with all its fields
    sample.callchain = {};
    sample.branches = {};
    if (encode_sample(sample, attr, out)) continue;
    out.truncate(before);
    losses.add(LossKind::k_bad_record, 1, "sample without room for a call chain");
  }
  if (next == first) return {};
  SpoolMemory memory =
      TRY(SpoolMemory::allocate(out.size(), (written_ += out.size()) >= kMostWrittenInMemory));
  std::memcpy(memory.data(), out.view().data(), out.size());
  block.bytes = {memory.data(), out.size()};
  block.expanded = true;  // its records have no place in the file
  block.content.reset();
  recording.keep(std::move(memory));
  return {};
}

void LateSamples::take(const CallStack& calls, const BranchRing& branches) {
  ExistingSample& sample = *samples_[at_++];
  if (options_->chains_for_others)
    append_chain(sample.ip, calls_at(sample.ip, calls.calls()), options_->chain_size, sample.chain);
  if (!options_->branch_stacks_for_others) return;
  branches.put(sample.branches);
  if (is_kernel_address(sample.ip)) return;
  constexpr size_t kEntry = 3, kTo = 1;
  auto is_of_kernel = [&](size_t at) { return is_kernel_address(sample.branches[at + kTo]); };
  size_t skipped = 0;
  while (skipped < sample.branches.size() && is_of_kernel(skipped)) skipped += kEntry;
  sample.branches.erase(sample.branches.begin(),
                        sample.branches.begin() + static_cast<ptrdiff_t>(skipped));
}

}  // namespace sonde::itrace
