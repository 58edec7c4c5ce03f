// The packets of CoreSight traces as text, as OpenCSD writes them and perf's dumps show them.
#pragma once

#include <span>

#include "base/bytes.h"
#include "base/error.h"
#include "base/sink.h"
#include "etm/trace_unit.h"

namespace sonde::etm {

/// "ETMV4I", as OpenCSD names the unit's protocol.
std::string_view protocol_name(const TraceUnit& unit);

/// A line for each packet, with its position in `trace`. Units whose trace id another one before
/// has are left out. kUnsupported without OpenCSD, kCorrupt for units that it refuses.
Result<> put_packets(std::span<const TraceUnit> units, Format format, Bytes trace, Sink& out);

/// The registers, as perf shows them: `words` is what follows the record's type.
void put_trace_units(std::span<const uint64_t> words, Sink& out);

}  // namespace sonde::etm
