#include "datatype/listing_types.h"

#include <fmt/format.h>

namespace sonde::datatype {
namespace {

/// "struct list +0x8 (next)"; the stack and its protector are of no interest between code lines.
std::string words_for(const DataPlace& place) {
  if (place.type_size == 0) return {};
  std::string offset = place.offset == 0 ? "0" : fmt::format("{:#x}", place.offset);
  if (place.field.empty()) return fmt::format("{} +{}", place.type, offset);
  return fmt::format("{} +{} ({})", place.type, offset, place.field);
}

}  // namespace

bool add_types(const annotate::FunctionHits& function, SessionTypes& types,
               view::Listing& listing) {
  bool any = false;
  Frame frame;
  frame.dso = function.info.dso;
  frame.symbol = function.symbol;
  frame.symbol_start = function.info.start;
  for (view::ListingLine& line : listing.lines) {
    if (line.kind != view::ListingKind::kInstruction) continue;
    frame.address = function.info.start + (line.address - listing.start);
    line.data_type = words_for(types.place_of(frame));
    any |= !line.data_type.empty();
  }
  return any;
}

}  // namespace sonde::datatype
