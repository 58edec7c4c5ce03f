// The distribution of delays: how many were shorter than 1 us, 2 us, 4 us …, and its rendering as
// text.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/sink.h"

namespace sonde {

struct DelayHistogram {
  static constexpr size_t kBuckets = 24;  // the last one is open-ended
  std::array<uint64_t, kBuckets> counts{};

  void add(uint64_t delay_ns) {
    constexpr uint64_t kNsPerUs = 1000;
    auto bucket = static_cast<size_t>(std::bit_width(delay_ns / kNsPerUs));
    ++counts[std::min(bucket, kBuckets - 1)];
  }
  void add(const DelayHistogram& other) {
    for (size_t i = 0; i < kBuckets; ++i) counts[i] += other.counts[i];
  }
};

/// One line per bucket, from the first to the last non-empty one.
void write_histogram(Sink& out, const DelayHistogram& histogram);

}  // namespace sonde
