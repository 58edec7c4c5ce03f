// Options of every command that reads a recording: where symbols come from, and which events open
// and close the gate.
#pragma once

#include <optional>

#include "base/option_values.h"
#include "cli/flags.h"
#include "replay/fields/event_window.h"
#include "stacks/profile_source.h"
#include "symbol/symbolizer.h"

namespace sonde {

/// -k, --kallsyms, --symfs, --demangle …
void declare_symbol_sources(FlagTable& flags, SymbolOptions& symbols);
/// --unwind-style of perf: accepted, because how stacks are unwound does not depend on it.
void declare_unwind_style(FlagTable& flags);
/// --unverified-symbols alone, for commands without the others.
void declare_unverified_symbols(FlagTable& flags, SymbolOptions& symbols);
/// For commands whose output is not compared with perf's: functions without a symbol are named by
/// call frame information, unless the flags chose, or perf's name stands for perf's output.
void name_frame_functions(SymbolOptions& symbols, const Env& env);
/// For those whose output is perf's: says which objects lack symbols, and what would bring them,
/// but not under perf's name.
void tell_of_nameless(SymbolOptions& symbols, const Env& env);
/// --itrace: the profile is the time of calls, from an instruction trace.
void declare_call_trace(FlagTable& flags, ProfileSourceOptions& source);
/// --by-name, for commands that compare two recordings (profile/counterparts.h).
void declare_by_name(FlagTable& flags, std::optional<bool>& by_name);
/// --check-chains, for commands that read profiles.
void declare_check_chains(FlagTable& flags, ProfileSourceOptions& source);
/// --switch-on, --switch-off, --show-on-off-events.
void declare_gate(FlagTable& flags, EventWindow::Choice& gate);

}  // namespace sonde
