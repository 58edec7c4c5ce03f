// A replayed recording: every sample with its thread, event and call chain resolved, as columns.
//
// The steps, each finished before the next begins:
//   1. sideband:  the few state-changing records, in time order, into the Machine
//                 (one pass over headers)
//   2. samples:   in parallel slices: decode, find the mapping of every address,
//                 intern frames and chains
//   3. symbols:   the tables of the DSOs that were hit, in parallel;
//                 then every distinct frame once
// Slices are merged in file order, so frame ids are those of a sequential pass for any number of
// threads (law 5). Chain ids are not: equal ids only mean equal chains within a slice.
//
//   Session session = TRY(Session::open(path, options, env));
//   for (size_t i = 0; i < session.samples().size(); ++i) … session.chains()[samples.chain[i]] …
//
// Samples are in file order. `time_order()` gives their indices by time, for consumers that need
// it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "machine/machine.h"
#include "perfdata/read/recording.h"
#include "replay/frames/frame_table.h"
#include "replay/passes/sideband_pass.h"
#include "replay/sample_columns.h"
#include "replay/session_options.h"
#include "symbol/symbolizer.h"

namespace sonde {

class Session {
 public:
  static Result<Session> open(const std::string& path, SessionOptions options, const Env& env);
  /// A session of a capture in progress: `take` shows it the records that arrived, batch by batch.
  /// The features' bytes must outlive it.
  static Session live(std::vector<EventDesc> events, const Features& features,
                      SessionOptions options, const Env& env);
  Session(Session&&) noexcept;
  ~Session();

  /// Whether this is a pipe that is still to be read. Then only the facts are known before follow()
  /// runs.
  [[nodiscard]] bool follows() const;
  /// Whether this is a recording whose samples are still to be read, by follow().
  [[nodiscard]] bool in_batches() const;
  /// How often frames were forgotten so far: between batches, if there are very many, as where
  /// chains go astray. Their ids are then used again.
  [[nodiscard]] uint32_t frame_generation() const;
  struct Follow {
    std::function<Result<bool>()> on_batch;  // the session shows the next records; false: stop
    std::function<bool()> on_pause;          // nothing to read from a pipe yet: wait; false: stop
  };
  /// Reads to the end, batch by batch, in time order (see RoundPipeline and TimeBatches). Samples
  /// and chains are those of one batch and valid during `on_batch` only; strings, objects and
  /// symbols stay and grow, and so do frames, see frame_generation(). In a pipe, counts and other
  /// records are those of one batch, too, and the machine forgets tasks some time after their end;
  /// otherwise they are of the whole recording.
  Result<> follow(const Follow& hooks);

  /// Whether SumsByPlace::only_function took effect.
  [[nodiscard]] bool has_one_function() const;

  /// Whether chains by frame pointers were checked (ChainOptions::check).
  [[nodiscard]] bool checks_chains() const;
  /// How branches were put into chains; null if they were not.
  [[nodiscard]] const BranchHistory* branch_history() const;

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

  /// For a live session: shows the next records, as in `follow`. The records of one block are in
  /// order, and no block has records much older than the preceding blocks. Their bytes must stay
  /// valid until the next call.
  void take(const std::vector<RecordBlock>& blocks);
  /// Likewise: more of what Features::interpreted_files says; to be called before the records that
  /// need it are taken.
  void add_interpreted_files(std::span<const InterpretedFile> files);

  /// The record of a sample, and the fully decoded sample (raw data, registers, branches, addr …),
  /// with its process and thread as in samples() (machine/task_number.h).
  [[nodiscard]] RecordView record(size_t sample) const;
  bool decode(size_t sample, Sample& out) const;
  /// The virtual CPU that a sample is of; null if it is the host's.
  [[nodiscard]] const GuestCpu* guest_cpu(size_t sample) const;
  /// Resolves any other address of a sample (branch ends, data addresses), giving a frame that may
  /// not be in frames(). Only objects whose symbols are loaded give a symbol: call load_all_symbols
  /// first.
  [[nodiscard]] Frame resolve(uint32_t pid, uint64_t time, RuntimeAddr address,
                              uint16_t cpu_mode) const;
  /// Also reads the symbols of objects without sampled addresses. Must not run while other threads
  /// use this session.
  void load_all_symbols();

  /// Sample indices sorted by (time, file order).
  [[nodiscard]] std::vector<uint32_t> time_order() const;
  /// Every other record in file order with its time: for --show-*-events, --tasks, --mmaps, dumps.
  [[nodiscard]] const std::vector<OtherRecord>& other_records() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
