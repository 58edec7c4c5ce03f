// InlineFrames: adds inlined functions to call chains.
//
//   recorded     parse+0x18 ◄ main+0x40
//   expanded     skip_blanks (inlined) ◄ parse+0x18 ◄ read (inlined) ◄ main+0x40
//
// A frame's inlined functions are looked up once, no matter how many chains contain it; the chains
// keep their ids.
#pragma once

#include <optional>
#include <vector>

#include "replay/frames/frame_table.h"

namespace sonde {

/// Which frames are expanded with the functions inlined there.
enum class Inlines : uint8_t {
  kNone,
  kOfUnwound,  // those of unwound chains, as perf by default, and of the processor's call stacks
  kOfAll,
};

/// The choice of --inline; `given` is empty if neither it nor --no-inline was given.
inline Inlines chosen_inlines(std::optional<bool> given) {
  if (!given) return Inlines::kOfUnwound;
  return *given ? Inlines::kOfAll : Inlines::kNone;
}

class InlineFrames {
 public:
  /// Expands all `chains`. Frames from `first_frame` on are new; their symbols must be resolved.
  void expand(FrameTable& frames, size_t first_frame, ChainTable& chains, Symbolizer& symbols,
              Inlines which);

 private:
  struct Run {
    uint32_t first = 0, count = 0;  // in frames_
  };
  void find(FrameTable& frames, size_t first_frame, Symbolizer& symbols, Inlines which);

  std::vector<Run> runs_;  // by FrameId
  std::vector<FrameId> frames_;
};

}  // namespace sonde
