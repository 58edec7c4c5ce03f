// --threads: several threads drain the rings, each to its own file (data.N of a directory).
//
//   cpu · core · package · numa     one thread per such unit among the recorded CPUs
//   0,2-4/2-4:1,5-7/5-7             which CPUs' rings a thread reads, and where it may run
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "capture/recorders/capture_setup.h"
#include "capture/rings/ring_drain.h"
#include "perfdata/write/writer.h"

namespace sonde {

class StreamThreads {
 public:
  struct Layout {
    std::vector<int> cpus;      // whose rings it reads
    std::vector<int> affinity;  // where it runs
    bool operator==(const Layout&) const = default;
  };
  /// Error: kUsage for a spec that isn't one, or whose masks overlap or name none of the CPUs.
  static Result<std::vector<Layout>> plan(std::string_view spec, const Capture& capture);

  StreamThreads(std::vector<Layout> layouts, RingSet& rings, PerfDataWriter& writer,
                RingDrain& drain);
  ~StreamThreads();

  void start();
  /// Drains what is left and joins the threads; returns the first error of any of them.
  Result<> stop();
  /// Becomes readable when a thread has failed, and so ended.
  [[nodiscard]] int failure_fd() const { return failure_event_.get(); }

 private:
  Result<> run(size_t index);
  Result<size_t> drain_rings(size_t index, StreamWriter& stream, bool all);
  void fail_with(Error error);

  std::vector<Layout> layouts_;
  RingSet& rings_;
  PerfDataWriter& writer_;
  RingDrain& drain_;
  std::vector<std::thread> threads_;
  Fd stop_event_;
  Fd failure_event_;
  std::mutex mutex_;
  std::optional<Error> failure_;
};

}  // namespace sonde
