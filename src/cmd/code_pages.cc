#include "cmd/code_pages.h"

#include "datatype/listing_types.h"
#include "tui/listing_page.h"

namespace sonde {

void CodePages::open(const annotate::FunctionHits& function, const annotate::RecordingHits& all,
                     std::span<const EventId> events, tui::Pages& pages) {
  auto listing = maker_.make(function, all, events);
  if (!listing)
    return pages.say(
        fmt::format("Couldn't annotate {}: {}", function.info.name, listing.error().message));
  auto page = std::make_unique<tui::ListingPage>(
      theme_, std::move(*listing), options_.percent, options_.source,
      [this, function](view::Listing& shown) { return add_types(function, shown); });
  if (shows_types_) page->show_types(pages);
  pages.push(std::move(page));
}

std::string CodePages::add_types(const annotate::FunctionHits& function, view::Listing& listing) {
  if (!types_) types_ = std::make_unique<datatype::SessionTypes>(session_);
  if (datatype::add_types(function, *types_, listing)) return {};
  std::string note = types_->note_on(function.info.dso);
  return note.empty() ? fmt::format("no type is known of what {} touches", function.info.name)
                      : note;
}

void CodePages::open(SymbolId symbol, std::span<const EventId> events, tui::Pages& pages) {
  annotate::RecordingHits hits =
      annotate::count_hits(session_, [&](const Frame& frame) { return frame.symbol == symbol; });
  if (hits.functions.empty())
    return pages.say(
        fmt::format("no sample fell on {} itself", session_.symbolizer().name(symbol)));
  open(hits.functions.front(), hits, events, pages);
}

}  // namespace sonde
