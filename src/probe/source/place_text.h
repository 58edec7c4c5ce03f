// Places and raw fetch arguments as the kernel takes them.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "probe/probe_definition.h"
#include "probe/requested_probe.h"
#include "probe/source/probed_code.h"

namespace sonde {

/// The place `offset` bytes into a function: a file offset of an object; of the kernel the symbol,
/// or an offset from _text if several of `symbols` have that name. kUnsupported if no segment has
/// it.
[[nodiscard]] Result<ProbePlace> place_in(const ProbedCode& code, const CodeSymbols& symbols,
                                          const CodeSymbol& symbol, uint64_t offset);
/// The same by an address of debug information.
[[nodiscard]] Result<ProbePlace> place_at(const ProbedCode& code, uint64_t address);

/// A path as lists of probes show it: its last components, of at most 30 characters.
[[nodiscard]] std::string short_path(std::string_view path);

/// An argument in the kernel's own syntax: "%di:u32", "n=+0(%di):string".
[[nodiscard]] std::string raw_argument(const RequestedArgument& argument);

}  // namespace sonde
