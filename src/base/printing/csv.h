// Cells of separated values. A spreadsheet takes a cell that begins like a formula for one, and a
// formula can send the sheet away or start programs: a thread that calls itself =HYPERLINK(…) would
// write into whoever opens the table. So text that comes from a recording or a machine gets an
// apostrophe in front, which makes a spreadsheet leave it alone. Numbers never do, nor do signed
// numbers and ordinary names ("-bash").
//
// Where the cells are for programs only: `sonde.csv-formulas = yes` in perfconfig. Under the name
// perf they stay perf's.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/env.h"

namespace sonde {

/// Whether a spreadsheet could take `text` for a formula.
[[nodiscard]] bool looks_like_formula(std::string_view text);

/// `text`, with an apostrophe in front if it looks like a formula and `quotes_formulas`.
[[nodiscard]] std::string csv_text(std::string_view text, bool quotes_formulas);

/// A name between separators that nothing quotes: as csv_text, and a separator or line end in it,
/// which would begin another cell or row, is a '.'.
[[nodiscard]] std::string csv_name(std::string_view name, std::string_view separator,
                                   bool quotes_formulas);
/// Those of a cell that already stands in a line.
void replace_separators(std::span<char> cell, std::string_view separator);

/// What the settings want; fails if they cannot be read.
[[nodiscard]] Result<bool> quotes_formulas(const Env& env);

}  // namespace sonde
