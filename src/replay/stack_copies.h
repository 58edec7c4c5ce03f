// StackCopies: the user part of call chains out of the registers and pieces of stack that samples
// carry (record --call-graph dwarf), and what chains of frame pointers lack (arm64).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/loss.h"
#include "replay/address_resolver.h"
#include "replay/object_cfi.h"
#include "unwind/stack_unwinder.h"

namespace sonde {

/// How the chains ended that were unwound, by ChainEnd.
struct UnwindCounts {
  std::array<uint64_t, kChainEnds> ended{};

  [[nodiscard]] uint64_t chains() const;
  [[nodiscard]] uint64_t of(ChainEnd end) const { return ended[static_cast<size_t>(end)]; }
  void add(const UnwindCounts& other);
  /// Those that end in the middle of nowhere.
  [[nodiscard]] uint64_t broken() const;
  uint64_t rejoined = 0;  // not among those that ended: they go on by frame pointers
  DsoId broken_in;        // the object of the last frame of the first of them
};

/// Tells of the chains that are not whole. Their share is said only where these are all: of a pipe
/// that is followed each round comes by itself.
void count_unfinished(const UnwindCounts& unwound, bool are_all, const DsoTable& dsos,
                      LossLedger& losses);

/// One per thread of work.
class StackCopies {
 public:
  /// `cfi` may be null: then nothing is unwound.
  StackCopies(abi::Arch arch, const ObjectCfi* cfi) : arch_(arch), unwinder_(arch), cfi_(cfi) {}

  /// Whether the sample has what is needed.
  [[nodiscard]] bool can_unwind(const Sample& sample) const {
    return cfi_ != nullptr && !sample.stack_user.empty() &&
           sample.regs_user.abi != abi::kRegsAbiNone;
  }
  /// Finds the user addresses of a sample whose process `resolver` has entered. `frame_pointers` is
  /// what the kernel saw of them, if it was asked: chains that would end too early go on with it.
  ChainCut unwind(const Sample& sample, std::span<const uint64_t> frame_pointers,
                  AddressResolver& resolver, size_t limit);
  /// What the last `unwind` found, leaf first.
  [[nodiscard]] std::span<const uint64_t> addresses() const { return addresses_; }
  /// Both, as frames.
  void append(const Sample& sample, std::span<const uint64_t> frame_pointers,
              AddressResolver& resolver, size_t limit, FrameTable& frames,
              std::vector<FrameId>& chain);
  /// A chain that was unwound while it was recorded.
  void count(ChainCut cut);

  /// The address to put behind the first user address of a frame pointer chain: see
  /// caller_in_link_register.
  [[nodiscard]] std::optional<uint64_t> caller_of_leaf(const Sample& sample, uint64_t leaf,
                                                       AddressResolver& resolver) const;

  [[nodiscard]] const UnwindCounts& counts() const { return counts_; }

 private:
  abi::Arch arch_;
  StackUnwinder unwinder_;
  const ObjectCfi* cfi_;
  bool rejoin(const Sample& sample, std::span<const uint64_t> frame_pointers, size_t limit);

  UnwindCounts counts_;
  std::vector<uint64_t> addresses_;
};

}  // namespace sonde
