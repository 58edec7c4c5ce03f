// From parsed events and options to attrs: what is sampled, when, and which event carries the
// sideband. Pure: it queries nothing from the machine, so that every rule can be tested.
//
// The rules are perf's, because readers depend on some of them:
//   - one event tracks (mmap, comm, task …): the first one, or a dummy appended to the others if
//     the sideband must flow while the events are off (-D) or if events belong to CPUs (-a, -C);
//   - if only some CPUs are recorded (-C), that dummy is opened on all;
//   - with several events a sample must tell which one it belongs to: by ID if all have the same
//     sample_type, else by IDENTIFIER, whose position does not depend on the sample_type;
//   - an instruction trace has dummies beside it: one that tracks, one for context switches, one
//   for
//     changes of the kernel's code (TraceCompanions); ids are then always IDENTIFIERs;
//   - on arm64 a frame-pointer chain lacks the caller of a function that has no frame; such chains
//     are sampled with the link register, which then holds it;
//   - members of a group follow their leader's enable bits; with :S only the leader samples.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "abi/regs.h"
#include "base/error.h"
#include "capture/opening/capture_event.h"
#include "capture/opening/target.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// How often to sample, after resolving the options.
struct SamplingRate {
  uint64_t freq = 4000;  // 0: by period
  uint64_t period = 0;
  bool given = false;  // by -F or -c: overrides the events' defaults
};

/// Checks -F and -c against the kernel's limit (kernel.perf_event_max_sample_rate; 0: unknown).
/// Lines for the user go to `messages`. Error: --strict-freq and too high, both given, both zero.
Result<SamplingRate> settle_rate(const SamplingOptions& options, uint64_t kernel_max_freq,
                                 uint64_t default_freq, std::vector<std::string>& messages);

/// What is recorded beside an instruction trace, so that it can be decoded.
struct TraceCompanions {
  /// Who tells which thread runs on a CPU; the numbers are AUXTRACE_INFO's.
  enum class Switches : uint8_t {
    kNone = 0,
    kOfThreads = 2,   // the tracking event, of the recorded threads
    kOfCpus = 3,      // a dummy of its own, of whole CPUs
    kOfTracking = 4,  // the tracking event, which is one of whole CPUs (told as kOfCpus)
  };
  bool per_cpu = true;  // AUX areas belong to CPUs, not to threads
  Switches switches = Switches::kNone;
  bool text_pokes = false;  // changes of the kernel's code
  std::vector<int> online_cpus = {};
};

/// The kernel's limits that shape attrs.
struct ConfigContext {
  const Target& target;
  bool delayed = false;  // -D in any form
  SamplingRate rate;
  abi::Arch arch = abi::Arch::kX86_64;
  /// Every CPU, if only some of them are recorded (-C): tasks bring along what they mapped on
  /// others.
  std::vector<int> all_cpus = {};
  /// If the first event is an instruction trace.
  std::optional<TraceCompanions> trace = {};
};

std::vector<CaptureEvent> configure_events(const EventList& events, const SamplingOptions& options,
                                           const ConfigContext& context);

}  // namespace sonde
