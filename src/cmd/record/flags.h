// The flags of `record`: from the command line to RecordOptions.
//
// Values that are self-contained are parsed on the spot; options that refer to events (-e,
// --filter, --exclude-perf, -G) are left to an EventSelection.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/env.h"
#include "base/error.h"
#include "capture/opening/event_selection.h"
#include "capture/recorders/record_options.h"
#include "cli/flags.h"
#include "cmd/options/call_graph_option.h"

namespace sonde {

/// The kernel's limit: a multiple of 8 below 64 KiB.
inline constexpr uint32_t kMaxStackDumpSize = 65528;

class RecordFlags {
 public:
  void declare(FlagTable& flags);
  Result<> configure(const Config& config);

  /// The complete options. Errors: kUsage and kBadEvent in perf's words, kUnsupported for what this
  /// machine or this tool cannot do.
  Result<RecordOptions> finalize(Env& env, const Arguments& arguments);

  /// --flamegraph: call chains are wanted, if nothing was said about them.
  void want_call_chains();
  [[nodiscard]] bool dry_run() const { return dry_run_; }
  /// --setup-filter: "pin" or "unpin" is all there is to do; empty: a recording is.
  [[nodiscard]] const std::string& filter_setup() const { return filter_setup_; }
  /// --bundle: the file written at the end; empty: none.
  [[nodiscard]] const std::string& bundle() const { return bundle_; }
  /// --num-thread-synthesize; 0: one per CPU.
  [[nodiscard]] unsigned synthesis_threads() const { return synthesis_threads_; }

 private:
  void declare_events(FlagTable& flags);
  void declare_targets(FlagTable& flags);
  void declare_sideband(FlagTable& flags);
  void declare_run(FlagTable& flags);
  // cmd_record_sampling_flags.cc
  void declare_sampling(FlagTable& flags);
  void declare_call_graphs(FlagTable& flags);
  void declare_registers(FlagTable& flags);
  // cmd_record_output_flags.cc
  void declare_buffers(FlagTable& flags);
  void declare_output(FlagTable& flags);

  Result<> set_call_graph(std::string_view text);
  Result<> set_synthesis(std::string_view list);
  Result<> set_switch_output(std::string_view text);
  Result<> set_snapshot(std::string_view text);
  Result<size_t> take_pages(std::string_view text);
  Result<> refuse_conflicts(const Env& env) const;
  Result<> settle_build_ids(const Env& env);
  Result<> settle_aggregation();
  Result<> settle_off_cpu();
  Result<> settle_latency();
  void settle_bundle();
  Result<> settle_call_graph(Env& env);
  void settle_unwinding(Env& env);
  void settle_compression(const Env& env);
  [[nodiscard]] bool copies_stacks() const;
  [[nodiscard]] std::string_view why_not_unwound() const;

  RecordOptions options_;
  EventSelection selection_{/*counting=*/false};
  std::optional<bool> no_inherit_, no_buildid_, no_buildid_cache_, timestamps_, switch_events_;
  std::optional<std::string> debuginfod_, configured_debuginfod_;  // URLs
  std::string filter_setup_;
  std::string rounding_;  // what to say about -m
  unsigned synthesis_threads_ = 0;
  std::optional<int> compression_level_;  // -z, or its negation
  bool dry_run_ = false;
  CallGraphDefault default_call_graph_;
  bool keep_stack_copies_ = false;  // --call-graph dwarf,raw
  bool no_bpf_events_ = false;
  bool latency_ = false;
  std::string vmlinux_;
  std::string bundle_;
};

}  // namespace sonde
