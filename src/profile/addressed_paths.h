// Paths with frames that are distinguished by run-time address, which the columns don't hold: each
// such frame becomes a separate step (PathFrames::step_of). The process's mappings say where it
// was; where they can't, the sample's record is read again.
#pragma once

#include <deque>
#include <optional>

#include "profile/keys/sort_key.h"
#include "profile/retained_paths.h"
#include "replay/frames/run_time_addresses.h"

namespace sonde {

class AddressedPaths {
 public:
  static constexpr uint32_t kNobody = RunTimeAddresses::kNobody;

  AddressedPaths(const ProfileInput& input, PathFrames& frames, const RetainedPaths& kept);

  /// Samples with the same owner, which must not be kNobody, and the same chain have the same
  /// steps.
  uint32_t owner_of(uint32_t sample);
  /// The steps of the sample at which `reader` is positioned; valid until the next call. `owner`
  /// becomes kNobody if the sample's record had to be read.
  std::span<const FrameId> steps(RowReader& reader, ChainId chain, uint32_t& owner);
  /// A copy that stays valid as long as this.
  std::span<const FrameId> keep(std::span<const FrameId> path);

 private:
  static constexpr size_t kBlock = size_t{1} << 20;
  [[nodiscard]] bool was_copied(uint32_t sample) const {
    const auto& copied = input_.samples.was_copied;
    return !copied.empty() && copied[sample] != 0;
  }
  bool place_steps(ChainId chain, uint32_t owner);
  void read_steps(RowReader& reader, ChainId chain);
  [[nodiscard]] bool record_has_addresses(uint32_t sample, std::span<const FrameId> frames) const;

  const ProfileInput& input_;
  PathFrames& frames_;
  const RetainedPaths& kept_;
  std::optional<RunTimeAddresses> places_;
  std::vector<FrameId> path_;
  std::vector<uint64_t> addresses_;
  std::deque<LargeVector<FrameId>> blocks_;
};

}  // namespace sonde
