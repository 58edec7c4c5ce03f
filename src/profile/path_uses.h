// The first pass of a profile: samples to *uses*, each of which stands for the samples of one row
// with the same call path. Nothing after this pass is done per sample.
#pragma once

#include "profile/addressed_paths.h"
#include "profile/path_order.h"

namespace sonde {

/// The samples of a use.
struct UseSamples {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint64_t first_time = 0;  // time of the earliest
  uint32_t first = kNone;   // the earliest
  uint32_t count = 0;
};

/// One sample of a use, or of what is made of it.
struct UseSample {
  uint32_t use;
  uint32_t sample;
};

/// All uses, by number. Some may have no samples; they have no effect.
struct PathUses {
  LargeVector<PathUse> uses;
  LargeVector<UseSamples> samples;
  std::vector<ModePeriods> modes;      // if requested
  std::vector<SourcePeriods> sources;  // the same
  ProfileTotals totals;
  LargeVector<UseSample> members;  // if the options keep them
};

class UseCollector {
 public:
  /// All arguments must outlive the uses, whose steps point into the chain table or into this
  /// collector.
  UseCollector(const ProfileInput& input, KeySet& keys, PathFrames& frames,
               const ProfileOptions& options);
  /// `samples`: indices into the columns, in any order.
  PathUses collect(std::span<const uint32_t> samples);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kAhead = 8;  // samples: about the latency of memory
  void add_samples(std::span<const uint32_t> samples);
  void prefetch_tables(uint32_t sample) const;
  void prefetch_use(uint32_t sample) const;
  void add_sample(uint32_t sample);
  void add_branches(uint32_t sample);
  void add_by_row(std::span<const uint32_t> samples);
  void take_heavy_rows_apart(std::span<const uint32_t> samples,
                             std::span<const uint32_t> row_of_sample);
  void clear(uint32_t use);

  uint32_t use_without_path(uint32_t group, uint32_t own, FrameId leaf);
  uint32_t use_of_row(uint32_t group, uint32_t own);
  uint32_t use_of_path(uint32_t group, uint32_t own, ChainId chain);
  uint32_t add_use(uint32_t group, uint32_t own, std::span<const FrameId> steps);
  uint32_t add_use_like(const PathUse& known, uint32_t group, uint32_t own);

  void add_to(uint32_t use, uint32_t sample, uint64_t period);
  void add_mode(uint32_t use, uint8_t mode, uint64_t period);
  void add_to_totals(uint32_t sample, uint64_t period);

  [[nodiscard]] ChainId chain_of(uint32_t sample) const {
    return want_paths_ ? input_.samples.chain_of(sample) : ChainId();
  }
  [[nodiscard]] FrameId own_frame(uint32_t sample) const {
    return kept_.own_frame(chain_of(sample), input_.samples.leaf[sample]);
  }
  [[nodiscard]] uint64_t weight_of(uint32_t sample) const {
    if (!options_.by_weight) return input_.samples.period[sample];
    if (options_.parallelism != nullptr)
      return latency_of(input_.samples.period[sample], (*options_.parallelism)[sample]);
    return std::max<uint64_t>(input_.samples.weight[sample], 1);
  }

  const ProfileInput& input_;
  KeySet& keys_;
  PathFrames& frames_;
  const ProfileOptions& options_;
  RowReader reader_;
  RetainedPaths kept_;
  AddressedPaths addressed_;
  bool want_paths_;
  PathUses result_;
  std::vector<uint32_t> use_of_chain_;  // by ChainId: the last use
  std::vector<uint32_t> use_of_leaf_;   // by FrameId, for samples without a path
  Interner plain_ids_{2};
  std::vector<uint32_t> plain_uses_;
};

}  // namespace sonde
