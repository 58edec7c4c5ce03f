// StepRecording: the perf.data file of a stepped recording. Each task's trace goes into AUXTRACE
// records; what happens to tasks and their mappings, into the records that the kernel would write.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "capture/recorders/record_options.h"
#include "stepping/code_image.h"

namespace sonde {

struct StepTask {
  pid_t pid, tid;
};

class StepRecording {
 public:
  /// Creates the file, and writes what precedes all traces.
  static Result<StepRecording> begin(const RecordOptions& options, Env& env);
  StepRecording(StepRecording&&) noexcept;
  ~StepRecording();

  // Records with the current time.
  void comm(StepTask task, const std::string& name, bool by_exec);
  void fork(StepTask child, StepTask parent);
  void exit(StepTask task, StepTask parent);
  void mapping(StepTask task, const CodeMapping& mapping);
  void trace_starts(StepTask task);

  /// More of the trace of a task. `index`: of the trace; `offset`: bytes of it that were written
  /// before.
  void trace(StepTask task, uint32_t index, uint64_t offset, const std::vector<std::byte>& bytes);

  [[nodiscard]] uint64_t bytes_written() const;
  [[nodiscard]] bool failed() const;
  /// Completes the file. The error of the first failed write, if any.
  Result<> finish();
  /// "perf.data".
  [[nodiscard]] std::string shown_name() const;

 private:
  struct State;
  explicit StepRecording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
