// The second pass: decodes every sample and interns its thread, space, frames and chain, in
// parallel slices of the file.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "replay/frames/chain_builder.h"
#include "replay/frames/chain_options.h"
#include "replay/passes/deferred_samples.h"
#include "replay/passes/sideband_pass.h"
#include "replay/passes/time_batches.h"

namespace sonde {

/// How much of its samples is kept (SampleColumns).
enum class SampleDetail : uint8_t {
  kSamples,  // every column
  kSums,     // without those that sums of stacks don't need
  kPlaces,   // counted by place; without chains
};

struct SamplePassOptions {
  SampleFilter filter;
  SampleDetail detail = SampleDetail::kSamples;
  std::optional<ChainOptions> chains = ChainOptions();  // not set: none
  abi::Arch arch = abi::Arch::kUnknown;                 // of the recording
  const ObjectCfi* cfi = nullptr;                       // null: copied stacks are not unwound
  const CallSites* call_sites = nullptr;  // null: chains by frame pointers are believed
  DsoId broken_chain = DsoId();           // as ChainSources has it
  bool merge_unmapped = false;            // see SumsByStack
  bool late_names = false;                // see SessionOptions
  bool more_follows = false;              // this is one round of a pipe, others follow
  DeferredSamples* deferred = nullptr;    // by place and without a filter: those already taken
};

struct SamplePassResult {
  SampleColumns samples;
  FrameTable frames;  // symbols not yet resolved
  ChainTable chains;
  UnwindCounts unwound;
  CheckedChains checked;
  uint64_t missing_parts = 0;  // deferred user parts that never came
  uint64_t outside = 0;        // of tasks outside of the recorder's PID namespace
  uint64_t filtered = 0;
  uint64_t first_time_ns = UINT64_MAX, last_time_ns = 0;
};

/// `known` has the frames of the preceding samples, which keep their ids. `threads` is how many
/// may run at once; but for the ids of chains the result does not depend on it.
SamplePassResult read_samples(const Recording& recording, const Machine& machine,
                              const SidebandResult& sideband, const SamplePassOptions& options,
                              size_t threads, LossLedger& losses, FrameTable known = {});

/// The same for some samples at a time, in any order. Tables and buffers serve all of them.
class SampleBatches {
 public:
  /// Everything must outlive this object, which fills `result`. Options that are about sums don't
  /// apply.
  SampleBatches(const Recording& recording, const Machine& machine, const SidebandResult& sideband,
                const SamplePassOptions& options, size_t slices, LossLedger& losses,
                SamplePassResult& result);
  ~SampleBatches();

  /// Whether chains do not depend on other samples, so that samples may come in batches.
  [[nodiscard]] static bool suit(const EventTable& events);

  /// Replaces the rows and chains of the result by those of these samples, in this order. Its
  /// frames grow, its counts add up.
  void read(std::span<const TimedSample> samples);
  /// Empties the frame table; the next batch's ids start from 0.
  void forget_frames();
  /// Counts what is only known at the end as losses.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde
