// How `-g` finds call chains when no way is named: the best one that works here and now.
//
// Whole stacks come from the kernel's walker (--call-graph bpf), or from copies of stacks that are
// unwound while recording (--call-graph dwarf). Frame pointers (fp) work everywhere, and lead to
// the callers of code that keeps them, which most distributions' code does not.
//
//   CallGraphChoice choice = choose_call_graph(options, can_unwind, open_walker);
//   options.sampling.call_graph = choice.mode;      say(choice.why)
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// Why the kernel's walker cannot serve such a recording, whatever the kernel: it writes to rings
/// of CPUs that are read forward, and only sampling events run it. Empty: it can.
[[nodiscard]] std::string why_not_walked(const RecordOptions& options);

/// Why copies of stacks cannot become call chains before they are written. Empty: they can.
[[nodiscard]] std::string_view why_not_unwound(const RecordOptions& options);

struct CallGraphChoice {
  CallGraphMode mode = CallGraphMode::kFramePointer;
  std::string why;  // for the user: what is recorded, and why nothing better is
};

/// `why_no_copies`: why stack copies are of no use to the caller; empty if they are of use.
/// `open_walker` loads the walker, or says why the kernel does not take it; it is called at most
/// once, and only if the walker would be used.
[[nodiscard]] CallGraphChoice choose_call_graph(const RecordOptions& options,
                                                std::string_view why_no_copies,
                                                const std::function<Result<>()>& open_walker);

}  // namespace sonde
