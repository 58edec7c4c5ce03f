// DataLayout: the members of a data type, one below another, with the samples that touched each:
// plain data, for text output.
//
//   100.00          0       0x18  struct node {
//    25.00          0        0x8      long int value;
//    75.00        0x8        0x8      struct node* next;
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "view/listing.h"

namespace sonde::view {

struct DataLayoutRow {
  enum class Kind : uint8_t { kMember, kOpens, kCloses };
  Kind kind = Kind::kMember;
  uint32_t depth = 0;
  uint64_t offset = 0, size = 0;
  std::string type, name;
};

struct DataLayout {
  std::string type;    // "struct node"
  std::string object;  // the program or library that defines it
  std::vector<std::string> events;
  std::vector<ListingHits> totals;  // per event: all hits on the type
  std::vector<DataLayoutRow> rows;
  std::vector<ListingHits> hits;  // one per row and event

  [[nodiscard]] std::span<const ListingHits> hits_of(size_t row) const {
    return std::span(hits).subspan(row * events.size(), events.size());
  }
};

/// How many samples were resolved, out of all examined.
struct DataTypeCounts {
  struct Reason {
    std::string name;
    uint64_t samples = 0;
  };
  uint64_t samples = 0, known = 0;
  std::vector<Reason> reasons;  // why the others were not
};

/// The same for the samples on one kind of instruction, whatever its operands.
struct InstructionCounts {
  std::string name;  // "mov", "lock cmpxchg"
  uint64_t known = 0, unknown = 0;
  std::vector<DataTypeCounts::Reason> reasons;  // why the others were not
};

}  // namespace sonde::view
