// FutexPipeline: the waits in futex(2) and its relatives in a recording. Two kinds of recordings
// have them: one sample per system call and one per return (syscalls:sys_enter_futex and
// sys_exit_futex, by `lock record --futex` or perf), and samples that stand for many waits
// (futex-wait, by `record
// --futex`).
#pragma once

#include <functional>
#include <vector>

#include "perfdata/records/futex_sample.h"
#include "replay/fields/field_offsets.h"
#include "replay/session.h"

namespace sonde {

struct FutexWait {
  uint32_t pid = 0, tid = 0;
  uint64_t time_ns = 0;    // when it began; of sums: when the recording ended
  uint64_t word = 0;       // address of the futex in its process; 0: one of several
  uint32_t operation = 0;  // FUTEX_WAIT …
  uint32_t owner = 0;      // the possible owner of the lock; 0: unknown
  FutexOutcome outcome = FutexOutcome::kWoken;
  uint64_t count = 0, total_ns = 0, longest_ns = 0, shortest_ns = 0;
  size_t sample = 0;  // index in the session; its call chain shows where
};

class FutexPipeline {
 public:
  /// `session` must outlive this.
  explicit FutexPipeline(const Session& session);

  [[nodiscard]] bool has_waits() const;

  using Take = std::function<void(const FutexWait&)>;
  /// In order of their end times. Calls that did not sleep (the futex had changed) are left out, as
  /// far as the events show: a thread woken before it slept counts as having waited for a moment.
  void run(const Take& consume);
  /// After run: calls whose return is not in the recording.
  [[nodiscard]] uint64_t unfinished() const { return unfinished_; }

 private:
  enum class Kind : uint8_t { kOther, kFutex, kWait, kWaitv, kExit, kSums };
  struct Places {
    Kind kind = Kind::kOther;
    IntField word, operation, result;
  };

  void enter(size_t sample, const Places& places, const Sample& content);
  void leave(size_t sample, const Places& places, const Sample& content, const Take& consume);

  const Session& session_;
  std::vector<Places> places_;
  tsl::robin_map<uint32_t, FutexWait> going_;  // by thread
  uint64_t unfinished_ = 0;
};

}  // namespace sonde
