// Saves what `top` has seen as a recording.
#pragma once

#include <string>

#include "base/env.h"
#include "capture/recorders/capture_setup.h"
#include "capture/rings/ring_copies.h"
#include "capture/unwinding/kernel_unwinding.h"
#include "perfdata/header/features.h"

namespace sonde::top {

struct Seen {
  const Capture& capture;
  const RecordOptions& options;
  const Features& features;
  const RingCopies& copies;
  const KernelUnwinding* unwinding;  // null without --call-graph bpf
};

/// Writes a recording: the current tasks and mappings, and the records that were kept. Returns a
/// sentence about it.
Result<std::string> write_recording(const std::string& path, const Seen& seen, Env& env);
/// The same to a file that may exist, and becomes PATH.old.
Result<std::string> save_recording(const std::string& path, const Seen& seen, Env& env);

}  // namespace sonde::top
