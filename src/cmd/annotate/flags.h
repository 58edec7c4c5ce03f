// The command line of `annotate`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "annotate/listing_builder.h"
#include "cli/flags.h"
#include "itrace/options.h"
#include "render/listing_text.h"
#include "symbol/symbolizer.h"

namespace sonde::annotation {

struct Options {
  std::string input;  // for messages, the one that was chosen
  bool force = false;
  bool quiet = false;
  int verbose = 0;
  bool dump = false;  // -D

  // Which functions to show.
  std::optional<std::string> symbol;
  std::vector<std::string> dsos;
  std::vector<uint32_t> cpus;
  double percent_limit = 0;
  bool skip_missing = false;
  bool group = false;

  // Data types instead of code.
  std::optional<std::string> data_type;  // the type wanted; empty: all
  bool type_counts = false;              // --type-stat
  bool instruction_counts = false;       // --insn-stat
  bool code_types = false;               // --code-with-type: both

  // How to show them.
  annotate::ListingOptions listing;
  render::ListingColumn column = render::ListingColumn::kPercent;
  bool formatted = false;       // --stdio2
  std::optional<bool> browser;  // --tui, --stdio
  std::string color = "auto";
  std::optional<std::string> objdump;
  std::optional<ItraceOptions> itrace;  // --itrace; not set: perf's default

  SymbolOptions symbol_sources;
};

/// Every option; `o` must outlive the table.
void declare_flags(FlagTable& flags, Options& o);

}  // namespace sonde::annotation
