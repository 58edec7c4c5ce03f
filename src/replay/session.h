// A recording, replayed: every sample with its thread, event and call chain resolved, as columns.
//
// The steps, each finished before the next begins:
//   1. sideband:  the few state-changing records, in time order, into the Machine             (one
//   pass over headers)
//   2. samples:   in parallel slices: decode, find the mapping of every address, intern frames and
//   chains
//   3. symbols:   the tables of the DSOs that were hit, in parallel; then every distinct frame once
// Slices are merged in file order, so ids are those of a sequential pass whatever the number of
// threads (law 5).
//
//   Session session = TRY(Session::open(path, options, env));
//   for (size_t i = 0; i < session.samples().size(); ++i) … session.chains()[samples.chain[i]] …
//
// Samples are in file order. `time_order()` gives their indices by time where a consumer needs
// that.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "machine/machine.h"
#include "perfdata/recording.h"
#include "symbol/symbolizer.h"

namespace sonde {

using FrameId = Id<struct FrameTag>;
using ChainId = Id<struct ChainTag>;

/// perf's level letter of an address.
enum class FrameLevel : char {
  kUser = '.',
  kKernel = 'k',
  kGuestKernel = 'g',
  kGuestUser = 'u',
  kHypervisor = 'H',
  kUnknown = '?',
};

/// A distinct place in code: one entry per (DSO, address inside it). Processes that map a library
/// at different addresses share its frames.
struct Frame {
  DsoId dso;        // invalid: nothing was mapped there
  SymbolId symbol;  // invalid: no symbol
  uint64_t
      address;  // inside the DSO (Mapping::to_object); the run time address where there is no DSO
  uint64_t symbol_start;  // 0 without symbol; `address - symbol_start` is the offset that is shown
  FrameLevel level;
};

/// Chains of frames, leaf first, stored end to end. Context markers are not in it. A chain's frames
/// stand for the recorded addresses one by one, except those that perf ignores too (context
/// markers).
class ChainTable {
 public:
  [[nodiscard]] std::span<const FrameId> operator[](ChainId id) const {
    return {frames_.data() + offsets_[id.index()], offsets_[id.index() + 1] - offsets_[id.index()]};
  }
  [[nodiscard]] size_t size() const { return offsets_.size() - 1; }
  /// Finds or adds a chain.
  ChainId intern(std::span<const FrameId> chain);

 private:
  friend class SampleReader;
  std::vector<FrameId> frames_;
  std::vector<uint64_t> offsets_{0};
  struct Index;
  std::vector<uint32_t> slots_;  // open addressing over hashes_
  std::vector<uint64_t> hashes_;
};

/// Where a record lies, to decode again what the columns don't keep.
struct RecordRef {
  uint32_t block;   // index into Recording::blocks()
  uint32_t offset;  // of the header inside the block
};

/// One entry per sample in every column.
struct SampleColumns {
  std::vector<uint32_t> event;  // EventId
  std::vector<uint64_t> time;   // ns; where samples carry no time, their rank in the file
  std::vector<uint32_t> pid;
  std::vector<uint32_t> tid;
  std::vector<uint32_t> cpu;  // UINT32_MAX where not recorded
  std::vector<uint64_t> period;
  std::vector<uint64_t> weight;
  std::vector<StringId> comm;
  std::vector<FrameId> leaf;      // the sampled ip itself
  std::vector<ChainId> chain;     // invalid without a call chain
  std::vector<uint8_t> cpu_mode;  // of the record
  std::vector<RecordRef> record;

  [[nodiscard]] size_t size() const { return event.size(); }
};

/// What to leave out before anything is resolved. Empty lists mean no restriction.
struct SampleFilter {
  std::vector<uint32_t> pids, tids, cpus;
  struct TimeRange {
    uint64_t from_ns, to_ns;
  };  // inclusive
  std::vector<TimeRange> times;
};

struct SessionOptions {
  OpenOptions open;
  SymbolOptions symbols;
  SampleFilter filter;
  bool want_chains = true;   // false: call chains are not looked at
  uint32_t max_stack = 127;  // frames kept per chain, leaf side
};

/// Totals of the input, for headers, --stats and the conservation law.
struct ReplayCounts {
  std::vector<uint64_t> records_by_type;  // kernel types 0 … 127, perf's own included
  uint64_t unknown_records = 0;
  uint64_t samples = 0;
  uint64_t filtered = 0;
  uint64_t lost_events = 0;                               // sum of LOST records
  uint64_t lost_samples = 0;                              // sum of LOST_SAMPLES records
  std::vector<uint64_t> lost_by_event;                    // by EventId
  uint64_t first_time_ns = UINT64_MAX, last_time_ns = 0;  // of samples
};

class Session {
 public:
  static Result<Session> open(const std::string& path, SessionOptions options, const Env& env);
  Session(Session&&) noexcept;
  ~Session();

  [[nodiscard]] const Recording& recording() const;
  [[nodiscard]] const EventTable& events() const { return recording().events(); }
  [[nodiscard]] const Machine& machine() const;
  [[nodiscard]] const Symbolizer& symbolizer() const;
  [[nodiscard]] const SampleColumns& samples() const;
  [[nodiscard]] const ChainTable& chains() const;
  [[nodiscard]] const std::vector<Frame>& frames() const;
  [[nodiscard]] const Frame& frame(FrameId id) const { return frames()[id.index()]; }
  [[nodiscard]] const ReplayCounts& counts() const;
  [[nodiscard]] StringPool& strings() const;

  /// The record of a sample, and the sample decoded in full (raw data, registers, branches, addr
  /// …).
  [[nodiscard]] RecordView record(size_t sample) const;
  bool decode(size_t sample, Sample& out) const;
  /// Resolves any other address of a sample (branch ends, data addresses): a frame that may not be
  /// in frames().
  [[nodiscard]] Frame resolve(uint32_t pid, uint64_t time, RuntimeAddr address,
                              uint16_t cpu_mode) const;

  /// Indices of samples by (time, file order).
  [[nodiscard]] std::vector<uint32_t> time_order() const;
  /// Every other record in file order with its time: for --show-*-events, --tasks, --mmaps, dumps.
  struct OtherRecord {
    uint64_t time;
    EventId event;
    RecordView view;
  };
  [[nodiscard]] std::vector<OtherRecord> other_records() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
