// What a recording says before its first event (or, with --tail-synthesize, behind the last): which
// id belongs to which ring, the kernel's mappings, the threads and CPUs that were asked for, BPF
// programs, cgroups, and the tasks that already run.
#pragma once

#include "base/bytes.h"
#include "base/loss.h"
#include "capture/capture_setup.h"

namespace sonde {

/// Events' ids and what else readers need before any other record.
void write_event_records(const Capture& capture, ByteBuilder& out);

/// The state of the machine.
void synthesise_state(const Capture& capture, const RecordOptions& options, LossLedger& losses,
                      ByteBuilder& out);

}  // namespace sonde
