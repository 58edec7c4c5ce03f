#include "stacks/session_spellings.h"

#include <algorithm>
#include <numeric>

#include "base/sorting/parallel_sort.h"
#include "base/text.h"
#include "profile/compared_session.h"

namespace sonde {
namespace {

constexpr std::string_view kInlinedMark = " (inlined)";

/// `script`'s name for it: a module whose file is not known for certain goes by its name.
std::string_view object_name(const Dso& dso) {
  bool by_name = dso.kind == DsoKind::kModule && dso.build_id.empty();
  return by_name ? dso.short_name : dso.path;
}

}  // namespace

std::vector<uint32_t> SessionSpellings::spell_all(std::span<const StringId> marks) {
  const std::vector<Frame>& frames = session_.frames();
  std::vector<uint32_t> spelling_of_frame(frames.size());
  for (size_t i = 0; i < frames.size(); ++i) spelling_of_frame[i] = spelling_of(frames[i]);
  for (StringId mark : marks) {
    spelling_of_frame.push_back(static_cast<uint32_t>(spellings_.size()));
    spellings_.push_back({StackFrameId(profile_.frames.size())});
    profile_.frames.push_back({.name = mark, .kind = FrameKind::kWaker});
  }
  std::vector<uint32_t> rank = sort_by_name();
  for (uint32_t& spelling : spelling_of_frame) spelling = rank[spelling];
  return spelling_of_frame;
}

FrameKind SessionSpellings::kind_of(const Frame& frame, std::string_view label) const {
  if (frame.level == FrameLevel::kKernel || frame.level == FrameLevel::kGuestKernel)
    return FrameKind::kKernel;
  if (label.ends_with(kInlinedMark)) return FrameKind::kInlined;
  if (!frame.dso.valid()) return FrameKind::kUser;
  const Dso& dso = session_.machine().dsos()[frame.dso];
  bool is_generated = dso.kind == DsoKind::kJit || dso.kind == DsoKind::kJitDump ||
                      kind_of_object(dso.path) == FrameKind::kJit;
  return is_generated ? FrameKind::kJit : FrameKind::kUser;
}

/// Most frames are places in functions, and share the spelling of their function.
uint32_t SessionSpellings::spelling_of(const Frame& frame) {
  const SpellingOptions& spelling = options_.spelling;
  if (spelling.lines || options_.want_addresses || (spelling.addresses && !frame.symbol.valid()))
    return spell(frame);
  uint64_t key = frame.symbol.valid() ? frame.symbol.value : (uint64_t{1} << 32) | frame.dso.value;
  auto [entry, is_new] = known_.try_emplace(key);
  if (is_new) entry.value() = spell(frame);
  return entry->second;
}

uint32_t SessionSpellings::spell(const Frame& frame) {
  const Symbolizer& symbolizer = session_.symbolizer();
  RawFrame raw{.function = "[unknown]",
               .object = "[unknown]",
               .address = frame.address,
               .is_shown_name = true};
  if (frame.symbol.valid()) raw.function = symbolizer.label(frame.symbol);
  raw.kind = kind_of(frame, raw.function);
  if (raw.kind == FrameKind::kInlined) raw.function.remove_suffix(kInlinedMark.size());
  if (frame.dso.valid()) raw.object = object_name(session_.machine().dsos()[frame.dso]);
  std::string line;
  if (options_.spelling.lines && frame.dso.valid())
    raw.line = line = symbolizer.srcline(frame.dso, frame.address);
  spelled_.clear();
  spell_frame(raw, options_.spelling, spelled_);
  std::vector<StackFrameId> frames;
  for (const SpelledFrame& part : spelled_) frames.push_back(intern(frame, raw, part));
  one_frame_each_ = one_frame_each_ && frames.size() == 1;
  spellings_.push_back(std::move(frames));
  return static_cast<uint32_t>(spellings_.size() - 1);
}

StackFrameId SessionSpellings::intern(const Frame& frame, const RawFrame& raw,
                                      const SpelledFrame& part) {
  StackFrame made{.name = profile_.strings->intern(part.name), .kind = part.kind};
  uint64_t key = made.name.value;
  if (options_.want_objects) {
    made.object = object_of(frame, raw);
    key |= uint64_t{made.object.value} << 32;
  }
  if (options_.want_addresses) {
    made.address = frame.address;
    return add(frame, made);
  }
  // A name has one kind per object, except for marks, which are part of the name.
  auto [entry, is_new] = interned_.try_emplace(key, static_cast<uint32_t>(profile_.frames.size()));
  if (is_new) add(frame, made);
  return StackFrameId(entry->second);
}

StackFrameId SessionSpellings::add(const Frame& frame, StackFrame& made) {
  if (options_.want_sources) add_source(frame, made);
  profile_.frames.push_back(made);
  return StackFrameId(profile_.frames.size() - 1);
}

/// Objects with the same path are one; the first build id is used.
StringId SessionSpellings::object_of(const Frame& frame, const RawFrame& raw) {
  StringId path = profile_.strings->intern(raw.object);
  if (!frame.dso.valid() || !objects_.insert(path.value).second) return path;
  const Dso& dso = session_.machine().dsos()[frame.dso];
  if (run_by_.empty()) run_by_ = samples_by_executable(session_);
  profile_.objects.push_back(
      {.path = path, .build_id = to_hex(dso.build_id), .run_by = run_by_[frame.dso.index()]});
  return path;
}

void SessionSpellings::add_source(const Frame& frame, StackFrame& made) const {
  if (!frame.symbol.valid()) return;
  auto place = session_.symbolizer().source_place(frame.dso, frame.symbol_start);
  if (!place) return;
  made.file = profile_.strings->intern(place->file);
  made.line = place->line;
}

/// Renumbers the spellings; returns the new number of each.
std::vector<uint32_t> SessionSpellings::sort_by_name() {
  std::vector<uint32_t> order(spellings_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::string_view> names;
  names.reserve(profile_.frames.size());
  for (const StackFrame& frame : profile_.frames) names.push_back(profile_.text(frame.name));
  auto name = [&](StackFrameId frame) { return names[frame.index()]; };
  parallel_sort(std::span(order), [&](uint32_t a, uint32_t b) {
    auto by_name = std::lexicographical_compare_three_way(
        spellings_[a].begin(), spellings_[a].end(), spellings_[b].begin(), spellings_[b].end(),
        [&](StackFrameId one, StackFrameId other) { return name(one) <=> name(other); });
    return by_name != 0 ? by_name < 0 : a < b;
  });
  // Equal spellings become one.
  std::vector<uint32_t> rank(order.size());
  std::vector<std::vector<StackFrameId>> sorted;
  for (uint32_t spelling : order) {
    if (sorted.empty() || sorted.back() != spellings_[spelling])
      sorted.push_back(std::move(spellings_[spelling]));
    rank[spelling] = static_cast<uint32_t>(sorted.size() - 1);
  }
  spellings_ = std::move(sorted);
  return rank;
}

}  // namespace sonde
