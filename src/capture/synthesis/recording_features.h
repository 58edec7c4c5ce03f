// The features of one recording: its events, the machine, the command line, and the objects its
// samples hit.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/recorders/capture_setup.h"
#include "capture/recorders/record_scan.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/features.h"

namespace sonde {

/// Features, with the bytes that they only refer to.
struct RecordingFeatures {
  Features features;
  std::vector<std::byte> tracing_data;
  std::vector<std::vector<std::byte>> bpf_storage;
  std::vector<uint32_t> bpf_ids;  // of the programs, in the same order
};

/// The events as the file describes them.
std::vector<EventDesc> event_descriptions(const Capture& capture);

/// Stores what is known of BPF program `id` and its types; does nothing if it is already stored or
/// the program is gone.
void add_bpf_program(uint32_t id, RecordingFeatures& all);

/// What is known when a recording starts: everything except build ids and times.
Result<RecordingFeatures> initial_features(const Capture& capture, const RecordOptions& options,
                                           std::string_view tool);

/// Raw bytes; nothing if the object has none, or cannot be read.
std::optional<std::string> build_id_of(const HitObject& hit);

/// Build ids of the objects that were hit; objects without one are left out. `known`: those of the
/// first of them that were found before.
std::vector<BuildIdEntry> build_ids_of(const std::vector<HitObject>& hits,
                                       std::span<const std::optional<std::string>> known = {});

}  // namespace sonde
