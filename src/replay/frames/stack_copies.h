// StackCopies: computes the user part of call chains from the registers and stack pieces that
// samples carry (record --call-graph dwarf), and completes frame-pointer chains (arm64).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/loss.h"
#include "replay/frames/address_resolver.h"
#include "replay/frames/call_sites.h"
#include "replay/frames/object_cfi.h"
#include "unwind/stack_unwinder.h"

namespace sonde {

/// How unwound chains ended, by ChainEnd.
struct UnwindCounts {
  std::array<uint64_t, kChainEnds> ended{};

  [[nodiscard]] uint64_t chains() const;
  [[nodiscard]] uint64_t of(ChainEnd end) const { return ended[static_cast<size_t>(end)]; }
  void add(const UnwindCounts& other);
  /// Those that end in the middle of nowhere.
  [[nodiscard]] uint64_t broken() const;
  uint64_t rejoined = 0;  // not among `ended`: they continue by frame pointers
  DsoId broken_in;        // the object of the last frame of the first one
};

/// Reports incomplete chains as losses. Their share is given only if these are all chains: in a
/// followed pipe, each round is counted separately.
void count_unfinished(const UnwindCounts& unwound, bool are_all, const DsoTable& dsos,
                      LossLedger& losses);

/// The user part of a chain that is in the sample beside its copy.
struct RecordedChain {
  std::span<const uint64_t> addresses;
  /// Walked by call frame information, with the addresses of calls; otherwise the kernel's, by
  /// frame pointers, with return addresses.
  bool is_walked = false;
};

/// One per worker thread.
class StackCopies {
 public:
  /// `cfi` may be null: then nothing is unwound; `call_sites`, too: then what frame pointers lead
  /// to is believed.
  StackCopies(abi::Arch arch, const ObjectCfi* cfi, const CallSites* call_sites)
      : arch_(arch), unwinder_(arch), cfi_(cfi), call_sites_(call_sites) {}

  /// Whether the sample has what is needed.
  [[nodiscard]] bool can_unwind(const Sample& sample) const {
    return cfi_ != nullptr && !sample.stack_user.empty() &&
           sample.regs_user.abi != abi::kRegsAbiNone;
  }
  /// Finds the user addresses of a sample whose process `resolver` has entered. Chains that would
  /// end too early continue with the one that was recorded.
  ChainCut unwind(const Sample& sample, const RecordedChain& recorded, AddressResolver& resolver,
                  size_t limit);
  /// What the last `unwind` found, leaf first.
  [[nodiscard]] std::span<const uint64_t> addresses() const { return addresses_; }
  /// Does both and appends the addresses as frames.
  void append(const Sample& sample, const RecordedChain& recorded, AddressResolver& resolver,
              size_t limit, FrameTable& frames, std::vector<FrameId>& chain);
  /// Counts a chain that was unwound during recording.
  void count(ChainCut cut);

  /// The address to insert after the first user address of a frame pointer chain: see
  /// caller_in_link_register.
  [[nodiscard]] std::optional<uint64_t> caller_of_leaf(const Sample& sample, uint64_t leaf,
                                                       AddressResolver& resolver) const;

  [[nodiscard]] const UnwindCounts& counts() const { return counts_; }

 private:
  abi::Arch arch_;
  StackUnwinder unwinder_;
  const ObjectCfi* cfi_;
  const CallSites* call_sites_;

  /// For when the copy, or what is known about the code, ended too early.
  [[nodiscard]] std::span<const uint64_t> rest_of(const Sample& sample,
                                                  const RecordedChain& recorded) const;
  bool append_recorded(std::span<const uint64_t> addresses, bool are_calls,
                       AddressResolver& resolver, size_t limit);
  [[nodiscard]] bool can_be_caller(uint64_t address, AddressResolver& resolver) const;

  UnwindCounts counts_;
  std::vector<uint64_t> addresses_;
};

}  // namespace sonde
