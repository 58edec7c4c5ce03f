// ChainBuilder: builds the call chain of a sample from the parts that it may carry.
//
//   kernel part                             as the kernel wrote it
//   user part    deferred                   in a separate, later record (DeferredChains)
//                branches                   the processor's open calls (call_stack_branches.h)
//                registers, copied stack    unwound (StackCopies)
//                frame pointers             as the kernel wrote it
//
// A user part from branches or a copied stack replaces the one from frame pointers, as it includes
// functions that don't keep a frame pointer. If the copy ends too early, the chain continues with
// the frame pointers.
//
// Frame pointers lead astray where code keeps none. With CallSites, a chain is cut at the first
// caller that cannot be one, and ends in a mark.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "replay/frames/branch_path.h"
#include "replay/frames/call_sites.h"
#include "replay/frames/deferred_chains.h"
#include "replay/frames/stack_copies.h"

namespace sonde {

/// The depth of the recorded processor's branch stack, which perf writes with the PMU capabilities;
/// 0 if unknown.
[[nodiscard]] size_t branch_depth(const Features& features);

/// Addresses to add around a sample's open calls, by the sample's record: see BranchStitcher.
using StitchedCalls = std::unordered_map<uint64_t, std::vector<uint64_t>>;
/// Goes through a recording's samples in time order. Returns nothing if the recording does not give
/// the depth of the branch stack.
StitchedCalls stitch_call_stacks(const Recording& recording, const SidebandResult& sideband);

/// What chains are built from besides the samples themselves. All of it must outlive the builders.
struct ChainSources {
  abi::Arch arch = abi::Arch::kUnknown;
  const ObjectCfi* cfi = nullptr;  // null: nothing is unwound
  size_t max_stack = SIZE_MAX;
  const DeferredChains* deferred = nullptr;       // null: their cookies remain in chains
  const StitchedCalls* stitched_calls = nullptr;  // null: none
  const CallSites* call_sites = nullptr;          // null: chains by frame pointers are believed
  DsoId broken_chain{};  // what stands in place of a caller that cannot be one; with `call_sites`
  std::optional<BranchHistory> branch_history = std::nullopt;  // branches are part of chains
};

/// Appends those addresses of the chain that a ChainBuilder makes of a sample that are in the
/// sample's own record, from the leaf on. Addresses from a copied stack, another sample or a
/// separate record are not included.
void append_recorded_addresses(const Sample& sample, const abi::EventAttr& attr,
                               std::vector<uint64_t>& out);

/// Whether a ChainBuilder makes an event's chains of nothing but the addresses of recorded call
/// chains, one frame for each: none is unwound, or comes from branches.
[[nodiscard]] bool has_only_recorded_chains(const abi::EventAttr& attr);

/// Whether branches can be put into an event's chains: those of a processor's open calls are chains
/// themselves.
[[nodiscard]] bool has_branch_path(const abi::EventAttr& attr);

/// Of chains by frame pointers.
struct CheckedChains {
  uint64_t with_callers = 0;
  uint64_t cut = 0;  // at a caller that cannot be one
  void add(const CheckedChains& other) {
    with_callers += other.with_callers;
    cut += other.cut;
  }
};

/// One per worker thread.
class ChainBuilder {
 public:
  ChainBuilder(const ChainSources& sources, AddressResolver& resolver, FrameTable& frames,
               LossLedger& losses)
      : sources_(sources),
        resolver_(resolver),
        frames_(frames),
        losses_(losses),
        stacks_(sources.arch, sources.cfi, sources.call_sites) {}
  ChainBuilder(const ChainBuilder&) = delete;
  ChainBuilder& operator=(const ChainBuilder&) = delete;

  /// Builds the chain of a sample whose process the resolver has entered, leaf first; valid until
  /// the next call. `rank` is that of the sample's record.
  std::span<const FrameId> build(const Sample& sample, const abi::EventAttr& attr, uint64_t time,
                                 uint64_t rank);

  /// Whether the user part of the last chain comes from a copied stack.
  [[nodiscard]] bool used_copy() const { return used_copy_; }

  [[nodiscard]] const UnwindCounts& counts() const { return stacks_.counts(); }
  /// The number of user parts that never came.
  [[nodiscard]] uint64_t missing() const { return missing_; }
  /// Chains by frame pointers: those that had a caller to check, and those that were cut.
  [[nodiscard]] const CheckedChains& checked() const { return checked_; }

 private:
  std::span<const FrameId> build_branch_path(const Sample& sample);
  FrameId resolve_anywhere(uint64_t address);
  void add_words(const Sample& sample, const WordView& words);
  void add_caller(uint64_t address);
  [[nodiscard]] bool can_be_caller(FrameId id);
  void add_deferred(const Sample& sample, uint64_t time);
  void add_calls(const Sample& sample, uint64_t rank);
  void add_copy(const Sample& sample, const abi::EventAttr& attr);
  void add(uint64_t address, uint16_t mode) {
    if (chain_.size() < sources_.max_stack) chain_.push_back(resolver_.resolve(address, mode));
  }

  const ChainSources& sources_;
  AddressResolver& resolver_;
  FrameTable& frames_;
  LossLedger& losses_;
  StackCopies stacks_;
  std::vector<FrameId> chain_;
  std::vector<PathStep> steps_;      // of a path through branches
  std::vector<uint64_t> user_part_;  // as recorded, if the copy has a better one
  bool keeps_user_part_ = true;
  bool in_user_ = false;
  bool used_copy_ = false;
  bool was_unwound_ = false;  // by the recorder
  bool has_callers_ = false, is_cut_ = false;
  CheckedChains checked_;
  uint64_t missing_ = 0;
};

}  // namespace sonde
