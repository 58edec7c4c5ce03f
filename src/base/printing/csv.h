// Cells of separated values. A spreadsheet takes a cell that begins like a formula for one, and a
// formula can send the sheet away or start programs: a thread that calls itself =HYPERLINK(…) would
// write into whoever opens the table. So text that comes from a recording or a machine gets an
// apostrophe in front, which makes a spreadsheet leave it alone. Numbers never do, nor do signed
// numbers and ordinary names ("-bash").
//
// Where the cells are for programs only: `sonde.csv-formulas = yes` in perfconfig. Under the name
// perf they stay perf's.
#pragma once

#include <string>
#include <string_view>

#include "base/env.h"

namespace sonde {

/// Whether a spreadsheet could take `text` for a formula.
[[nodiscard]] bool looks_like_formula(std::string_view text);

/// `text`, with an apostrophe in front if it looks like a formula and `quotes_formulas`.
[[nodiscard]] std::string csv_text(std::string_view text, bool quotes_formulas);

/// What the settings want; fails if they cannot be read.
[[nodiscard]] Result<bool> quotes_formulas(const Env& env);

}  // namespace sonde
