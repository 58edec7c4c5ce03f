// The traces in one buffer of CoreSight, as samples. A buffer has the trace of a CPU, or of several
// in turn, each with its own trace id.
//
//   EtmQueue etm(recording.events(), made, options, input, queue, machine, image, sink);
//   for (const TracePiece& run : contiguous) TRY(etm.follow(run));
//   etm.finish();
//
// Few processors' traces have times that can be converted: otherwise all that is in a stretch has
// the time of its end, as perf has it. Threads are those of the trace's context packets, or else
// those that the recording's switches tell.
#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "etm/flow_decoder.h"
#include "itrace/code_image.h"
#include "itrace/etm_flow.h"
#include "itrace/options.h"
#include "itrace/queue_tasks.h"
#include "itrace/synthesizer.h"
#include "itrace/trace_input.h"

namespace sonde::itrace {

class EtmQueue final : public etm::CodeReader, public etm::FlowObserver {
 public:
  /// The references must outlive it.
  EtmQueue(const EventTable& events, const SynthesizedEvents& made, const ItraceOptions& options,
           const TraceInput& input, const TraceQueue& queue, const Machine& machine,
           CodeImage& image, const RecordSink& sink);
  ~EtmQueue() override;

  /// The run's pieces follow one another. kUnsupported without OpenCSD, kCorrupt if it refuses the
  /// settings of a unit.
  Result<> follow(const TracePiece& run);
  void finish();
  void put_lost(const LostTrace& lost);

  /// Counts the errors that were not hidden.
  void report(LossLedger& losses) const;

  size_t read(uint8_t trace_id, uint64_t address, std::span<std::byte> to) override;
  void ran(uint8_t trace_id, const etm::ExecutedRange& range) override;
  void interrupted(uint8_t trace_id) override;
  void exception(uint8_t trace_id, uint32_t number, uint64_t return_address) override;
  void timestamp(uint8_t trace_id, uint64_t time) override;
  void context(uint8_t trace_id, uint32_t context_id) override;
  void lost(uint8_t trace_id, etm::Lost why, uint64_t address) override;

 private:
  /// The samples of one unit.
  struct Channel;

  void add_channel(const etm::TraceUnit& unit);
  Result<> follow_stretch(Bytes trace, const TraceStretch& stretch);
  Result<etm::FlowDecoder*> decoder_of(const TraceStretch& stretch);
  Channel* channel_of(uint8_t trace_id);
  [[nodiscard]] const etm::TraceUnit* unit_of_cpu(uint32_t cpu) const;

  const EventTable& events_;
  const SynthesizedEvents& made_;
  const ItraceOptions& options_;
  const TraceInput& input_;
  const TraceQueue& queue_;
  const Machine& machine_;
  CodeImage& image_;
  const RecordSink& sink_;
  std::vector<etm::TraceUnit> units_;               // one of each trace id
  std::vector<std::unique_ptr<Channel>> channels_;  // of units_
  std::optional<etm::FlowDecoder> frames_, raw_;    // made when needed
  uint32_t raw_cpu_ = UINT32_MAX;                   // of raw_
  uint64_t now_ = 0;                                // ns; never goes back
  uint64_t stretch_end_ = 0;                        // ns
  uint64_t followed_to_ = 0;                        // offset in the queue
};

}  // namespace sonde::itrace
