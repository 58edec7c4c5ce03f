// A listing as lines of text, in the format of `annotate --stdio`:
//
//    Percent |	Source code & Disassembly of spin for cycles (149 samples, percent: local period)
//   ---------------------------------------------------------------------------------------------
//            : 19   d += sqrt((double)i) / i;
//      40.94 :   12ba:   divsd  %xmm1,%xmm0
#pragma once

#include "base/sink.h"
#include "view/listing.h"

namespace sonde::render {

enum class ListingColumn : uint8_t { kPercent, kSamples, kPeriod };

struct ListingTextOptions {
  ListingColumn column = ListingColumn::kPercent;
  view::ListingPercent percent = view::ListingPercent::kLocalPeriod;
  bool color = false;
  bool raw = false;      // instructions begin with their raw bytes
  bool summary = false;  // -l: a summary of hits per source line, before the listing
};

void write_listing(Sink& out, const view::Listing& listing, const ListingTextOptions& options);

/// "Percent".
std::string_view column_title(ListingColumn column);
/// "local period".
std::string_view percent_words(view::ListingPercent percent);

}  // namespace sonde::render
