// ChainBuilder: the call chain of a sample out of the parts that it may carry.
//
//   kernel part                             as the kernel wrote it
//   user part    deferred                   in a record of its own, which comes later
//   (DeferredChains)
//                branches                   the processor's open calls (call_stack_branches.h)
//                registers, copied stack    unwound (StackCopies)
//                frame pointers             as the kernel wrote it
//
// A user part of branches or of a copied stack stands for that of frame pointers, as it knows the
// functions that keep none. Where the copy ends too early the chain of frame pointers goes on.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "replay/deferred_chains.h"
#include "replay/stack_copies.h"

namespace sonde {

/// How many branches the recording's processor holds, which perf writes with the capabilities of
/// its counters; 0 where it is not said.
[[nodiscard]] size_t branch_depth(const Features& features);

/// What is around the open calls of samples, by the sample's record: see BranchStitcher.
using StitchedCalls = std::unordered_map<uint64_t, std::vector<uint64_t>>;
/// Goes through a recording's samples in order of time. Nothing where the recording does not say
/// how many branches the processor holds.
StitchedCalls stitch_call_stacks(const Recording& recording, const SidebandResult& sideband);

/// What chains are made of beside the samples themselves. All of it outlives the builders.
struct ChainSources {
  abi::Arch arch = abi::Arch::kUnknown;
  const ObjectCfi* cfi = nullptr;  // null: nothing is unwound
  size_t max_stack = SIZE_MAX;
  const DeferredChains* deferred = nullptr;       // null: their cookies stand in chains
  const StitchedCalls* stitched_calls = nullptr;  // null: none
};

/// The addresses that a sample's record holds of the chain that a ChainBuilder makes of it, from
/// the leaf on: those of a copied stack, of another sample or a record of its own are not among
/// them.
void append_recorded_addresses(const Sample& sample, const abi::EventAttr& attr,
                               std::vector<uint64_t>& out);

/// One per thread of work.
class ChainBuilder {
 public:
  ChainBuilder(const ChainSources& sources, AddressResolver& resolver, FrameTable& frames,
               LossLedger& losses)
      : sources_(sources),
        resolver_(resolver),
        frames_(frames),
        losses_(losses),
        stacks_(sources.arch, sources.cfi) {}
  ChainBuilder(const ChainBuilder&) = delete;
  ChainBuilder& operator=(const ChainBuilder&) = delete;

  /// The chain of a sample whose process the resolver has entered, leaf first; valid until the
  /// next. `rank` is its record's.
  std::span<const FrameId> build(const Sample& sample, const abi::EventAttr& attr, uint64_t time,
                                 uint64_t rank);

  /// Whether the user part of the last chain comes from a copied stack.
  [[nodiscard]] bool used_copy() const { return used_copy_; }

  [[nodiscard]] const UnwindCounts& counts() const { return stacks_.counts(); }
  /// User parts that never came.
  [[nodiscard]] uint64_t missing() const { return missing_; }

 private:
  void add_words(const Sample& sample, const WordView& words);
  void add_deferred(const Sample& sample, uint64_t time);
  void add_calls(const Sample& sample, uint64_t rank);
  void add_copy(const Sample& sample);
  void add(uint64_t address, uint16_t mode) {
    if (chain_.size() < sources_.max_stack) chain_.push_back(resolver_.resolve(address, mode));
  }

  const ChainSources& sources_;
  AddressResolver& resolver_;
  FrameTable& frames_;
  LossLedger& losses_;
  StackCopies stacks_;
  std::vector<FrameId> chain_;
  std::vector<uint64_t> frame_pointers_;  // the user part that they give, where another is better
  bool keeps_user_part_ = true;
  bool in_user_ = false;
  bool used_copy_ = false;
  bool was_unwound_ = false;  // by the recorder
  uint64_t missing_ = 0;
};

}  // namespace sonde
