// LockRecording: a recording with lock events, and what is needed to name the waiters: the kernel
// as the head of the file describes it, since names are needed during the scan over the file, and
// the threads as known afterwards.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lock/lock_callers.h"
#include "lock/lock_functions.h"
#include "lock/lock_pipeline.h"
#include "replay/passes/scan_machine.h"

namespace sonde {

class LockRecording {
 public:
  /// `env` must outlive this. Fails with kFailed if the recording has no lock events.
  static Result<std::unique_ptr<LockRecording>> open(const std::string& path,
                                                     const OpenOptions& options,
                                                     const SymbolOptions& symbols, size_t max_stack,
                                                     const Env& env);

  /// Walks over the file, once.
  void run(const LockPipeline::Take& take);

  [[nodiscard]] const LockPipeline& pipeline() const { return *pipeline_; }
  [[nodiscard]] const LockFunctions& functions() const { return functions_; }
  [[nodiscard]] const ScanMachine& kernel() const { return *kernel_; }
  /// After run.
  [[nodiscard]] std::string thread_name(uint32_t tid) const {
    return std::string(threads_->comm(tid));
  }

 private:
  LockRecording(const SymbolOptions& symbols, const Env& env) : symbols_(symbols), env_(env) {}
  Result<FileScan> scan(const std::string& path, const OpenOptions& options, LossLedger& losses);
  void read_head(FileScan head);

  SymbolOptions symbols_;
  const Env& env_;
  std::optional<Recording> pipe_;
  std::optional<FileScan> head_, scan_;
  std::unique_ptr<ScanMachine> kernel_, threads_;
  LockFunctions functions_;
  std::unique_ptr<LockPipeline> pipeline_;
};

}  // namespace sonde
