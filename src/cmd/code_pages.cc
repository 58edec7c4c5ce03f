#include "cmd/code_pages.h"

#include "tui/listing_page.h"

namespace sonde {

void CodePages::open(const annotate::FunctionHits& function, const annotate::RecordingHits& all,
                     std::span<const EventId> events, tui::Pages& pages) {
  auto listing = maker_.make(function, all, events);
  if (!listing)
    return pages.say(
        fmt::format("Couldn't annotate {}: {}", function.info.name, listing.error().message));
  pages.push(std::make_unique<tui::ListingPage>(theme_, std::move(*listing), options_.percent,
                                                options_.source));
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
