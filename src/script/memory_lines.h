// `mem report -D`: a line per sample, with the address that it accessed and how that was served.
//
//   # PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL
//   1713 1713 0x401136 0x0000000000404040 7 0x68100142 /usr/bin/spin:work
#pragma once

#include <string>

#include "base/sink.h"
#include "replay/session.h"

namespace sonde {

struct MemoryLineStyle {
  std::string separator;            // empty: a blank
  bool physical_addresses = false;  // a column for them
  bool page_sizes = false;          // a column for the size of the page of the data address
  bool hide_unresolved = false;     // leave out samples of code without a symbol
};

/// All samples of a session with symbols, in time order. Stops when `out` fails.
void write_memory_lines(const Session& session, const MemoryLineStyle& style, Sink& out);

}  // namespace sonde
