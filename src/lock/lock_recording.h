// LockRecording: a recording with lock events, and what is needed to name the waiters: the kernel
// as the head of the file describes it, since names are needed during the walk over the file, and
// the threads as known afterwards.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lock/lock_callers.h"
#include "lock/lock_feed.h"
#include "lock/lock_functions.h"
#include "replay/passes/walk_machine.h"

namespace sonde {

class LockRecording {
 public:
  /// `env` must outlive this. Fails with kFailed if the recording has no lock events.
  static Result<std::unique_ptr<LockRecording>> open(const std::string& path,
                                                     const OpenOptions& options,
                                                     const SymbolOptions& symbols, size_t max_stack,
                                                     const Env& env);

  /// Walks over the file, once.
  void run(const LockFeed::Take& take);

  [[nodiscard]] const LockFeed& feed() const { return *feed_; }
  [[nodiscard]] const LockFunctions& functions() const { return functions_; }
  [[nodiscard]] const WalkMachine& kernel() const { return *kernel_; }
  /// After run.
  [[nodiscard]] std::string thread_name(uint32_t tid) const {
    return std::string(threads_->comm(tid));
  }

 private:
  LockRecording(const SymbolOptions& symbols, const Env& env) : symbols_(symbols), env_(env) {}
  Result<FileWalk> walk(const std::string& path, const OpenOptions& options, LossLedger& losses);
  void read_head(FileWalk head);

  SymbolOptions symbols_;
  const Env& env_;
  std::optional<Recording> pipe_;
  std::optional<FileWalk> head_, walk_;
  std::unique_ptr<WalkMachine> kernel_, threads_;
  LockFunctions functions_;
  std::unique_ptr<LockFeed> feed_;
};

}  // namespace sonde
