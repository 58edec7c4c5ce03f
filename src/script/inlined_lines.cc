#include "script/inlined_lines.h"

#include <optional>
#include <tuple>
#include <vector>

#include "dwarf/line_index.h"
#include "symbol/source_index.h"

namespace sonde {

struct InlinedLines::Object {
  std::optional<LineIndex> lines;
  SegmentMap segments;
};

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

InlinedLines::InlinedLines(bool full_paths) : full_paths_(full_paths) {}
InlinedLines::InlinedLines(InlinedLines&&) noexcept = default;
InlinedLines& InlinedLines::operator=(InlinedLines&&) noexcept = default;
InlinedLines::~InlinedLines() = default;

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
  for (const auto& [place, one] : expanded) add(object(session, one.dso), one);
}

const InlinedLines::Object& InlinedLines::object(const Session& session, DsoId dso) {
  std::unique_ptr<Object>& known = objects_[dso];
  if (known) return *known;
  known = std::make_unique<Object>();
  FoundObject files = session.symbolizer().object_files(dso);
  Result<DebugInfo> info = session.symbolizer().debug_info(dso);
  if (!files.usable() || !info) return *known;
  known->segments = files.segments();
  if (auto lines = LineIndex::open(std::move(info->file), info->places))
    known->lines = std::move(*lines);
  return *known;
}

void InlinedLines::add(const Object& object, const Expanded& place) {
  if (!object.lines) return;
  auto address = object.segments.addr_of(FileOffset(place.address));
  if (!address) return;
  std::vector<InlineFrame> functions = object.lines->inline_frames(*address);
  for (size_t i = 1; i < functions.size() && i < place.frames.size(); ++i)
    if (!functions[i].at.file.last().empty())
      lines_[place.frames[i]] = format_srcline(functions[i].at, {full_paths_});
}

std::string_view InlinedLines::of(FrameId frame) const {
  auto found = lines_.find(frame);
  return found == lines_.end() ? std::string_view() : found->second;
}

}  // namespace sonde
