// BpfSampleFilter: a BPF program that decides which samples of a perf event are kept, and counts
// those that are not. It is attached by PERF_EVENT_IOC_SET_BPF, and gone when the events are
// closed. Who may not load it uses the one that root pinned, if there is one
// (bpf/filters/shared_filter.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"
#include "bpf/filters/sample_filter_terms.h"

namespace sonde {

class BpfSampleFilter {
 public:
  /// Errors: kUnsupported if the kernel is too old for the terms; what the kernel refused.
  static Result<BpfSampleFilter> load(const SampleFilterTerms& terms);
  BpfSampleFilter(BpfSampleFilter&&) noexcept;
  BpfSampleFilter& operator=(BpfSampleFilter&&) noexcept;
  ~BpfSampleFilter();

  /// Of the program; owned by this object.
  [[nodiscard]] int fd() const;
  /// The program is about to be attached to the event, whose id this is. Errors: those of
  /// SharedSampleFilter::add_event.
  Result<> add_event(uint64_t id);
  /// Samples that were not kept; nothing if that cannot be told: somebody removed our entry from
  /// the shared tables, after which no sample was kept.
  [[nodiscard]] std::optional<uint64_t> dropped() const;

 private:
  struct State;
  explicit BpfSampleFilter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
