// The part of a call chain that a profile uses: at most max_stack steps from where paths start, and
// nothing beyond a frame whose callees are ignored (--ignore-callees).
#pragma once

#include "profile/profile_input.h"
#include "profile/profile_options.h"

namespace sonde {

class RetainedPaths {
 public:
  RetainedPaths(const ChainTable& chains, const ProfileOptions& options)
      : chains_(chains), options_(options) {}

  [[nodiscard]] std::span<const FrameId> frames(ChainId chain) const {
    std::span<const FrameId> frames = within_max_stack(chain);
    size_t cut = cut_of(frames);
    if (cut == kNone) return frames;
    return options_.caller_order ? frames.first(cut + 1) : frames.subspan(cut);
  }
  /// For a sample taken at `leaf`: the frame at which the walk is cut off becomes the sample's own
  /// place.
  [[nodiscard]] FrameId own_frame(ChainId chain, FrameId leaf) const {
    if (!chain.valid() || options_.is_root_frame.empty()) return leaf;
    std::span<const FrameId> frames = within_max_stack(chain);
    size_t cut = cut_of(frames);
    return cut == kNone ? leaf : frames[cut];
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  [[nodiscard]] std::span<const FrameId> within_max_stack(ChainId chain) const {
    std::span<const FrameId> frames = chains_[chain];
    size_t kept = std::min<size_t>(frames.size(), options_.max_stack);
    return options_.caller_order ? frames.last(kept) : frames.first(kept);
  }
  [[nodiscard]] size_t cut_of(std::span<const FrameId> frames) const {
    const std::vector<uint8_t>& is_root = options_.is_root_frame;
    if (is_root.empty()) return kNone;
    if (options_.caller_order) {
      for (size_t i = 0; i < frames.size(); ++i)
        if (is_root[frames[i].index()] != 0) return i;
    } else {
      for (size_t i = frames.size(); i-- > 0;)
        if (is_root[frames[i].index()] != 0) return i;
    }
    return kNone;
  }

  const ChainTable& chains_;
  const ProfileOptions& options_;
};

}  // namespace sonde
