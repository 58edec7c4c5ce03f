// The text of `perf script` (and of our own `script`) with call chains, as a StackProfile: what
// people keep, mail and pipe. Text may arrive in chunks of any size; only the distinct call chain
// lines and the distinct stacks are kept, so its length does not matter.
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
  /// `name`: of the text, for messages. The options spelling, value, task_root, want_samples,
  /// want_objects and events are honoured; a sample without a period counts as one. The filter
  /// applies as far as the text describes its samples.
  ScriptTextReader(std::string name, const SessionStacksOptions& options, SampleFilter filter,
                   LossLedger& losses);
  ScriptTextReader(ScriptTextReader&&) noexcept;
  ~ScriptTextReader();

  void feed(std::string_view piece);
  /// A column per event, in order of first sample; "samples" if the text names no event. Errors: no
  /// samples in the text, a requested event that it does not have.
  Result<StackProfile> finish() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether a text that begins like this is of this kind.
[[nodiscard]] bool looks_like_script_text(std::string_view first_bytes);

}  // namespace sonde
