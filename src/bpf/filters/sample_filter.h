// BpfSampleFilter: a BPF program that decides which samples of a perf event are kept, and counts
// those that are not. It is attached by PERF_EVENT_IOC_SET_BPF, and gone when the events are
// closed.
#pragma once

#include <cstdint>
#include <memory>

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
  /// Samples that were not kept.
  [[nodiscard]] uint64_t dropped() const;

 private:
  struct State;
  explicit BpfSampleFilter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
