// `c2c report --tui`: the table of lines on a terminal; a line opens its rows.
#pragma once

#include "base/env.h"
#include "c2c/report_text.h"

namespace sonde::c2c {

/// Needs a terminal (can_browse). `options.node_info` changes while it is open.
Result<int> browse(const CacheLines& lines, const Named& named, const Nodes& nodes, Options options,
                   Env& env);

}  // namespace sonde::c2c
