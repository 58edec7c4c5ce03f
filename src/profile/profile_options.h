// The options of a profile, and the sums that its passes share.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "abi/data_source.h"
#include "profile/path_frames.h"

namespace sonde {

/// The latency of a sample: its period, in thousandths, divided among the threads that were
/// running.
[[nodiscard]] inline uint64_t latency_of(uint64_t period, uint32_t parallelism) {
  return period * 1000 / parallelism;
}

struct ProfileOptions {
  bool children = false;      // callers get rows, too
  bool call_graph = false;    // keep call paths
  bool caller_order = false;  // call paths start at the root; otherwise at the sampled place
  CallKey call_key = CallKey::kFunction;
  uint32_t max_stack = UINT32_MAX;  // maximum steps of a path, counted from where it starts
  /// Without `children`: the minimum share of the period for a node of a call tree. Lighter nodes
  /// need not be distinguished, which saves most of the work; 0 keeps all.
  double min_path_share = 0;
  bool by_mode = false;    // split periods by kernel, user and guest
  bool by_source = false;  // split them by what the data sources of memory accesses say
  bool by_weight = false;  // samples count by weight or latency instead of period
  /// By sample; with `by_weight`, samples count by latency.
  const std::vector<uint32_t>* parallelism = nullptr;
  bool by_branch = false;  // a row entry per branch of a sample instead of per sample
  /// Chains contain branches (Session::branch_history), and call trees tell what they sum to.
  bool branch_counts = false;
  bool keep_samples = false;  // Profile::members, for samples of a row
  /// Samples to hide (by SampleColumns index); empty: none. They still count in totals.
  std::vector<uint8_t> hidden = {};
  /// Whether to hide the row of a group and a place key (KeySet); empty: none. Rows of callers,
  /// which no sample hides, can be chosen only so.
  std::function<bool(uint32_t group, uint32_t place_key)> hides_row = {};
  /// Frames whose callees are ignored (--ignore-callees), by FrameId; empty: none.
  std::vector<uint8_t> is_root_frame = {};

  [[nodiscard]] bool keeps_members() const { return branch_counts || keep_samples; }
  [[nodiscard]] bool hides(uint32_t sample) const { return !hidden.empty() && hidden[sample] != 0; }
};

/// Weights by the mode in which the sample was taken.
struct ModePeriods {
  uint64_t system = 0, user = 0, guest_system = 0, guest_user = 0;
  ModePeriods& operator+=(const ModePeriods& more) {
    system += more.system;
    user += more.user;
    guest_system += more.guest_system;
    guest_user += more.guest_user;
    return *this;
  }
};

/// Weights of memory accesses by the values of each aspect of their data sources.
struct SourcePeriods {
  using Values = std::array<uint64_t, abi::kMostAspectValues>;
  std::array<Values, abi::kMemoryAspects> by{};  // abi::MemoryAspect
  void add(uint64_t data_src, uint64_t period) {
    for (size_t i = 0; i < by.size(); ++i)
      by[i][abi::memory_aspect_value(static_cast<abi::MemoryAspect>(i), data_src)] += period;
  }
  SourcePeriods& operator+=(const SourcePeriods& more) {
    for (size_t i = 0; i < by.size(); ++i)
      for (size_t j = 0; j < by[i].size(); ++j) by[i][j] += more.by[i][j];
    return *this;
  }
};

struct ProfileTotals {
  uint64_t samples = 0;
  uint64_t shown_samples = 0;  // not hidden
  uint64_t period = 0;
  uint64_t shown_period = 0;         // of the rows that are not hidden
  uint64_t shown_sample_period = 0;  // of the samples that are not hidden
  double period_squares = 0;         // sum of the squares of the samples' periods (or branches)
};

/// The minimum period of a node of a call tree, given `period` in total.
[[nodiscard]] inline uint64_t least_path_weight(const ProfileOptions& options, uint64_t period) {
  if (options.children) return 0;
  return static_cast<uint64_t>(static_cast<double>(period) * options.min_path_share);
}

/// Whether sample `a` came before `b` (SampleColumns indices).
[[nodiscard]] inline bool is_earlier(const SampleColumns& samples, uint32_t a, uint32_t b) {
  uint64_t time_a = samples.time[a];
  uint64_t time_b = samples.time[b];
  return time_a != time_b ? time_a < time_b : a < b;
}

}  // namespace sonde
