// What `top` has seen, as a recording.
#pragma once

#include <string>

#include "base/env.h"
#include "capture/capture_setup.h"
#include "capture/recording_features.h"
#include "capture/ring_copies.h"

namespace sonde::top {

/// Writes a recording: the tasks and mappings of now, and the records that `copies` kept. Gives a
/// sentence about it.
Result<std::string> write_recording(const std::string& path, const Capture& capture,
                                    const RecordOptions& options, const RecordingFeatures& features,
                                    const RingCopies& copies, Env& env);
/// Writes perf.data (what was there becomes perf.data.old): the tasks and mappings of now, and the
/// records that `copies` kept. Gives a sentence about it.
Result<std::string> save_recording(const std::string& path, const Capture& capture,
                                   const RecordOptions& options, const RecordingFeatures& features,
                                   const RingCopies& copies, Env& env);

}  // namespace sonde::top
