// `report` as a part of other commands, which set some of its options themselves.
#pragma once

#include <memory>

#include "cli/command.h"
#include "report/options.h"

namespace sonde {

/// Its flags write to `options`, which must outlive it.
[[nodiscard]] std::unique_ptr<Command> make_report_of(report::ReportOptions& options);

}  // namespace sonde
