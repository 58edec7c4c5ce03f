#include "report/browser/code_pages.h"

#include "datatype/listing_types.h"
#include "tui/pages/listing_page.h"
#include "tui/terminal/worker.h"

namespace sonde {

/// Finds types for successive pages, keeping what it knows of objects.
class CodePages::TypeFinder {
 public:
  using Found = tui::TypesOfListing::Found;

  TypeFinder(const Session& session, std::shared_ptr<const void> keeps)
      : keeps_(std::move(keeps)), types_(session) {}

  void start(const annotate::FunctionHits& function, view::Listing listing, const tui::Wake& wake) {
    if (!worker_) worker_ = std::make_unique<tui::Worker<Found>>(wake);
    worker_->start(
        [this, function, code = std::move(listing)]() mutable { return find(function, code); });
  }
  std::optional<Found> take() { return worker_ ? worker_->take() : std::nullopt; }

 private:
  Found find(const annotate::FunctionHits& function, view::Listing& code) {
    Found found;
    if (!datatype::add_types(function, types_, code)) {
      found.why_none = types_.note_on(function.info.dso);
      if (found.why_none.empty())
        found.why_none = fmt::format("no type is known for what {} touches", function.info.name);
    }
    for (view::ListingLine& line : code.lines) found.of_lines.push_back(std::move(line.data_type));
    return found;
  }

  std::shared_ptr<const void> keeps_;
  datatype::SessionTypes types_;                // used by the worker's thread
  std::unique_ptr<tui::Worker<Found>> worker_;  // last: ends before what it uses
};

class CodePages::TypesOfFunction final : public tui::TypesOfListing {
 public:
  TypesOfFunction(std::shared_ptr<TypeFinder> finder, annotate::FunctionHits function)
      : finder_(std::move(finder)), function_(std::move(function)) {}

  void ask(const view::Listing& listing, const tui::Wake& wake) override {
    finder_->start(function_, listing, wake);
  }
  std::optional<Found> take() override { return finder_->take(); }

 private:
  std::shared_ptr<TypeFinder> finder_;
  annotate::FunctionHits function_;
};

CodePages::CodePages(const Session& session, annotate::ListingOptions options,
                     const tui::Theme& theme, std::shared_ptr<const void> keeps)
    : session_(session),
      options_(std::move(options)),
      maker_(session, options_),
      theme_(theme),
      finder_(std::make_shared<TypeFinder>(session, std::move(keeps))) {}

void CodePages::open(const annotate::FunctionHits& function, const annotate::RecordingHits& all,
                     std::span<const EventId> events, tui::Pages& pages) {
  auto listing = maker_.make(function, all, events);
  if (!listing)
    return pages.say(
        fmt::format("Couldn't annotate {}: {}", function.info.name, listing.error().message));
  auto page = std::make_unique<tui::ListingPage>(
      theme_, std::move(*listing), options_.percent, options_.source,
      std::make_unique<TypesOfFunction>(finder_, function));
  if (shows_types_) page->show_types(pages);
  pages.push(std::move(page));
}

void CodePages::open(SymbolId symbol, std::span<const EventId> events, tui::Pages& pages) {
  annotate::RecordingHits hits = annotate::count_hits(
      session_, [&](const Frame& frame) { return frame.symbol == symbol; },
      annotate::SharesOf::kAllSamples);
  if (hits.functions.empty())
    return pages.say(
        fmt::format("no sample fell on {} itself", session_.symbolizer().name(symbol)));
  open(hits.functions.front(), hits, events, pages);
}

}  // namespace sonde
