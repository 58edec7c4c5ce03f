// Options that control how code is shown: for annotate and any command that opens code from
// elsewhere.
#pragma once

#include "annotate/listing_builder.h"
#include "cli/flags.h"

namespace sonde {

/// -M --source --asm-raw --prefix --prefix-strip --percent-type. `options` must outlive the table.
void declare_listing(FlagTable& flags, annotate::ListingOptions& options);
/// Rejects combinations of options that conflict.
Result<> check_listing(const annotate::ListingOptions& options);

}  // namespace sonde
