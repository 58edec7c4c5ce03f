// Samples of a recording's other events, which get the call chain or the last branches that the
// trace tells at their time (--itrace=GL).
//
//   ExistingSamples existing(recording, input, options);
//   … existing.of_queue(i): each gets its chain while queue i is followed
//   TRY(existing.put_into(recording));
//
// A sample without a trace at its time has a chain of its own address alone.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/loss.h"
#include "itrace/call_stack.h"
#include "itrace/options.h"
#include "itrace/trace_input.h"
#include "perfdata/read/recording.h"

namespace sonde::itrace {

class BranchRing;

struct ExistingSample {
  uint64_t time_ns = 0, ip = 0;
  uint32_t tid = 0;
  std::vector<uint64_t> chain;     // with context markers, leaf first
  std::vector<uint64_t> branches;  // from, to, flags of each
};

/// Appends a sample's chain: its address, then the callers, as many as there are room for besides
/// one marker.
void append_chain(uint64_t ip, std::span<const CallStack::Call> calls, uint32_t most_frames,
                  std::vector<uint64_t>& chain);

class ExistingSamples {
 public:
  /// Finds them; none unless the options ask for it.
  ExistingSamples(const Recording& recording, const TraceInput& input,
                  const ItraceOptions& options);

  /// Those that were taken where the queue traces, by time.
  [[nodiscard]] std::span<ExistingSample* const> of_queue(size_t queue) const {
    return by_queue_.empty() ? std::span<ExistingSample* const>() : by_queue_[queue];
  }
  /// Writes the samples anew, with what they got.
  Result<> put_into(Recording& recording, LossLedger& losses);

 private:
  [[nodiscard]] bool changes(EventId event) const {
    return event.valid() && event.index() < changed_.size() && changed_[event.index()];
  }
  Result<> rewrite(Recording& recording, RecordBlock& block, size_t& next, LossLedger& losses);

  const ItraceOptions& options_;
  std::vector<bool> changed_;                           // by EventId
  std::vector<ExistingSample> samples_;                 // in the file's order
  std::vector<std::vector<ExistingSample*>> by_queue_;  // empty if there are no samples
  size_t written_ = 0;                                  // bytes
};

/// Gives the samples of a queue their chains and branches while it is followed.
class LateSamples {
 public:
  LateSamples() = default;
  LateSamples(std::span<ExistingSample* const> samples, const ItraceOptions& options)
      : samples_(samples), options_(&options) {}

  /// Whether one was taken before `time_ns`.
  [[nodiscard]] bool is_due(uint64_t time_ns) const {
    return at_ < samples_.size() && samples_[at_]->time_ns <= time_ns;
  }
  [[nodiscard]] bool empty() const { return samples_.empty(); }
  /// The earliest one.
  [[nodiscard]] uint32_t tid() const { return samples_[at_]->tid; }
  /// Gives it what its thread did so far, and goes on to the next.
  void take(const CallStack& calls, const BranchRing& branches);

 private:
  std::span<ExistingSample* const> samples_;
  const ItraceOptions* options_ = nullptr;
  size_t at_ = 0;
};

}  // namespace sonde::itrace
