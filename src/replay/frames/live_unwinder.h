// LiveUnwinder: turns the copied stacks of a recording into call chains while it is recorded, so
// that the file holds chains of a hundred bytes instead of copies of eight thousand.
//
// Records wait until their round and the next are over (ordering.h says why). Then those that
// describe tasks and mappings are applied to a machine with history, samples are unwound against
// what was mapped at their time, and everything is written in time order. So late-loaded objects,
// forks, execs and processes that have exited by then are handled correctly.
//
// Memory: two rounds of records, the tables of the objects that were hit, and the running tasks.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "abi/regs.h"
#include "base/loss.h"
#include "base/string_pool.h"
#include "machine/machine.h"
#include "perfdata/read/ordering.h"
#include "perfdata/write/record_transform.h"
#include "replay/frames/call_sites.h"
#include "replay/frames/object_cfi.h"
#include "replay/frames/stack_copies.h"
#include "replay/passes/forget_policy.h"
#include "replay/passes/jit_replay.h"
#include "replay/passes/sideband_pass.h"
#include "symbol/object_finder.h"

namespace sonde {

struct LiveUnwinderOptions {
  abi::Arch arch = abi::Arch::kUnknown;
  FinderOptions files;                       // where objects are looked for
  bool keep_registers = false;               // --user-regs: the user asked for them separately
  bool dumps_are_complete = false;           // jitdumps will not grow any more
  std::vector<BuildIdEntry> build_ids = {};  // of the objects, if they are known beforehand
};

class LiveUnwinder final : public RecordTransform {
 public:
  explicit LiveUnwinder(LiveUnwinderOptions options);
  ~LiveUnwinder() override;

  void begin(const std::vector<EventDesc>& events) override;
  Result<> take(std::vector<std::byte> block, bool behind, Output& output) override;
  Result<> finish(Output& output) override;

  /// Reports what could not be followed and what was damaged; call it once the recording is over.
  void add_losses(LossLedger& losses) const;
  /// Samples that were passed on with their copies.
  struct LeftAsCopies {
    uint64_t for_want_of_time = 0;
    uint64_t for_want_of_dumps = 0;  // jitdumps did not have the running code yet
  };
  [[nodiscard]] LeftAsCopies left_as_copies() const;

 private:
  class Slice;
  struct HeldBlock {
    std::vector<std::byte> bytes;
    uint64_t rounds;  // finished at its end
  };

  void apply_sideband();
  Result<> give_out(Output& output);
  Result<> write(const Slice& slice, Output& output);
  void release_blocks(Output& output);

  LiveUnwinderOptions options_;
  LossLedger losses_;
  StringPool strings_;
  Machine machine_{strings_};
  ObjectFinder finder_;
  JitObjects jit_objects_;
  JitReplay jit_{machine_, jit_objects_, {}};
  ObjectCfi cfi_{machine_, finder_, jit_objects_};
  CallSites call_sites_{machine_, finder_, options_.arch};
  EventTable events_;
  RoundSorter sorter_;
  std::vector<TimedRecord> ready_;     // in time order, ready to be emitted
  std::vector<OtherRecord> sideband_;  // those of them that are not samples
  std::deque<HeldBlock> blocks_;
  uint64_t rounds_ = 0;
  bool behind_ = false;
  std::vector<std::unique_ptr<Slice>> slices_;
  ForgetPolicy forget_;
};

}  // namespace sonde
