// A listing in the format of `annotate --stdio2`: addresses only at jump targets, arrows for
// control flow, names instead of addresses.
//
//    4.03        cvtsi2sd %ebx,%xmm1
//              → call     sqrt@plt
//   29.53        cmp      %ebx,%ebp
//              ↑ jne      20
//
// Where branches were recorded with cycles, instructions per cycle and the cycles of basic blocks
// follow the shares of samples.
#pragma once

#include "base/sink.h"
#include "render/listing_text.h"
#include "view/listing.h"

namespace sonde::render {

/// "(Average IPC: 1.60, IPC Coverage: 54.8%)", of a listing that has cycles.
std::string ipc_summary(const view::Listing& listing);

void write_listing_columns(Sink& out, const view::Listing& listing,
                           const ListingTextOptions& options);

}  // namespace sonde::render
