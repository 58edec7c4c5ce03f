// ScanOrSession: a recording at whose events a command looks before it decides whether one pass
// over the file will do, or all samples must be resolved, as for call chains. What comes through a
// pipe is resolved at once: it cannot be read a second time.
//
//   ScanOrSession recording(input, stack_session(symbols, max_stack), env);
//   TRY(recording.open());
//   if (EventStacks::are_in(recording.scan().events(), switch_stacks()))
//     TRY(recording.add_stacks(switch_stacks()));
#pragma once

#include <optional>

#include "cmd/options/recording_input.h"
#include "sched/event_stacks.h"

namespace sonde {

/// A session whose call chains become lines: at most `max_stack` functions of each.
SessionOptions stack_session(const SymbolOptions& symbols, uint32_t max_stack);

class ScanOrSession {
 public:
  /// `input` and `env` must outlive this.
  ScanOrSession(const RecordingInput& input, SessionOptions how, Env& env)
      : input_(input), how_(std::move(how)), env_(env) {}
  ScanOrSession(const ScanOrSession&) = delete;
  ScanOrSession& operator=(const ScanOrSession&) = delete;

  Result<> open();
  /// Resolves all samples, if that was not done. Call before anything is read: it replaces the
  /// scan.
  Result<const Session*> session();
  /// The same, and finds the chains of these events.
  Result<> add_stacks(const StackSubject& subject);

  [[nodiscard]] FileScan& scan() { return *scan_; }
  /// Null without add_stacks.
  [[nodiscard]] EventStacks* stacks() { return stacks_ ? &*stacks_ : nullptr; }
  /// Where the scan's losses are counted: a session has already reported its own, which are the
  /// same.
  [[nodiscard]] LossLedger& losses() { return session_ ? counted_already_ : env_.losses; }

 private:
  const RecordingInput& input_;
  SessionOptions how_;
  Env& env_;
  std::optional<Session> session_;
  LossLedger counted_already_;
  std::optional<FileScan> scan_;
  std::optional<EventStacks> stacks_;
};

}  // namespace sonde
