// The command line of `trace`, as data.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "capture/record_options.h"
#include "cmd/flags.h"
#include "replay/event_gate.h"
#include "symbol/dso_symbols.h"
#include "trace/arg_text.h"
#include "trace/call_choice.h"
#include "trace/summary_text.h"

namespace sonde {

enum class FaultKinds : uint8_t { kNone, kMajor, kMinor, kAll };

struct TraceOptions {
  RecordOptions record;  // target, rings, delay; its events: those of -e that are no system calls
  std::string input;     // -i; empty: live
  std::string output;    // -o; empty: standard error
  bool force = false;    // -f

  CallChoice calls;
  bool wants_calls = true;                   // --no-syscalls, and -e with events alone
  std::vector<std::string> recorded_events;  // -i: events of -e, as globs over recorded names
  bool chooses = false;                      // -e was given
  FaultKinds faults = FaultKinds::kNone;
  bool runtime = false;            // --sched
  std::vector<uint32_t> not_pids;  // --filter-pids
  std::string cgroup_of_all;       // -G before any -e

  bool summary = false, summary_only = false;  // -S, -s
  SummaryOptions tables;
  bool full_time = false;  // -T
  bool show_comm = true;
  ArgStyle style;
  bool show_duration = true;
  size_t result_column = 70;  // trace.args_alignment
  bool failed_only = false;
  uint64_t min_duration_ns = 0;
  bool kernel_text = false;  // --libtraceevent_print
  bool print_samples = false;
  uint64_t max_events = 0;
  std::optional<uint32_t> max_stack, min_stack;
  bool kernel_call_chains = false;  // --kernel-syscall-graph
  EventGate::Choice gate;
  SymbolOptions symbols;
  bool sort_events = false;  // accepted; events are always sorted
  std::optional<bool> bpf;   // --bpf, --no-bpf
  int verbose = 0;
};

/// The flags of `trace`, and how they turn into options.
class TraceFlags {
 public:
  void declare(FlagTable& flags);
  Result<> configure(const Config& config);
  /// The options with names resolved. kUsage and kBadEvent, each in one clear line.
  Result<TraceOptions> settle(Env& env, const std::vector<std::string>& command);

 private:
  void declare_targets(FlagTable& flags);
  void declare_choice(FlagTable& flags);
  void declare_lines(FlagTable& flags);
  void declare_tables(FlagTable& flags);
  void declare_chains(FlagTable& flags);
  void declare_refused(FlagTable& flags);
  Result<> set_faults(std::string_view kinds);
  Result<> add_events(const std::string& text, Env& env);
  Result<> add_word(std::string_view word, bool negated, std::string& events);
  Result<> add_cgroup(const std::string& name);
  Result<> check(const std::vector<std::string>& command) const;

  TraceOptions options_;
  using Step = std::function<Result<>(Env&)>;
  std::vector<Step> steps_;  // -e, --filter and -G, in command-line order
  bool names_calls_ = false;
  std::optional<bool> syscalls_;  // --syscalls, --no-syscalls
  bool has_call_graph_ = false;
  bool no_inherit_ = false;
  std::optional<std::string> refused_;
};

}  // namespace sonde
