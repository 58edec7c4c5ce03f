#include "replay/frames/inline_frames.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/parallel.h"

namespace sonde {

void InlineFrames::expand(FrameTable& frames, size_t first_frame, ChainTable& chains,
                          Symbolizer& symbols, Inlines which) {
  if (which == Inlines::kNone) return;
  find(frames, first_frame, symbols, which);
  if (frames_.empty()) return;
  ChainTable expanded;
  expanded.expect(chains.size(), chains.frame_count() * 2);
  std::vector<FrameId> chain;
  for (size_t i = 0; i < chains.size(); ++i) {
    chain.clear();
    for (FrameId frame : chains[ChainId(i)]) {
      Run run = frame.index() < runs_.size() ? runs_[frame.index()] : Run();
      chain.insert(chain.end(), frames_.begin() + run.first,
                   frames_.begin() + run.first + run.count);
      chain.push_back(frame);
    }
    expanded.append(chain);
  }
  chains = std::move(expanded);
}

/// Objects are looked up in parallel, each of them on all cores; symbols and frames are created in
/// frame order, which does not depend on that.
void InlineFrames::find(FrameTable& frames, size_t first_frame, Symbolizer& symbols,
                        Inlines which) {
  struct Asked {
    FrameId frame;
    std::vector<std::string_view> names;
  };
  std::vector<Asked> asked;
  std::map<DsoId, std::vector<uint64_t>> by_object;
  for (size_t i = first_frame; i < frames.size(); ++i) {
    const Frame& frame = frames[FrameId(i)];
    bool wanted = which == Inlines::kOfAll ? frame.level == FrameLevel::kUser : frame.was_unwound;
    if (!wanted || !frame.symbol.valid()) continue;
    asked.push_back({FrameId(i), {}});
    by_object[frame.dso].push_back(frame.address);
  }
  if (asked.empty()) return;
  std::vector<std::pair<const DsoId, std::vector<uint64_t>>*> objects;
  for (auto& object : by_object) objects.push_back(&object);
  parallel_for(objects.size(), [&](size_t i) {
    symbols.prepare_lines(objects[i]->first, objects[i]->second, LineParts::kFunctions);
  });
  parallel_for(asked.size(), [&](size_t i) {
    const Frame& frame = frames[asked[i].frame];
    symbols.inlined_at(frame.dso, frame.address, asked[i].names);
  });
  runs_.resize(frames.size());
  for (const Asked& one : asked) {
    if (one.names.empty()) continue;
    runs_[one.frame.index()] = {static_cast<uint32_t>(frames_.size()),
                                static_cast<uint32_t>(one.names.size())};
    for (std::string_view name : one.names)
      frames_.push_back(
          frames.add_inlined(one.frame, symbols.inlined(frames[one.frame].symbol, name)));
  }
  runs_.resize(frames.size());
}

}  // namespace sonde
