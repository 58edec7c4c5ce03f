// `inject`: copies a recording, and changes or adds what only user space knows.
#pragma once

#include <optional>
#include <string>

#include "base/env.h"
#include "itrace/options.h"
#include "objects/guest_recording.h"
#include "objects/injected_build_ids.h"

namespace sonde {

struct InjectOptions {
  std::string input = "-", output = "-";
  bool force = false;
  int verbose = 0;
  bool build_ids = false;       // -b: of objects with samples
  bool all_build_ids = false;   // --buildid-all
  KnownBuildIds known;          // --known-build-ids
  bool mappings = false;        // -B: build ids in the mappings of objects with samples, no others
  bool all_mappings = false;    // --mmap2-buildid-all: in all mappings
  bool jit = false;             // -j: images of the code in jitdumps
  bool sched_stat = false;      // -s: sched_stat events at the places of sched_switch events
  bool hide_addresses = false;  // --aslr: other addresses than on the machine
  std::optional<ItraceOptions> itrace;  // --itrace: samples of instruction traces replace them
  bool strip = false;                   // --strip: and all other samples
  bool convert_chains = false;          // --convert-callchain: copied stacks become call chains
  std::optional<GuestData> guest;       // --guest-data: a guest's records between the host's
  std::string guest_mount;              // --guestmount: DIRECTORY/PID is a guest's root

  /// Whether anything is to be different in the copy.
  [[nodiscard]] bool any() const {
    return build_ids || all_build_ids || mappings || all_mappings || jit || sched_stat ||
           hide_addresses || itrace || strip || convert_chains || guest;
  }
};

/// Errors: what cannot be copied, or lacks what an option needs.
Result<> inject(const InjectOptions& options, Env& env);

}  // namespace sonde
