// The table of report --total-cycles: cycles by basic block.
#pragma once

#include <string_view>

#include "base/sink.h"
#include "replay/branches/blocks.h"
#include "report/options.h"
#include "view/table.h"

namespace sonde::report {

/// A row per block, except those below `percent` of the cycles. With `counts`, branch counters are
/// numbers instead of letters.
[[nodiscard]] view::Table block_table(const Session& session, const BlockSums& sums, double percent,
                                      bool counts);

/// Which letter is which branch counter; nothing if there are none.
void write_counter_legend(Sink& out, const Session& session);

/// The first option given that does not apply to blocks; empty if none.
[[nodiscard]] std::string_view option_without_blocks(const ReportOptions& options);

}  // namespace sonde::report
