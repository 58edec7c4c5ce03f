// Data types beside the instructions of a listing: `annotate --code-with-type`.
#pragma once

#include "annotate/function_hits.h"
#include "datatype/session_types.h"
#include "view/listing.h"

namespace sonde::datatype {

/// Fills in ListingLine::data_type if a type is known; false if none is known anywhere.
bool add_types(const annotate::FunctionHits& function, SessionTypes& types, view::Listing& listing);

}  // namespace sonde::datatype
