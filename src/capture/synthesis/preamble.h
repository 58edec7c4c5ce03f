// What a recording contains before its first event (or, with --tail-synthesize, after the last
// one): which id belongs to which ring, the kernel's mappings, the requested threads and CPUs, BPF
// programs, cgroups, and the tasks that are already running.
#pragma once

#include "base/bytes.h"
#include "base/loss.h"
#include "capture/recorders/capture_setup.h"

namespace sonde {

/// The events' ids and whatever else readers need before any other record.
void write_event_records(const Capture& capture, ByteBuilder& out);

/// The state of the machine.
void synthesise_state(const Capture& capture, const RecordOptions& options, LossLedger& losses,
                      ByteBuilder& out);

}  // namespace sonde
