// The text of `perf script` (and of `script` here) with call chains, as a StackProfile: what people
// keep, mail and pipe. Text comes in pieces of any size; what is held of it is the distinct lines
// of call chains and the distinct stacks, so its length does not matter.
//
//   cc1  4152 [003] 75695.008945:      17736 cycles:u:
//              4f4f parse+0x3df (/usr/lib/cc1)             cc1;main;parse 17736
//              d780 main+0x20 (/usr/lib/cc1)
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/loss.h"
#include "replay/sample_columns.h"
#include "stacks/session_stacks.h"
#include "stacks/stack_profile.h"

namespace sonde {

class ScriptTextReader {
 public:
  /// `name`: of the text, for messages. Of the options, spelling, value, task_root, want_samples,
  /// want_objects and events count; where a sample says no period it counts one. Of the filter,
  /// what the text says of a sample.
  ScriptTextReader(std::string name, const SessionStacksOptions& options, SampleFilter filter,
                   LossLedger& losses);
  ScriptTextReader(ScriptTextReader&&) noexcept;
  ~ScriptTextReader();

  void feed(std::string_view piece);
  /// A column per event, in the order of their first samples; "samples" where the text names none.
  /// Errors: a text without samples, an event that it does not have.
  Result<StackProfile> finish() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether a text that begins so is of this kind.
[[nodiscard]] bool looks_like_script_text(std::string_view first_bytes);

}  // namespace sonde
