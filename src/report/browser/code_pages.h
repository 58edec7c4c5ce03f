// From a function with samples to its code on the screen, for `report` and `annotate`.
#pragma once

#include <memory>
#include <string>

#include "annotate/listing_builder.h"
#include "tui/pages/page.h"

namespace sonde {

class CodePages {
 public:
  /// The session must outlive this and the pages. The pages hold `keeps`, which owns the session,
  /// if nobody else keeps it alive.
  CodePages(const Session& session, annotate::ListingOptions options, const tui::Theme& theme,
            std::shared_ptr<const void> keeps = nullptr);

  /// Pages show data types from the start, not only on request.
  void show_types(bool shown) { shows_types_ = shown; }

  /// Opens the function's page on top, or says why there is none. `events`: one, or a group.
  void open(const annotate::FunctionHits& function, const annotate::RecordingHits& all,
            std::span<const EventId> events, tui::Pages& pages);
  /// The same for a symbol whose samples have not been counted yet.
  void open(SymbolId symbol, std::span<const EventId> events, tui::Pages& pages);

 private:
  class TypeFinder;
  class TypesOfFunction;

  const Session& session_;
  annotate::ListingOptions options_;
  annotate::ListingBuilder maker_;
  const tui::Theme& theme_;
  bool shows_types_ = false;
  std::shared_ptr<TypeFinder> finder_;  // shared with the pages
};

}  // namespace sonde
