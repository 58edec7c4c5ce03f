// A listing in the format of `annotate --stdio2`: addresses only at jump targets, arrows for
// control flow, names instead of addresses.
//
//    4.03        cvtsi2sd %ebx,%xmm1
//              → call     sqrt@plt
//   29.53        cmp      %ebx,%ebp
//              ↑ jne      20
#pragma once

#include "base/sink.h"
#include "render/listing_text.h"
#include "view/listing.h"

namespace sonde::render {

void write_listing_columns(Sink& out, const view::Listing& listing,
                           const ListingTextOptions& options);

}  // namespace sonde::render
