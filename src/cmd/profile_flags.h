// Options of every command that reads a recording: where symbols come from, which events open and
// close the gate, and how lists are parsed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/flags.h"
#include "replay/event_gate.h"
#include "replay/inline_frames.h"
#include "symbol/symbolizer.h"

namespace sonde {

/// -k, --kallsyms, --symfs, --demangle …
void declare_symbol_sources(FlagTable& flags, SymbolOptions& symbols);
/// --inline; `given` is empty if neither it nor --no-inline was given.
inline Inlines chosen_inlines(std::optional<bool> given) {
  if (!given) return Inlines::kOfUnwound;
  return *given ? Inlines::kOfAll : Inlines::kNone;
}
/// --switch-on, --switch-off, --show-on-off-events.
void declare_gate(FlagTable& flags, EventGate::Choice& gate);

/// Parsers of an option's value, for FlagTable::call. `list` must outlive the table.
/// "a,b,file://names": words, and those listed in a file, one per line.
std::function<Result<>(std::string_view)> words_into(std::vector<std::string>& list);
/// "0.5", or "0.5%".
Result<double> parse_percent(std::string_view word);
/// "0,2-5".
std::function<Result<>(std::string_view)> numbers_into(std::vector<uint32_t>& list);

}  // namespace sonde
