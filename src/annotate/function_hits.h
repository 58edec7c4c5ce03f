// Where inside functions the samples of a recording fell: one pass, in which a sample costs a
// lookup, and memory for the functions that are wanted only.
//
// A function is a symbol of an object; what other processes ran of the same object counts for it,
// too. Functions that were inlined belong to the one around them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "replay/session.h"
#include "view/listing.h"

namespace sonde::annotate {

/// What fell on one address.
struct AddressHits {
  uint64_t offset = 0;  // from the function's start
  std::vector<view::ListingHits> by_event;
};

struct FunctionHits {
  SymbolId symbol;
  SymbolInfo info;
  std::vector<AddressHits> addresses;     // by offset
  std::vector<view::ListingHits> totals;  // by event
};

struct RecordingHits {
  std::vector<FunctionHits> functions;    // by object and address
  std::vector<view::ListingHits> totals;  // by event, of all samples
  std::vector<size_t> by_weight(
      size_t event) const;  // functions that the event hit, heaviest first
};

/// Counts the samples of the functions that `wanted` takes; it is asked once per function, with
/// some place in it.
RecordingHits count_hits(const Session& session, const std::function<bool(const Frame&)>& wanted);

}  // namespace sonde::annotate
