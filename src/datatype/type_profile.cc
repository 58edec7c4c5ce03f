#include "datatype/type_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "datatype/instruction_counter.h"

namespace sonde::datatype {
namespace {

/// Nested structures; deeper ones are shown as members without their own.
constexpr uint32_t kDeepestRow = 16;
constexpr size_t kMaxRows = 1 << 16;

/// perf's words for what is missing.
std::string_view reason_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::kNoCode:
      return "no_sym";
    case AccessKind::kNoMemory:
      return "no_mem_ops";
    case AccessKind::kNoDebugInfo:
      return "no_dbginfo";
    case AccessKind::kNoVariable:
      return "no_var";
    case AccessKind::kNoType:
      return "no_typeinfo";
    case AccessKind::kBadOffset:
      return "bad_offset";
    default:
      return {};
  }
}

void add_to(std::vector<view::ListingHits>& sums, std::span<const view::ListingHits> hits) {
  sums.resize(hits.size());
  for (size_t i = 0; i < hits.size(); ++i) {
    sums[i].samples += hits[i].samples;
    sums[i].period += hits[i].period;
  }
}

}  // namespace

TypeProfile::TypeProfile(const Session& session, SessionTypes& types,
                         const std::function<bool(const Frame&)>& wanted)
    : session_(session), types_(types) {
  const SampleColumns& samples = session.samples();
  size_t events = session.events().size();
  kinds_.resize(events);
  periods_.resize(events);
  hits_.resize(session.frames().size() * events);
  for (size_t i = 0; i < samples.size(); ++i) {
    uint32_t event = samples.event[i];
    if (event >= events || !samples.leaf[i].valid()) continue;
    view::ListingHits& hit = hits_[samples.leaf[i].index() * events + event];
    ++hit.samples;
    hit.period += samples.period[i];
  }
  for (size_t i = 0; i < session.frames().size(); ++i) {
    std::span<const view::ListingHits> of_frame = std::span(hits_).subspan(i * events, events);
    bool is_hit = std::ranges::any_of(of_frame, [](auto& hit) { return hit.samples > 0; });
    const Frame& frame = session.frames()[i];
    if (!is_hit || !wanted(frame)) continue;
    FoundAccess found = types.access_of(frame);
    places_.push_back({i, found.access.kind});
    add(frame, found, of_frame);
  }
}

void TypeProfile::add(const Frame& frame, const FoundAccess& found,
                      std::span<const view::ListingHits> hits) {
  for (size_t event = 0; event < hits.size(); ++event) {
    kinds_[event][static_cast<size_t>(found.access.kind)] += hits[event].samples;
    periods_[event] += hits[event].period;
  }
  if (found.access.kind != AccessKind::kData) return;
  DataTypes& types = found.object->types();
  std::string name = types.plain_name(found.access.type);
  uint64_t size = types.size_of(found.access.type);
  auto [entry, is_new] = touched_.try_emplace({frame.dso, std::move(name), size});
  Touched& touched = entry->second;
  if (is_new) {
    touched.object = found.object;
    touched.type = types.plain(found.access.type);
    touched.size = size;
  }
  add_to(touched.totals, hits);
  add_to(touched.offsets[found.access.offset], hits);
}

view::DataTypeCounts TypeProfile::counts(EventId event) const {
  view::DataTypeCounts counts;
  for (size_t i = 0; i < kAccessKinds; ++i) {
    uint64_t samples = kinds_[event.index()][i];
    std::string_view reason = reason_name(static_cast<AccessKind>(i));
    counts.samples += samples;
    if (reason.empty())
      counts.known += samples;
    else
      counts.reasons.push_back({std::string(reason), samples});
  }
  return counts;
}

std::vector<view::InstructionCounts> TypeProfile::instructions(EventId event) const {
  InstructionCounter counter;
  size_t events = session_.events().size();
  for (const Place& place : places_) {
    uint64_t samples = hits_[place.frame * events + event.index()].samples;
    auto code = types_.code_of(session_.frames()[place.frame]);
    if (samples > 0 && code) counter.add(*code, reason_name(place.kind), samples);
  }
  return std::move(counter).counts();
}

/// The rows of one type.
class TypeProfile::LayoutBuilder {
 public:
  LayoutBuilder(const Touched& touched, std::span<const EventId> events, view::DataLayout& out)
      : touched_(touched), types_(touched.object->types()), events_(events), out_(out) {}

  void make() {
    for (EventId event : events_) out_.totals.push_back(touched_.totals[event.index()]);
    add_row({.offset = 0, .size = touched_.size, .type = out_.type, .name = {}}, touched_.type);
  }

 private:
  void add_row(view::DataLayoutRow row, DataTypeId type) {
    if (out_.rows.size() >= kMaxRows) return;
    std::span<const DataMember> members = types_.members(types_.plain(type));
    bool opens = !members.empty() && row.depth < kDeepestRow;
    row.kind = opens ? view::DataLayoutRow::Kind::kOpens : view::DataLayoutRow::Kind::kMember;
    uint64_t start = row.offset, depth = row.depth;
    add_hits(row.offset, depth == 0 ? UINT64_MAX : row.size);
    out_.rows.push_back(std::move(row));
    if (!opens) return;
    for (const DataMember& member : members) add_member(member, start, depth + 1);
    add_hits(0, 0);
    out_.rows.push_back({.kind = view::DataLayoutRow::Kind::kCloses,
                         .depth = static_cast<uint32_t>(depth),
                         .type = {},
                         .name = {}});
  }

  void add_member(const DataMember& member, uint64_t start, uint64_t depth) {
    view::DataLayoutRow row{.depth = static_cast<uint32_t>(depth),
                            .offset = start + member.offset,
                            .size = types_.size_of(member.type),
                            .type = types_.name_of(member.type),
                            .name = std::string(member.name)};
    if (member.bits != 0) {
      row.name += fmt::format(":{}", member.bits);
      row.size = (member.bits + 7) / 8;
    }
    add_row(std::move(row), member.type);
  }

  void add_hits(uint64_t offset, uint64_t size) {
    auto from = touched_.offsets.lower_bound(offset);
    std::vector<view::ListingHits> sums(events_.size());
    for (; from != touched_.offsets.end() && from->first - offset < size; ++from) {
      for (size_t i = 0; i < events_.size(); ++i) {
        const view::ListingHits& hit = from->second[events_[i].index()];
        sums[i].samples += hit.samples;
        sums[i].period += hit.period;
      }
    }
    out_.hits.insert(out_.hits.end(), sums.begin(), sums.end());
  }

  const Touched& touched_;
  DataTypes& types_;
  std::span<const EventId> events_;
  view::DataLayout& out_;
};

std::vector<view::DataLayout> TypeProfile::layouts(
    std::span<const EventId> events, const std::function<bool(std::string_view)>& named) {
  std::vector<view::DataLayout> found;
  for (const auto& [key, touched] : touched_) {
    if (touched.totals[events[0].index()].samples == 0 || !named(key.name)) continue;
    view::DataLayout& layout = found.emplace_back();
    layout.type = key.name;
    layout.object = session_.machine().dsos()[key.dso].path;
    for (EventId event : events) layout.events.push_back(session_.events()[event].name);
    LayoutBuilder(touched, events, layout).make();
  }
  std::ranges::stable_sort(found, std::greater<>(),
                           [](const view::DataLayout& one) { return one.totals[0].period; });
  return found;
}

}  // namespace sonde::datatype
