// What `diff` is asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/row_difference.h"
#include "symbol/symbolizer.h"

namespace sonde::diff {

struct DiffOptions {
  RowDifference::Options difference;
  bool cycles = false;            // -c cycles: rows are basic blocks
  bool cycles_histogram = false;  // with them: how much their cycles vary
  bool streams = false;           // no rows, but paths through branches
  std::string sort = "dso,symbol";
  bool baseline_only = false;
  bool show_period = false;
  bool show_formula = false;
  bool show_noise = false;        // an interval and a verdict beside each difference
  bool only_above_noise = false;  // omit rows whose difference may be chance
  std::optional<bool> by_name;    // names are compared as they are (profile/counterparts.h)
  bool quiet = false;
  bool force = false;
  bool dump = false;  // all records of the recordings, before the tables
  int verbose = 0;
  std::string separator;
  std::vector<std::string> comms, dsos, symbols;
  std::vector<uint32_t> pids, tids, cpus;
  bool relative = false;  // --percentage
  std::string time;       // one text for all, or one per recording, separated by colons
  SymbolOptions symbol_sources;
  bool shows_host = true, shows_guests = true;  // --no-host, --no-guest
};

}  // namespace sonde::diff
