// The flags of `diff`.
#pragma once

#include <string_view>

#include "cli/flags.h"
#include "report/diff/options.h"

namespace sonde::diff {

/// "delta", "wdiff:1,2" …; perf's messages for anything else.
Result<> parse_method(std::string_view text, DiffOptions& options);
/// Every option; `o` must outlive the table.
void declare_flags(FlagTable& flags, DiffOptions& o);

}  // namespace sonde::diff
