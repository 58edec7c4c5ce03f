// A replayed recording as a StackProfile. Every distinct frame is spelled once, samples are added
// up by distinct chain before anything is looked at step by step, and the chains become a tree by
// sorting (profile/path_order.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "replay/session.h"
#include "stacks/frame_spelling.h"
#include "stacks/stack_profile.h"

namespace sonde {

enum class StackValue : uint8_t {
  kPeriod,   // what the samples stand for: nanoseconds, cycles, bytes …
  kSamples,  // one each
};

struct SessionStacksOptions {
  SpellingOptions spelling = {};
  StackValue value = StackValue::kPeriod;
  bool task_root = true;      // the name of the process is the outermost frame
  bool wait_reasons = false;  // behind it, in brackets, what samples of waits waited for
  bool want_samples = false;  // StackProfile::samples and threads, too
  bool want_objects =
      false;  // frames of other objects are other frames; else the name alone counts
  bool want_sources = false;    // StackFrame::file and line of functions
  bool want_addresses = false;  // each place is a frame of its own, with StackFrame::address
  /// Which events get a column, by name; empty: each that has samples.
  std::vector<std::string> events = {};
  /// Stacks are told apart only as far as their beginning has this part of what there is (from 0 to
  /// 1; of several columns, where it has that part of any). What lies beyond counts as ending at
  /// the first frame that has less. For pictures, which would not draw it.
  double least_share = 0;
  /// Whether a sample goes in; empty: each.
  std::function<bool(size_t sample)> filter = {};
};

/// An event that the recording does not have is an error that names those it has.
Result<StackProfile> stacks_of(const Session& session, const SessionStacksOptions& options);

}  // namespace sonde
