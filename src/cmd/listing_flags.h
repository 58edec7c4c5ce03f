// Options about how code is shown: annotate has them, and so has whoever opens code from elsewhere.
#pragma once

#include "annotate/listing_maker.h"
#include "cmd/flags.h"

namespace sonde {

/// -M --source --asm-raw --prefix --prefix-strip --percent-type. `options` must outlive the table.
void declare_listing(FlagTable& flags, annotate::ListingOptions& options);
/// What the options cannot say together.
Result<> check_listing(const annotate::ListingOptions& options);

}  // namespace sonde
