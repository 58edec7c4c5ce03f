#include "script/inlined_lines.h"

#include <tuple>
#include <vector>

#include "symbol/source_index.h"

namespace sonde {

/// An address, and its frames from the innermost function to the one that is not inlined.
struct InlinedLines::Expanded {
  DsoId dso;
  uint64_t address = 0;
  std::vector<FrameId> frames;
};

namespace {

using Place = std::tuple<DsoId, uint64_t, FrameLevel>;

Place place_of(const Frame& frame) {
  return {frame.dso, frame.address, frame.level};
}

}  // namespace

// Frames of inlined functions follow those that they were added for, innermost first.
void InlinedLines::grow(const Session& session, size_t first) {
  const std::vector<Frame>& frames = session.frames();
  std::map<Place, Expanded> expanded;
  for (size_t i = first; i < frames.size(); ++i)
    if (InlinedSymbols::has(frames[i].symbol)) {
      Expanded& place = expanded[place_of(frames[i])];
      place.dso = frames[i].dso;
      place.address = frames[i].address;
      place.frames.push_back(FrameId(i));
    }
  if (expanded.empty()) return;
  for (size_t i = first; i < frames.size(); ++i)
    if (!InlinedSymbols::has(frames[i].symbol))
      if (auto found = expanded.find(place_of(frames[i])); found != expanded.end())
        found->second.frames.push_back(FrameId(i));
  for (const auto& [place, one] : expanded) add(session, one);
}

void InlinedLines::add(const Session& session, const Expanded& place) {
  std::vector<InlineFrame> functions = session.symbolizer().inline_frames(place.dso, place.address);
  for (size_t i = 1; i < functions.size() && i < place.frames.size(); ++i)
    if (!functions[i].at.file.last().empty())
      lines_[place.frames[i]] = format_srcline(functions[i].at, {full_paths_});
}

std::string_view InlinedLines::of(FrameId frame) const {
  auto found = lines_.find(frame);
  return found == lines_.end() ? std::string_view() : found->second;
}

}  // namespace sonde
