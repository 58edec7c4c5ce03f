// The running kernel's rings as a TraceSource: tracepoints, probes, software events and the
// sideband of tasks.
//
//   rings:  1 4 6 | 9      one per CPU, each in order; merged by time, up to the last read
//           2 3 5 | 7      (anything older is in memory: the kernel writes a record at once)
//
// Rings are copied and released before anything is decoded, so that the kernel always has room. All
// events use CLOCK_MONOTONIC.
#pragma once

#include <functional>
#include <memory>

#include "base/env.h"
#include "capture/recorders/capture_setup.h"
#include "trace/sources/trace_source.h"

namespace sonde {

class PerfSource final : public TraceSource {
 public:
  /// The capture is set up, its events use CLOCK_MONOTONIC, and it outlives the source. `is_call`:
  /// whether an event of the capture, by index, was opened to see calls.
  static Result<std::unique_ptr<PerfSource>> make(Capture& capture,
                                                  const std::function<bool(size_t)>& is_call,
                                                  Env& env);
  ~PerfSource() override;

  [[nodiscard]] const std::vector<TracedEvent>& events() const override;
  [[nodiscard]] std::vector<int> wait_fds() const override;
  Result<> start() override;
  void stop() override;
  Result<> refill(bool all) override;
  [[nodiscard]] const TraceItem* front() override;
  void pop() override;
  [[nodiscard]] uint64_t safe_until_ns() const override;
  [[nodiscard]] bool at_end() const override;
  /// The fill level of the fullest ring at the last refill, and the ring size: for DrainPace.
  [[nodiscard]] size_t fullest_bytes() const;
  [[nodiscard]] size_t ring_bytes() const;

 private:
  struct State;
  explicit PerfSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
