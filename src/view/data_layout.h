// DataLayout: the members of a type of data, one below the other, with the samples that touched
// each: plain data, for texts.
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
  std::string object;  // the program or library that has it
  std::vector<std::string> events;
  std::vector<ListingHits> totals;  // per event: all that fell on the type
  std::vector<DataLayoutRow> rows;
  std::vector<ListingHits> hits;  // one per row and event

  [[nodiscard]] std::span<const ListingHits> hits_of(size_t row) const {
    return std::span(hits).subspan(row * events.size(), events.size());
  }
};

/// How many samples fell on what, of all that were looked at.
struct DataTypeCounts {
  struct Reason {
    std::string name;
    uint64_t samples = 0;
  };
  uint64_t samples = 0, known = 0;
  std::vector<Reason> reasons;  // of the others
};

/// The same of the samples on one instruction, whatever its operands.
struct InstructionCounts {
  std::string name;  // "mov", "lock cmpxchg"
  uint64_t known = 0, unknown = 0;
  std::vector<DataTypeCounts::Reason> reasons;  // of the unknown ones
};

}  // namespace sonde::view
