// From a function with samples to its code on the screen, for `report` and `annotate`.
#pragma once

#include <memory>
#include <string>

#include "annotate/listing_maker.h"
#include "tui/page.h"

namespace sonde {

class CodePages {
 public:
  /// The session must outlive this and the pages, which hold `keeps`: what the session is part of,
  /// where nobody else keeps it for them.
  CodePages(const Session& session, annotate::ListingOptions options, const tui::Theme& theme,
            std::shared_ptr<const void> keeps = nullptr);

  /// Pages show types of data from the start, not when they are asked for.
  void show_types(bool shown) { shows_types_ = shown; }

  /// Puts the function's page on top, or says why there is none. `events`: one, or a group.
  void open(const annotate::FunctionHits& function, const annotate::RecordingHits& all,
            std::span<const EventId> events, tui::Pages& pages);
  /// The same for a symbol whose samples are not counted yet.
  void open(SymbolId symbol, std::span<const EventId> events, tui::Pages& pages);

 private:
  class TypeFinder;
  class TypesOfFunction;

  const Session& session_;
  annotate::ListingOptions options_;
  annotate::ListingMaker maker_;
  const tui::Theme& theme_;
  bool shows_types_ = false;
  std::shared_ptr<TypeFinder> finder_;  // pages have it, too
};

}  // namespace sonde
