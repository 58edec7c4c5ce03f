// Saves what `top` has seen as a recording.
#pragma once

#include <string>

#include "base/env.h"
#include "capture/recorders/capture_setup.h"
#include "capture/rings/ring_copies.h"
#include "capture/synthesis/recording_features.h"

namespace sonde::top {

/// Writes a recording: the current tasks and mappings, and the records that `copies` kept. Returns
/// a sentence about it.
Result<std::string> write_recording(const std::string& path, const Capture& capture,
                                    const RecordOptions& options, const RecordingFeatures& features,
                                    const RingCopies& copies, Env& env);
/// Writes perf.data (an existing one becomes perf.data.old): the current tasks and mappings, and
/// the records that `copies` kept. Returns a sentence about it.
Result<std::string> save_recording(const std::string& path, const Capture& capture,
                                   const RecordOptions& options, const RecordingFeatures& features,
                                   const RingCopies& copies, Env& env);

}  // namespace sonde::top
