// A recording, replayed: every sample with its thread, event and call chain resolved, as columns.
//
// The steps, each finished before the next begins:
//   1. sideband:  the few state-changing records, in time order, into the Machine             (one
//   pass over headers)
//   2. samples:   in parallel slices: decode, find the mapping of every address, intern frames and
//   chains
//   3. symbols:   the tables of the DSOs that were hit, in parallel; then every distinct frame once
// Slices are merged in file order, so ids of frames are those of a sequential pass whatever the
// number of threads (law 5). Ids of chains are not: they only say what was the same inside a slice.
//
//   Session session = TRY(Session::open(path, options, env));
//   for (size_t i = 0; i < session.samples().size(); ++i) … session.chains()[samples.chain[i]] …
//
// Samples are in file order. `time_order()` gives their indices by time where a consumer needs
// that.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "machine/machine.h"
#include "perfdata/recording.h"
#include "replay/frame_table.h"
#include "replay/inline_frames.h"
#include "replay/sample_columns.h"
#include "replay/sideband_pass.h"
#include "symbol/symbolizer.h"

namespace sonde {

struct SessionOptions {
  OpenOptions open;
  bool follow = false;  // a pipe on standard input ("-") is not read to its end, see follow()
  SymbolOptions symbols;
  SampleFilter filter;
  bool want_chains = true;  // false: call chains are not looked at
  bool only_sums = false;   // of samples, what sums of stacks need (SampleColumns)
  bool by_place = false;    // samples may be counted by place (SampleColumns); needs only_sums, and
                            // no chains
  /// Samples of no function of this name need no frame (see count_function). It is heeded where
  /// samples are counted by place and nothing is against it: see has_one_function().
  std::optional<std::string> only_function = std::nullopt;
  bool want_symbols = true;          // false: frames get no symbols
  uint32_t max_stack = UINT32_MAX;   // frames kept per chain, leaf side
  bool merge_deferred = true;        // user parts of chains that come in records of their own
  bool stitch_calls = false;         // of `--call-graph lbr`, with those of the samples before
  Inlines inlines = Inlines::kNone;  // which chains get the functions that were inlined
};

class Session {
 public:
  static Result<Session> open(const std::string& path, SessionOptions options, const Env& env);
  /// Of what is captured right now: `take` shows it what came, stretch by stretch. The features'
  /// bytes must outlive it.
  static Session live(std::vector<EventDesc> events, const Features& features,
                      SessionOptions options, const Env& env);
  Session(Session&&) noexcept;
  ~Session();

  /// Whether this is a pipe that is still to be read. Then nothing but facts are known before
  /// follow() runs.
  [[nodiscard]] bool follows() const;
  struct Follow {
    std::function<Result<bool>()> on_stretch;  // the session shows the next records; false: stop
    std::function<bool()> on_pause;            // nothing to read yet: wait; false: stop
  };
  /// Reads the pipe to its end, stretch by stretch, in time order (see RoundFeed). Samples, chains,
  /// counts and other records are those of one stretch, during `on_stretch` only; strings, frames,
  /// objects and symbols stay and grow. The machine forgets tasks some time after their end.
  Result<> follow(const Follow& hooks);

  /// Whether `only_function` was heeded.
  [[nodiscard]] bool has_one_function() const;

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

  /// Of a live session: the next records become what it shows, as in `follow`. Records of one block
  /// are in order, and of all blocks none is much older than those before. Their bytes must hold
  /// until the next call.
  void take(const std::vector<RecordBlock>& blocks);

  /// The record of a sample, and the sample decoded in full (raw data, registers, branches, addr
  /// …).
  [[nodiscard]] RecordView record(size_t sample) const;
  bool decode(size_t sample, Sample& out) const;
  /// Resolves any other address of a sample (branch ends, data addresses): a frame that may not be
  /// in frames(). Only objects whose symbols are loaded give a symbol: call load_all_symbols
  /// before.
  [[nodiscard]] Frame resolve(uint32_t pid, uint64_t time, RuntimeAddr address,
                              uint16_t cpu_mode) const;
  /// Reads the symbols of objects that no sampled address lies in, too. Not while other threads use
  /// this session.
  void load_all_symbols();

  /// Indices of samples by (time, file order).
  [[nodiscard]] std::vector<uint32_t> time_order() const;
  /// Every other record in file order with its time: for --show-*-events, --tasks, --mmaps, dumps.
  [[nodiscard]] const std::vector<OtherRecord>& other_records() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
