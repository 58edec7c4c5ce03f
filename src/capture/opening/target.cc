#include "capture/opening/target.h"

#include "capture/opening/cpu_map.h"

namespace sonde {
namespace {

/// A more specific task selection wins over a wider target.
TargetOptions finalize(TargetOptions options, std::vector<std::string>& warnings) {
  auto overrides = [&](bool winner, auto& loser, std::string_view text) {
    if (!winner || loser == std::remove_reference_t<decltype(loser)>{}) return;
    loser = {};
    warnings.emplace_back(text);
  };
  bool by_task = !options.pids.empty() || !options.tids.empty();
  overrides(!options.pids.empty(), options.tids, "-t is ignored: -p says which processes");
  overrides(by_task, options.user, "-u is ignored: -p or -t says which tasks");
  overrides(!options.user.empty(), options.cpus, "-C is ignored: -u says whose tasks, on any CPU");
  overrides(by_task, options.cpus, "-C is ignored: -p or -t says which tasks, on any CPU");
  overrides(by_task, options.all_cpus, "-a is ignored: -p or -t says which tasks");
  overrides(!options.user.empty(), options.all_cpus, "-a is ignored: -u says whose tasks");
  overrides(options.has_cpu(), options.per_thread,
            "--per-thread is ignored: -a or -C says which CPUs");
  return options;
}

}  // namespace

Result<Target> resolve_target(const TargetOptions& given, std::vector<std::string>& warnings) {
  TargetOptions options = finalize(given, warnings);
  Target target;
  target.per_thread = options.per_thread;
  std::vector<int> online = TRY(online_cpus());
  if (options.has_task()) {
    target.kind = Target::Kind::kTasks;
    target.pids = options.pids;
    target.user = options.user;
    target.threads = !options.pids.empty()   ? TRY(threads_of_processes(options.pids))
                     : !options.tids.empty() ? TRY(threads_by_id(options.tids))
                                             : TRY(threads_of_user(options.user));
  } else if (options.has_cpu() || options.command.empty()) {
    target.kind = Target::Kind::kCpus;
    target.per_thread = false;
    target.threads = {ThreadEntry{}};
  } else {
    target.kind = Target::Kind::kCommand;
  }
  if (target.per_thread)
    target.cpus = {-1};
  else if (!options.cpus.empty())
    target.cpus = TRY(select_cpus(options.cpus, online));
  else
    target.cpus = std::move(online);
  return target;
}

std::vector<ThreadEntry> threads_now(const Target& target) {
  // Those that have ended are no error here.
  if (!target.pids.empty()) return threads_of_remaining(target.pids);
  if (!target.user.empty())
    return threads_of_user(target.user).value_or(std::vector<ThreadEntry>());
  return {};
}

}  // namespace sonde
