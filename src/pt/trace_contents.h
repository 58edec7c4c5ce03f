// A first look at a trace: whether TraceReader knows all its packets, and what else decides how it
// can be followed.
#pragma once

#include "base/bytes.h"
#include "pt/flow_decoder.h"

namespace sonde::pt {

/// What a trace consists of.
struct TraceContents {
  bool is_readable = true;  // all packets are among those that TraceReader knows
  bool is_damaged = false;  // there are bytes that are no packets
  bool has_overflows = false, has_transactions = false;
  bool has_event_packets = false;  // CFE, EVD, BBP …, which libipt 2 does not know
};
/// Looks at every packet from the first PSB on.
TraceContents look_through(Bytes trace, const TraceSetup& setup);

}  // namespace sonde::pt
