// ScanWithStacks: one pass over a recording for lines that may end in call chains. Chains need the
// whole recording, in a session; otherwise the file alone will do.
//
//   ScanWithStacks recording(input, env);
//   TRY(recording.open());
//   if (EventStacks::are_in(recording.scan().events(), switch_stacks()))
//     TRY(recording.add_stacks(switch_stacks(), symbols, max_stack));
#pragma once

#include <optional>

#include "cmd/options/recording_input.h"
#include "sched/event_stacks.h"

namespace sonde {

class ScanWithStacks {
 public:
  /// Both must outlive this.
  ScanWithStacks(const RecordingInput& input, Env& env) : input_(input), env_(env) {}
  ScanWithStacks(const ScanWithStacks&) = delete;
  ScanWithStacks& operator=(const ScanWithStacks&) = delete;

  Result<> open();
  /// Call before anything is read. `max_stack`: at most this many functions per text. Replaces the
  /// scan.
  Result<> add_stacks(const StackSubject& subject, const SymbolOptions& symbols,
                      uint32_t max_stack);

  [[nodiscard]] FileScan& scan() { return *scan_; }
  /// Null without add_stacks.
  [[nodiscard]] EventStacks* stacks() { return stacks_ ? &*stacks_ : nullptr; }
  /// Where the scan's losses are counted: the session has already reported its own, which are the
  /// same.
  [[nodiscard]] LossLedger& losses() { return session_ ? counted_already_ : env_.losses; }

 private:
  const RecordingInput& input_;
  Env& env_;
  std::optional<Session> session_;
  LossLedger counted_already_;
  std::optional<FileScan> scan_;
  std::optional<EventStacks> stacks_;
};

}  // namespace sonde
