// Paths with frames that are distinguished by run-time address, which the columns don't hold: the
// sample's record is read again, and each such frame becomes a separate step (PathFrames::step_of).
#pragma once

#include <deque>

#include "profile/retained_paths.h"
#include "profile/sort_key.h"

namespace sonde {

class AddressedPaths {
 public:
  AddressedPaths(const ProfileInput& input, PathFrames& frames, const RetainedPaths& kept)
      : input_(input), frames_(frames), kept_(kept) {}

  /// The steps of the sample at which `reader` is positioned; valid until the next call.
  std::span<const FrameId> steps(RowReader& reader, ChainId chain);
  /// A copy that stays valid as long as this.
  std::span<const FrameId> keep(std::span<const FrameId> path);

 private:
  static constexpr size_t kBlock = size_t{1} << 20;
  [[nodiscard]] bool record_has_addresses(uint32_t sample, std::span<const FrameId> frames) const;

  const ProfileInput& input_;
  PathFrames& frames_;
  const RetainedPaths& kept_;
  std::vector<FrameId> path_;
  std::vector<uint64_t> addresses_;
  std::deque<LargeVector<FrameId>> blocks_;
};

}  // namespace sonde
