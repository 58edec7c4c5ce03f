#include "top/code.h"

#include <elf.h>

#include <algorithm>

#include "annotate/function_hits.h"
#include "annotate/listing_builder.h"
#include "base/text.h"
#include "perfdata/header/dummy_event.h"
#include "render/listing_text.h"

namespace sonde::top {
namespace {

/// The events of a session that have samples of their own, each with those of its group.
std::vector<std::vector<EventId>> shown_groups(const Session& session, bool grouped) {
  std::vector<std::vector<EventId>> groups;
  const EventTable& events = session.events();
  for (size_t i = 0; i < events.size(); ++i) {
    if (is_dummy(events[EventId(i)].attr)) continue;
    EventId leader = events[EventId(i)].leader;
    auto group = std::ranges::find_if(groups, [&](const auto& one) { return one[0] == leader; });
    if (grouped && group != groups.end())
      group->push_back(EventId(i));
    else
      groups.push_back({EventId(i)});
  }
  return groups;
}

char binding_letter(uint8_t binding) {
  return binding == STB_GLOBAL ? 'g' : binding == STB_WEAK ? 'w' : 'l';
}

}  // namespace

Result<> write_annotated_code(LiveProfile& profile, const TopOptions& options, Sink& out) {
  std::unique_ptr<report::OpenRecording> recent = TRY(profile.recent());
  const Session& session = recent->session;
  annotate::RecordingHits hits = annotate::count_hits(
      session,
      [&](const Frame& frame) {
        return frame.symbol.valid() && session.symbolizer().name(frame.symbol) == options.annotated;
      },
      annotate::SharesOf::kWantedSamples);
  bool is_empty = true;
  annotate::ListingOptions how = options.report.code;
  how.demangle = options.report.symbol_sources.demangle;
  annotate::ListingBuilder builder(session, how);
  for (const std::vector<EventId>& events : shown_groups(session, options.report.group))
    for (size_t function : hits.by_weight(events[0].index())) {
      is_empty = false;
      auto listing = builder.make(hits.functions[function], hits, events);
      if (!listing) {
        out.print("{}: {}\n", options.annotated, listing.error().message);
        continue;
      }
      for (EventId event : events) listing->shown.push_back(hits.totals[event.index()]);
      render::write_listing(out, *listing, {.percent = how.percent, .raw = how.raw});
    }
  if (is_empty) out.print("no recent sample fell on {}\n", options.annotated);
  return {};
}

void write_symbols(const Session& session, Sink& out) {
  const DsoTable& objects = session.machine().dsos();
  for (size_t i = 0; i < objects.size(); ++i) {
    const Dso& object = objects[DsoId(i)];
    std::vector<SymbolInfo> symbols = session.symbolizer().symbols_of(DsoId(i));
    out.print("dso: {} ({}, {}loaded, {})\n", object.short_name, object.path,
              symbols.empty() ? "NOT " : "", to_hex(object.build_id));
    for (const SymbolInfo& symbol : symbols)
      out.print(" {:x}-{:x} {} {}\n", symbol.start, symbol.end, binding_letter(symbol.binding),
                symbol.name);
  }
}

}  // namespace sonde::top
