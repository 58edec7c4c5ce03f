// `--itrace=d`: a log of how the trace was decoded, for whoever asks why it was decoded so: packets
// and the instructions that they led through, in the order in which the decoder got to them, what
// it made of them otherwise, its errors, and the recording's other records of the same CPU or
// thread by time.
//
//   queue 0 of cpu 3: 4096 bytes from offset 0
//     00000000:  02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82 PSB
//     00000010:  19 fe 72 08 a3 d8 0b 00                         TSC 0xbd8a30872fe
//   cpu 3 time 13025.072086078 PERF_RECORD_COMM exec: true:22746/22746
//   time 13025.076081234 tsc 0xbd8a30872fe pid 22746 tid 22746
//     0000001c:  71 70 2b 70 d4 1b 7f                            TIP.PGE 0x7f1bd4702b70
//   tracing begins at 0x7f1bd4702b70
//             7f1bd4702b70:  48 89 e7                                        other
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "itrace/options.h"
#include "itrace/synthesizer.h"
#include "itrace/trace_input.h"
#include "perfdata/read/recording.h"
#include "pt/packet.h"

namespace sonde::itrace {

/// What a log needs to know of the command.
struct LogSetup {
  explicit LogSetup(Sink& out) : output(out) {}

  Sink& output;                                   // standard output
  uint64_t context_bytes = 16384;                 // shown before an error, if only errors are
  std::function<bool(uint64_t time_ns)> in_time;  // `--time`; empty: all are
};

class DebugLog {
 public:
  /// Begins "intel_pt.log" in the current directory, unless it goes to standard output. `recording`
  /// must outlive it.
  static Result<DebugLog> open(const Recording& recording, const ItraceOptions& options,
                               const LogSetup& setup);

  void write(std::string_view lines);
  /// Shows what came before, if only errors are wanted.
  void error(std::string_view line);
  /// Writes the records up to a time that another queue of the same CPU or thread has not shown.
  /// `next` is the place of the queue's next record, 0 at first.
  void put_records(const TraceQueue& queue, uint64_t time_ns, size_t& next);
  Result<> finish() { return output_.finish(); }

 private:
  struct LoggedRecord {
    uint64_t time_ns;
    uint32_t cpu, tid;
    EventId event;
    RecordView record;
  };

  explicit DebugLog(OutputFile output) : output_(std::move(output)) {}
  /// The latest whole lines, of at most context_bytes_.
  [[nodiscard]] std::string_view context() const;
  void collect(const Recording& recording, const std::function<bool(uint64_t)>& in_time);

  OutputFile output_;
  bool errors_only_ = false;
  size_t context_bytes_ = 0;
  std::string recent_;  // whole lines, if only errors are wanted
  const EventTable* events_ = nullptr;
  std::vector<LoggedRecord> records_;  // by time
};

/// Tells all that it is told to another observer, and the log.
class LoggedFlow final : public pt::FlowObserver {
 public:
  /// `number` is the queue's; `offset` that of the trace in it.
  LoggedFlow(pt::FlowObserver& observer, DebugLog& log, const TraceInput& input, size_t number,
             TaskTimeline& tasks, pt::CodeReader& code)
      : observer_(observer),
        log_(log),
        queue_(input.queues[number]),
        number_(number),
        clock_(input.clock),
        tells_interrupt_flag_(input.tells_interrupt_flag),
        tasks_(tasks),
        code_(code) {}

  /// Before a run of trace is followed, and after it.
  void begin(const TracePiece& run);
  void end();
  /// After the last one.
  void finish() { log_.put_records(queue_, UINT64_MAX, next_record_); }

  void instruction(const pt::Instruction& instruction, uint64_t now) override;
  void ran(const pt::Block& block, pt::BlockSizes& sizes, uint64_t now) override;
  void enabled(uint64_t ip, uint64_t now) override;
  void disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t now) override;
  void interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t now) override;
  void transaction(bool begins, bool aborted, std::optional<uint64_t> ip, uint64_t now) override;
  void ptwrite(std::optional<uint64_t> ip, uint64_t value, uint64_t now) override;
  void power(const pt::PowerEvent& event, std::optional<uint64_t> ip, uint64_t now) override;
  void control_flow(const pt::ControlFlowEvent& event, std::optional<uint64_t> ip,
                    uint64_t now) override;
  void interrupt_flag(bool allows, pt::FlagChange how, std::optional<uint64_t> ip,
                      uint64_t now) override;
  void items(const pt::BlockItems& items, std::optional<uint64_t> ip, uint64_t now) override;
  void items_cut(uint64_t records) override { observer_.items_cut(records); }
  void cycles(uint64_t count) override;
  void core_frequency(uint32_t ratio, uint64_t now) override;
  [[nodiscard]] bool watches_packets() const override { return true; }
  void packets_read(uint64_t offset) override;
  void lost(pt::FlowError why, uint64_t ip, uint64_t now) override;

 private:
  /// Says the time if it is another.
  void look_at_clock(uint64_t now);
  void put(const pt::Instruction& instruction, uint64_t now);

  pt::FlowObserver& observer_;
  DebugLog& log_;
  const TraceQueue& queue_;
  size_t number_;
  TraceClock clock_;
  bool tells_interrupt_flag_, allows_interrupts_ = true;
  TaskTimeline& tasks_;
  pt::CodeReader& code_;
  Bytes trace_;          // the current run
  uint64_t offset_ = 0;  // of it, in the queue
  size_t at_ = 0;        // packets up to there are in the log
  pt::ItemBlock block_;
  uint64_t now_ = 0;
  size_t next_record_ = 0;
  std::string text_;
};

}  // namespace sonde::itrace
