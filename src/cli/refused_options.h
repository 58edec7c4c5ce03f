// perf's options that one of our commands lacks: each ends the command with a line that says why,
// and what to use instead.
#pragma once

#include <span>

#include "cli/flags.h"

namespace sonde {

struct RefusedOption {
  char letter;  // 0: none
  const char* name;
  const char* argument;  // null: it takes none
  const char* help;
  const char* reason;
};

/// `options` must outlive the table.
void declare_refused(FlagTable& flags, std::span<const RefusedOption> options);

}  // namespace sonde
