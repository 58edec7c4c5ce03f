// From a function with samples to its code on the screen, for `report` and `annotate`.
#pragma once

#include <memory>
#include <string>

#include "annotate/listing_maker.h"
#include "datatype/session_types.h"
#include "tui/page.h"

namespace sonde {

class CodePages {
 public:
  /// The session must outlive it.
  CodePages(const Session& session, annotate::ListingOptions options, const tui::Theme& theme)
      : session_(session), options_(std::move(options)), maker_(session, options_), theme_(theme) {}

  /// Pages show types of data from the start, not when they are asked for.
  void show_types(bool shown) { shows_types_ = shown; }

  /// Puts the function's page on top, or says why there is none. `events`: one, or a group.
  void open(const annotate::FunctionHits& function, const annotate::RecordingHits& all,
            std::span<const EventId> events, tui::Pages& pages);
  /// The same for a symbol whose samples are not counted yet.
  void open(SymbolId symbol, std::span<const EventId> events, tui::Pages& pages);

 private:
  /// Why there is none, in words; empty where there are some.
  std::string add_types(const annotate::FunctionHits& function, view::Listing& listing);

  const Session& session_;
  annotate::ListingOptions options_;
  annotate::ListingMaker maker_;
  const tui::Theme& theme_;
  bool shows_types_ = false;
  std::unique_ptr<datatype::SessionTypes> types_;  // made when they are first asked for
};

}  // namespace sonde
