// The subcommands of `sched`, and what they share.
#pragma once

#include <memory>
#include <string>

#include "cmd/command.h"
#include "perfdata/recording.h"

namespace sonde {

/// -i, -f and -v, which stand before the subcommand or behind it.
struct SchedInput {
  std::string path;  // empty: perf.data, or standard input where that is a pipe
  bool force = false;
  int verbose = 0;

  void declare(FlagTable& flags);
  [[nodiscard]] std::string chosen_path(const Env& env) const;
  [[nodiscard]] OpenOptions open_options(const Env& env) const;
};

std::unique_ptr<Command> make_sched_record();
std::unique_ptr<Command> make_sched_script(SchedInput input);
std::unique_ptr<Command> make_sched_latency(SchedInput input);
std::unique_ptr<Command> make_sched_map(SchedInput input);
std::unique_ptr<Command> make_sched_timehist(SchedInput input);
std::unique_ptr<Command> make_sched_replay(SchedInput input);
std::unique_ptr<Command> make_sched_stats(SchedInput input);

}  // namespace sonde
