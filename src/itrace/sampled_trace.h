// Traces that are part of samples (PERF_SAMPLE_AUX; record --aux-sample): each has the newest bytes
// of the AUX area of the CPU, or thread, that was sampled, up to the sample. Samples that follow
// one another closely therefore have bytes in common, which are taken once.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "itrace/trace_input.h"
#include "perfdata/records/sample.h"
#include "perfdata/records/user_records.h"

namespace sonde::itrace {

class SampledTrace {
 public:
  /// Which CPU or thread an event's samples come from.
  void take_index(const IdIndexRecord& index);
  /// In the order of the samples' file. The bytes must outlive the queues.
  void take(const Sample& sample, bool has_cpu);

  /// What continues one another has contiguous offsets.
  std::vector<TraceQueue> take_queues();

 private:
  struct Place {
    uint32_t cpu, tid;
    auto operator<=>(const Place&) const = default;
  };
  std::map<uint64_t, Place> places_;  // by the event's id
  struct Area {
    TraceQueue queue;
    Bytes latest;  // sample's trace, whole
  };
  std::map<Place, Area> areas_;
};

/// Where two samples' traces meet: the first `end` bytes of `before` are followed by those of
/// `after` from `begin` on. `begin` is 0 if they have nothing in common.
struct TraceSeam {
  size_t end, begin;
};
TraceSeam find_seam(Bytes before, Bytes after);

}  // namespace sonde::itrace
