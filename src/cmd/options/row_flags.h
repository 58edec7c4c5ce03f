// Flags shared by several commands that show rows of a recording's samples. Their targets must
// outlive the table of flags.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "itrace/options.h"

namespace sonde {

/// Their letters; 0: none.
struct NameLetters {
  char comms = 0, dsos = 0, symbols = 0;
};
/// --comms, --dsos and --symbols: the names to look at.
void declare_names(FlagTable& flags, NameLetters letters, std::vector<std::string>& comms,
                   std::vector<std::string>& dsos, std::vector<std::string>& symbols);

/// Parser of --percentage's value, for FlagTable::call: "relative" or "absolute".
std::function<Result<>(std::string_view)> relative_into(bool& relative);

/// --itrace and --no-itrace, for recordings with instruction traces. `options` stays empty if
/// neither was given.
void declare_itrace(FlagTable& flags, ItraceDefaults defaults,
                    std::optional<ItraceOptions>& options);

}  // namespace sonde
