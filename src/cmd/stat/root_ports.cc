// --iostat: stat's flags where the counts of root ports are asked for.
#include "cmd/stat/flags.h"

namespace sonde {

Result<> StatFlags::finalize_root_ports(Env& env, bool recording) {
  auto wrong = [](std::string_view text) { return fail(ErrorCode::kUsage, "{}", text); };
  std::vector<RootPort> ports = TRY(read_root_ports("/sys/bus/event_source/devices"));
  if (*root_ports_ == "list") {
    options_.list_root_ports = true;
    options_.root_ports = std::move(ports);
    return {};
  }
  options_.root_ports = TRY(choose_root_ports(ports, *root_ports_));
  TargetOptions& target = options_.count.target;
  if (recording || options_.compares())
    return wrong("root ports are measured by plain `stat`: leave out record, --vs and the like");
  bool of_some = target.has_task() || !target.cpus.empty() ||
                 options_.grouping != view::CountGrouping::kAll || selection_.names_cgroups() ||
                 !for_each_cgroup_.empty() || !options_.count.bpf_programs.empty();
  if (of_some)
    return wrong(
        "traffic of root ports belongs to no task or CPU: leave out -p, -t, -C, -G, -b, --per-…");
  if (options_.json != 0 || options_.interval_clear)
    return wrong(
        "root ports are shown as text or separated by -x: leave out -j and --interval-clear");
  selection_.serve(target, options_.count.verbose, env);
  options_.count.made = selection_.made();
  TRY(selection_.finalize({options_.count.events, options_.count.cgroups}, env));
  bool has_others = !options_.count.events.empty() || detail_ > 0 || null_run_ || topdown_ ||
                    smi_cost_ || transaction_ || !core_kind_.empty();
  if (has_others)
    return wrong("root ports have their own events: leave out -e, -M, -d and the like");
  target.all_cpus = true;
  options_.grouping = view::CountGrouping::kDie;
  return selection_.parse(root_port_events(options_.root_ports), options_.count.events, env);
}

}  // namespace sonde
