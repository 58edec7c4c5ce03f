// `--itrace=OPTIONS`: what is made of an instruction trace (perf-intel-pt(1), "itrace options").
//
//   ItraceOptions options = TRY(parse_itrace("i100us,g8,b", ItraceDefaults::kReport));
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace sonde {

/// What `--itrace` without options asks for, or a command that is given a trace without it;
/// kProfile: a profile without it, which is of instructions only, with call chains.
enum class ItraceDefaults : uint8_t { kReport, kScript, kProfile };

enum class PeriodUnit : uint8_t { kInstructions, kTicks, kNanoseconds };

/// Which of the recording's other records a log of the decoder shows: none, those of the command's
/// `--time`, all.
enum class LoggedRecords : uint8_t { kNone, kOfTimes, kAll };

struct ItraceOptions {
  bool decodes = true;    // false: --no-itrace
  bool is_given = false;  // in words: what cannot be made is said
  bool instructions = false;
  bool branches = false;  // all of them
  bool calls = false, returns = false;
  bool transactions = false, ptwrites = false, power = false;
  bool pebs = false;  // o: samples that the processor wrote into the trace
  bool interrupts = false, errors = false, debug_log = false;
  bool first_level = false, last_level = false, tlb = false, remote = false, memory = false;
  uint64_t period = 0;  // between instruction samples; 0: every instruction
  PeriodUnit unit = PeriodUnit::kNanoseconds;
  bool chains = false, chains_for_others = false;  // g, G
  uint32_t chain_size = 16;
  bool branch_stacks = false, branch_stacks_for_others = false;  // l, L
  uint32_t branch_stack_size = 64;
  uint64_t skipped = 0;  // samples left out at the beginning
  uint32_t quick = 0;
  bool approximate_ipc = false, without_times = false;
  bool counts_cycles = false;  // samples tell them, as far as the trace does
  // Of the log: to standard output; only what led to an error.
  bool logs_to_output = false, logs_errors_only = false;
  bool tells_every_error = false;  // those of code that is missing as a whole, too
  LoggedRecords logged_records = LoggedRecords::kOfTimes;
  bool hides_overflows = false, hides_lost_data = false;  // e-o, e-l

  /// The first word of what was asked for that only Arm's SPE tells, and that it does not; nullptr
  /// if there is nothing.
  [[nodiscard]] const char* only_of_spe() const;
  [[nodiscard]] const char* not_of_spe() const;
  /// The same of what only Intel PT's traces tell.
  [[nodiscard]] const char* only_of_intel_pt() const;
};

/// An empty text stands for the defaults.
Result<ItraceOptions> parse_itrace(std::string_view text, ItraceDefaults defaults);

}  // namespace sonde
