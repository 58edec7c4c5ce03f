// Rows of several recordings side by side: what has the same name in each becomes one row.
//
//   std::vector<MatchedRow> rows = match_rows(sides);   // sides[0] is the baseline
//   rows[0].cells[1].period                             // of the second recording
//
// Recordings have their own ids, addresses and processes, so rows are matched by the identities of
// their keys (SortKey::identity), where Counterparts may say that two names are of one thing. What
// one recording distinguishes and another cannot (functions of the same name in one object,
// addresses without a symbol) is summed. Law 1 holds for each side: its cells sum to the weight of
// its rows.
#pragma once

#include <string>
#include <vector>

#include "profile/counterparts.h"
#include "profile/table_rows.h"

namespace sonde {

/// The rows of one recording: those of the first profile of a table.
struct MatchedSide {
  const TableRows* rows = nullptr;  // null: the recording has no such event
  const KeySet* keys = nullptr;
  std::vector<size_t> compared;  // keys by which rows are matched: the same number on every side
  /// From the baseline to this side; null: names are compared as they are.
  const Counterparts* counterparts = nullptr;
};

struct MatchedRow {
  struct Cell {
    bool present = false;
    uint64_t period = 0;
    uint64_t samples = 0;
  };
  size_t side = 0;   // the first side that has it: the row's texts come from there
  uint32_t row = 0;  // in that side's rows
  bool hidden = false;
  std::vector<std::string> identity;  // by compared key; names are the baseline's
  std::vector<Cell> cells;            // by side

  [[nodiscard]] bool is_in_baseline() const { return cells[0].present; }
  [[nodiscard]] bool is_in_others() const;
};

/// Ordered by key: numbers numerically, words by bytes, rows without a name last.
[[nodiscard]] std::vector<MatchedRow> match_rows(const std::vector<MatchedSide>& sides);

/// The order of two identities of the same key.
[[nodiscard]] int compare_identities(const std::string& a, const std::string& b);

}  // namespace sonde
