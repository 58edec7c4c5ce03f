// How often the code between branches ran, from the branch stacks of all samples: each stretch from
// where a branch went to where the next one came from is a run of all instructions in between.
//
// Stretches overlap. A piece is code that all stretches run as a whole or not at all:
//
//   stretches   |-------------|        3 times, ends with a branch
//                    |--------|        once: joins at a branch's target
//   pieces      |---||--------|        3 runs; 4 runs, of which 1 begins here, and 4 end
#pragma once

#include <map>
#include <span>
#include <vector>

#include "replay/session.h"

namespace sonde {

struct CodePiece {
  uint64_t first = 0, last = 0;  // in the object: of its first byte, of the last instruction
  uint64_t runs = 0;
  uint64_t begins = 0;               // runs that began here, at a branch's target
  uint64_t ends = 0, predicted = 0;  // runs whose branch is the last instruction
};

class CodeCoverage {
 public:
  explicit CodeCoverage(const Session& session);

  /// In order of address; empty if no branch led there.
  [[nodiscard]] std::span<const CodePiece> of(DsoId dso) const;

 private:
  std::map<uint32_t, std::vector<CodePiece>> pieces_;  // by object
};

/// Of the stretches {first, last} in one object, each with how often it ran and was predicted.
struct CodeStretch {
  uint64_t first = 0, last = 0;
  uint64_t runs = 0, predicted = 0;
};
[[nodiscard]] std::vector<CodePiece> pieces_of(std::span<const CodeStretch> stretches);

/// Between two branches that were taken there is no more code than this, in bytes: otherwise the
/// stack has entries of before and after a gap.
constexpr uint64_t kLongestStretch = uint64_t{1} << 20;

}  // namespace sonde
