// Where inside functions the samples of a recording fell: one pass, in which a sample costs a
// lookup, and memory only for the wanted functions.
//
// A function is a symbol of an object; samples of the same object in other processes count, too.
// Inlined functions belong to the enclosing one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "replay/session.h"
#include "view/listing.h"

namespace sonde::annotate {

/// The samples at one address.
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
  std::vector<view::ListingHits> totals;  // by event, of the samples that shares are of
  std::vector<size_t> by_weight(
      size_t event) const;  // functions that the event hit, heaviest first
};

/// What a function's share is of: all samples, or those of wanted places, with or without a symbol.
enum class SharesOf : uint8_t { kAllSamples, kWantedSamples };

/// Counts the samples of the functions that `wanted` accepts; it is called once per function, with
/// some location in it, and for each location that has no symbol.
RecordingHits count_hits(const Session& session, const std::function<bool(const Frame&)>& wanted,
                         SharesOf shares);

}  // namespace sonde::annotate
