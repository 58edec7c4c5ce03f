#include "replay/frames/chain_builder.h"

#include <algorithm>
#include <charconv>

#include "unwind/call_stack_branches.h"
#include "unwind/callchain.h"

namespace sonde {
namespace {

bool has_user_part(const WordView& chain) {
  for (size_t i = 0; i < chain.size(); ++i)
    if (chain[i] == abi::kContextUser) return true;
  return false;
}

bool has_calls(const Sample& sample, const abi::EventAttr& attr) {
  return has_call_stacks(attr) && !sample.branches.empty() && has_user_part(sample.callchain);
}

struct Ranked {
  uint64_t time;
  uint64_t rank;
  RecordView view;
  EventId event;
};

}  // namespace

size_t branch_depth(const Features& features) {
  size_t depth = 0;
  if (features.pmu_caps.empty()) return depth;
  for (const auto& [name, value] : features.pmu_caps.front().caps)
    if (name == "branches") std::from_chars(value.data(), value.data() + value.size(), depth);
  constexpr size_t kMax = 1024;  // of any processor, by far
  return depth <= kMax ? depth : 0;
}

StitchedCalls stitch_call_stacks(const Recording& recording, const SidebandResult& sideband) {
  StitchedCalls stitched;
  size_t depth = branch_depth(recording.features());
  if (depth == 0) return stitched;
  std::vector<Ranked> samples;
  for (size_t block = 0; block < recording.blocks().size(); ++block) {
    RecordRange range(recording.blocks()[block], recording.byte_order());
    uint64_t rank = sideband.records_before[block];
    for (RecordView record; range.next(record); ++rank) {
      if (record.type != abi::kRecordSample) continue;
      EventId event = recording.events().of(record);
      if (!event.valid() || !has_call_stacks(recording.events()[event].attr) ||
          (recording.events()[event].attr.branch_sample_type & abi::kBranchHwIndex) == 0)
        continue;
      SampleId id;
      if (!decode_sample_id(record, recording.events()[event].layout, id)) continue;
      samples.push_back({id.has_time() ? id.time : rank, rank, record, event});
    }
  }
  std::ranges::stable_sort(samples, {}, &Ranked::time);
  BranchStitcher stitcher(depth);
  for (const Ranked& each : samples) {
    Sample sample;
    if (!decode_sample(each.view, recording.events()[each.event].layout, sample)) continue;
    std::span<const uint64_t> around = stitcher.calls_around(sample.id.tid, sample);
    if (!around.empty()) stitched.emplace(each.rank, std::vector(around.begin(), around.end()));
  }
  return stitched;
}

void append_recorded_addresses(const Sample& sample, const abi::EventAttr& attr,
                               std::vector<uint64_t>& out) {
  bool calls = has_calls(sample, attr);
  bool copied = !sample.stack_user.empty() && sample.regs_user.abi != abi::kRegsAbiNone;
  for_each_address(sample.callchain, [&](uint64_t ip, uint16_t mode) {
    if (mode != abi::kMiscUser || (!calls && !copied)) out.push_back(ip);
  });
  if (calls) for_each_call(sample, [&](uint64_t address) { out.push_back(address); });
}

bool has_only_recorded_chains(const abi::EventAttr& attr) {
  return !attr.samples(abi::kSampleStackUser | abi::kSampleRegsUser) && !has_call_stacks(attr);
}

bool has_branch_path(const abi::EventAttr& attr) {
  return !has_call_stacks(attr);
}

std::span<const FrameId> ChainBuilder::build(const Sample& sample, const abi::EventAttr& attr,
                                             uint64_t time, uint64_t rank) {
  chain_.clear();
  in_user_ = has_callers_ = is_cut_ = false;
  bool calls = has_calls(sample, attr);
  if (sources_.branch_history && has_branch_path(attr)) return build_branch_path(sample);
  used_copy_ = !calls && stacks_.can_unwind(sample);
  keeps_user_part_ = !calls && !used_copy_;
  // The recorder unwound the stack and left its copy out (perfdata/records/unwound_sample.h).
  was_unwound_ = keeps_user_part_ && attr.samples(abi::kSampleStackUser);
  user_part_.clear();
  add_words(sample, sample.callchain);
  add_deferred(sample, time);
  if (calls) add_calls(sample, rank);
  if (used_copy_) add_copy(sample, attr);
  if (was_unwound_ && in_user_) stacks_.count(sample.chain_cut);
  return chain_;
}

std::span<const FrameId> ChainBuilder::build_branch_path(const Sample& sample) {
  used_copy_ = false;
  steps_.clear();
  if (!append_branch_path(sample, *sources_.branch_history, steps_))
    losses_.add(LossKind::k_bad_call_chain);
  if (deferred_cookie(sample.callchain))
    ++missing_;  // the user part, which a path has no place for
  for (const PathStep& step : steps_)
    chain_.push_back(step.kind == PathStep::Kind::kCall ? resolver_.resolve(step.ip, step.cpu_mode)
                                                        : resolve_anywhere(step.ip));
  return chain_;
}

/// Branches go both ways between the program and the kernel. An address in neither gets the level
/// that perf tries last.
FrameId ChainBuilder::resolve_anywhere(uint64_t address) {
  for (uint16_t mode : {abi::kMiscUser, abi::kMiscKernel}) {
    FrameId frame = resolver_.resolve(address, mode);
    if (frames_[frame].dso.valid()) return frame;
  }
  return frames_.intern(DsoId(), address, FrameLevel::kHypervisor);
}

void ChainBuilder::add_words(const Sample& sample, const WordView& words) {
  bool whole = for_each_address(words, [&](uint64_t ip, uint16_t mode) {
    if (mode == abi::kMiscUser && !keeps_user_part_) {
      user_part_.push_back(ip);
      return;
    }
    if (is_cut_) return;
    bool is_caller = mode == abi::kMiscUser && in_user_ && !was_unwound_;
    if (is_caller && sources_.call_sites != nullptr) return add_caller(ip);
    add(ip, mode);
    if (mode != abi::kMiscUser) return;
    if (was_unwound_ && !chain_.empty()) frames_.mark_unwound(chain_.back());
    if (std::exchange(in_user_, true)) return;
    std::optional<uint64_t> caller = stacks_.caller_of_leaf(sample, ip, resolver_);
    if (!caller || chain_.size() >= sources_.max_stack) return;
    add(*caller, mode);
    frames_.mark_unwound(chain_.back());
  });
  if (!whole) losses_.add(LossKind::k_bad_call_chain);
}

/// Of the user part. If it cannot be one, the chain ends here.
void ChainBuilder::add_caller(uint64_t address) {
  if (!std::exchange(has_callers_, true)) ++checked_.with_callers;
  if (chain_.size() >= sources_.max_stack) return;
  FrameId caller = resolver_.resolve(address, abi::kMiscUser);
  if (!can_be_caller(caller)) {
    is_cut_ = true;
    ++checked_.cut;
    caller = frames_.intern(sources_.broken_chain, 0, FrameLevel::kUser);
  }
  chain_.push_back(caller);
}

bool ChainBuilder::can_be_caller(FrameId id) {
  if (!resolver_.process_known()) return true;  // nothing is known of what it maps
  FrameTable::CallerCheck& check = frames_.caller_check(id);
  if (check == FrameTable::CallerCheck::kNotYet) {
    const Frame& frame = frames_[id];
    check = sources_.call_sites->may_return_to(frame.dso, frame.address)
                ? FrameTable::CallerCheck::kPossible
                : FrameTable::CallerCheck::kImpossible;
  }
  return check == FrameTable::CallerCheck::kPossible;
}

void ChainBuilder::add_deferred(const Sample& sample, uint64_t time) {
  std::optional<uint64_t> cookie = deferred_cookie(sample.callchain);
  if (!cookie) return;
  if (sources_.deferred == nullptr)
    chain_.push_back(frames_.intern(DsoId(), *cookie, FrameLevel::kDeferred));
  else if (const WordView* words = sources_.deferred->find(sample.id.tid, *cookie, time))
    add_words(sample, *words);
  else
    ++missing_;
}

void ChainBuilder::add_calls(const Sample& sample, uint64_t rank) {
  size_t first = chain_.size();
  for_each_call(sample, [&](uint64_t address) { add(address, abi::kMiscUser); });
  if (sources_.stitched_calls != nullptr) {
    auto around = sources_.stitched_calls->find(rank);
    if (around != sources_.stitched_calls->end())
      for (uint64_t address : around->second) add(address, abi::kMiscUser);
  }
  // They include every call, as an unwound chain does, so inlined functions complete them, too.
  for (size_t i = first; i < chain_.size(); ++i) frames_.mark_unwound(chain_[i]);
}

void ChainBuilder::add_copy(const Sample& sample, const abi::EventAttr& attr) {
  if (chain_.size() >= sources_.max_stack) return;
  // The kernel was not to write a user part, so the recorder did.
  RecordedChain recorded{.addresses = user_part_, .is_walked = attr.exclude_callchain_user != 0};
  stacks_.append(sample, recorded, resolver_, sources_.max_stack - chain_.size(), frames_, chain_);
}

}  // namespace sonde
