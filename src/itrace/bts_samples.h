// Samples of an Intel BTS trace: records of 24 bytes, from where to where each branch went (Intel
// SDM vol. 3, "Branch Trace Store"). What kind of branch it was, the code tells.
#pragma once

#include "itrace/synthesizer.h"
#include "itrace/trace_input.h"
#include "pt/flow_decoder.h"
#include "pt/instruction_table.h"

namespace sonde::itrace {

class BtsSamples {
 public:
  /// The code is asked for as of the trace's times: `code` is that of the queue's tasks.
  BtsSamples(Synthesizer& samples, pt::CodeReader& code, const TraceClock& clock,
             TaskTimeline& tasks, uint32_t cpu)
      : samples_(samples), code_(code), table_(code), clock_(clock), tasks_(tasks), cpu_(cpu) {}

  /// The pieces of a queue, in their order. A record may be in two of them.
  void follow(const std::vector<TracePiece>& pieces);

 private:
  void take(uint64_t from, uint64_t to, uint64_t tsc);
  uint32_t flags_at(uint64_t from, uint64_t tsc, uint8_t& length);

  Synthesizer& samples_;
  pt::CodeReader& code_;
  pt::InstructionTable table_;
  TraceClock clock_;
  TaskTimeline& tasks_;
  uint32_t cpu_;
  uint64_t code_version_ = 0;
};

}  // namespace sonde::itrace
