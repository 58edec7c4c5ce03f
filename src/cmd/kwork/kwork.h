// The subcommands of `kwork`, and what they share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cmd/options/recording_input.h"
#include "kwork/work_analysis.h"

namespace sonde {

/// Options accepted before the subcommand.
struct KworkRequest {
  RecordingInput input;
  std::vector<WorkClass> classes;  // -k; empty: the subcommand's default

  void declare(FlagTable& flags);
  /// The same, for a subcommand whose -k means something else.
  void declare_input(FlagTable& flags);
};

/// An error that says what to record if a recording has nothing that the kernel did on its own.
Result<> need_work(const FileScan& scan, const Env& env);

/// Common to the subcommands that read a recording: -C, -n, --time.
struct KworkFilter {
  std::vector<uint32_t> cpus;
  std::string name, time;

  void declare(FlagTable& flags);
  /// kUsage if the time is invalid.
  [[nodiscard]] Result<WorkOptions> options(WorkView view, const KworkRequest& request) const;
};

/// Reads a recording, in one pass, into an analysis.
PipelineCounts read_work(FileScan& scan, WorkAnalysis& analysis, WorkNames& names,
                         SortedBy sorted_by, LossLedger& losses);

std::unique_ptr<Command> make_kwork_record(KworkRequest request);
std::unique_ptr<Command> make_kwork_report(KworkRequest request);
std::unique_ptr<Command> make_kwork_latency(KworkRequest request);
std::unique_ptr<Command> make_kwork_timehist(KworkRequest request);
std::unique_ptr<Command> make_kwork_top(KworkRequest request);

}  // namespace sonde
