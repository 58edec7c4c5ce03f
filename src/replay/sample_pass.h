// The second pass: every sample decoded, its thread, space, frames and chain interned, in parallel
// slices of the file.
#pragma once

#include "replay/chain_builder.h"
#include "replay/sideband_pass.h"
#include "replay/tapped_samples.h"

namespace sonde {

struct SamplePassOptions {
  SampleFilter filter;
  bool want_chains = true;
  bool only_sums = false;  // columns that sums of stacks don't need stay empty
  bool by_place = false;   // samples are counted by place (SampleColumns); needs only_sums, and no
                           // chains
  uint32_t max_stack = UINT32_MAX;
  abi::Arch arch = abi::Arch::kUnknown;  // of the recording
  const ObjectCfi* cfi = nullptr;        // null: copied stacks are not unwound
  bool more_follows = false;             // a round of a pipe: there will be others
  bool merge_deferred = true;            // user parts that come in records of their own
  bool stitch_calls = false;             // of `--call-graph lbr`, with those of the samples before
  TappedSamples* tapped = nullptr;       // by place and without a filter: those were taken before
};

struct SamplePassResult {
  SampleColumns samples;
  FrameTable frames;  // symbols not yet resolved
  ChainTable chains;
  UnwindCounts unwound;
  uint64_t missing_parts = 0;  // deferred user parts of chains that never came
  uint64_t filtered = 0;
  uint64_t first_time_ns = UINT64_MAX, last_time_ns = 0;
};

/// `known` are the frames of the samples before these, which keep their ids. `slices` is how many
/// parts may run at once; the result does not depend on it.
SamplePassResult read_samples(const Recording& recording, const Machine& machine,
                              const SidebandResult& sideband, const SamplePassOptions& options,
                              size_t slices, LossLedger& losses, FrameTable known = {});

}  // namespace sonde
