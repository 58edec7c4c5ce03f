// A replayed recording as a StackProfile. Each distinct frame is spelled once, samples are summed
// per distinct chain before any frame is looked at, and the chains become a tree by sorting
// (profile/path_order.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "replay/session.h"
#include "stacks/frame_spelling.h"
#include "stacks/stack_profile.h"

namespace sonde {

enum class StackValue : uint8_t {
  kPeriod,   // what the sample stands for: nanoseconds, cycles, bytes …
  kSamples,  // 1 per sample
};

struct SessionStacksOptions {
  SpellingOptions spelling = {};
  StackValue value = StackValue::kPeriod;
  bool task_root = true;      // the name of the process is the outermost frame
  bool wait_reasons = false;  // adds the wait reason of off-CPU samples to it, in brackets
  bool want_samples = false;  // also fills StackProfile::samples and threads
  bool want_objects =
      false;  // frames of different objects are distinct; otherwise only the name counts
  bool want_sources = false;    // StackFrame::file and line of functions
  bool want_addresses = false;  // each address is a separate frame, with StackFrame::address
  /// Names of the events that get a column; empty: every event that has samples.
  std::vector<std::string> events = {};
  /// Stacks are distinguished only as far as their outer part has this share of the total (from 0
  /// to 1; with several columns, in any of them). Anything beyond is attributed to the first frame
  /// below the limit. For pictures, which would not draw it.
  double least_share = 0;
  /// Whether to include a sample; empty: all.
  std::function<bool(size_t sample)> filter = {};
};

/// A requested event that the recording lacks is an error that lists the existing ones.
Result<StackProfile> stacks_of(const Session& session, const SessionStacksOptions& options);

}  // namespace sonde
