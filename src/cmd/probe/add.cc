// `probe -a` and `-D`: from definitions to probes in tracefs, or to the lines that would make them.
#include "cmd/probe/options.h"
#include "event/print_fmt/tracefs.h"
#include "probe/events/bootconfig_text.h"
#include "probe/events/probe_cache.h"
#include "probe/events/probe_events.h"
#include "probe/requested_probe.h"
#include "probe/usdt/plan_usdt.h"
#include "store/build_id_cache.h"

namespace sonde {
namespace {

struct PlannedRequest {
  RequestedProbe request;
  std::vector<NamedProbe> probes;
  std::string object;  // for the text; empty: the kernel itself
};

bool is_usdt(const RequestedProbe& request) {
  return !request.sdt_name.empty();
}

Result<std::vector<ProbePlan>> plan(Env& env, const ProbeOptions& options,
                                    const ProbeOptions::Definition& definition,
                                    const RequestedProbe& request, std::string& object) {
  if (is_usdt(request) && definition.target.executable.empty())
    return plan_usdt(request, {.buildid_dir = build_id_directory(env)});
  ProbedCode code = TRY(open_code(env, definition.target));
  object = code.in_kernel() ? code.module() : code.path();
  if (!is_usdt(request)) return plan_probes(request, code, options.plan);
  return plan_usdt(request, {.object = code.path(),
                             .file = code.file() != nullptr ? code.file()->name() : "",
                             .buildid_dir = build_id_directory(env)});
}

/// An object in another mount namespace by the name that it has there, as the kernel looks it up.
void name_as_inside(int namespace_pid, std::string& object) {
  std::string root = fmt::format("/proc/{}/root/", namespace_pid);
  if (namespace_pid != 0 && object.starts_with(root)) object.erase(0, root.size() - 1);
}

Result<std::vector<PlannedRequest>> plan_all(
    Env& env, const ProbeOptions& options, const std::vector<ProbeOptions::Definition>& definitions,
    ProbeNames& names) {
  std::vector<PlannedRequest> planned;
  for (const ProbeOptions::Definition& definition : definitions) {
    PlannedRequest one{.request = TRY(parse_probe(definition.text)), .probes = {}, .object = {}};
    std::vector<ProbePlan> plans = TRY(plan(env, options, definition, one.request, one.object));
    if (plans.size() > options.plan.max_probes)
      return fail(ErrorCode::kFailed,
                  "'{}' selects {} places, --max-probes allows {}: say more precisely where, or "
                  "allow more",
                  one.request.text, plans.size(), options.plan.max_probes);
    for (ProbePlan& each : plans)
      name_as_inside(definition.target.namespace_pid, each.place.object);
    name_as_inside(definition.target.namespace_pid, one.object);
    if (!options.quiet)
      for (const ProbePlan& each : plans)
        for (const std::string& note : each.notes) env.err.print("{}\n", note);
    one.probes = TRY(names.name(one.request, plans));
    // Also for definitions that are only shown: people paste them.
    for (const NamedProbe& probe : one.probes)
      TRY(check_definition(probe.event.system, probe.event.name, probe.place));
    if (one.object.empty()) one.object = one.probes.front().place.object;
    planned.push_back(std::move(one));
  }
  return planned;
}

std::vector<NamedProbe> all_of(const std::vector<PlannedRequest>& planned) {
  std::vector<NamedProbe> probes;
  for (const PlannedRequest& one : planned)
    probes.insert(probes.end(), one.probes.begin(), one.probes.end());
  return probes;
}

/// "po_mid%return in /opt/app with $retval": what the user wrote.
std::string described(const PlannedRequest& planned) {
  const RequestedProbe& request = planned.request;
  std::string text = request.text.substr(0, request.text.find_first_of(" \t"));
  if (!request.event.empty()) text = text.substr(text.find('=') + 1);
  if (is_usdt(request)) text = fmt::format("%{}", request.sdt_name);
  if (!planned.object.empty()) text += fmt::format(" in {}", planned.object);
  std::string_view between = " with ";
  for (const RequestedArgument& argument : request.arguments) {
    text += fmt::format("{}{}", between, argument.text);
    between = " ";
  }
  return text;
}

Result<> keep_all(Env& env, const std::vector<PlannedRequest>& planned) {
  for (const PlannedRequest& one : planned)
    TRY(keep_in_probe_cache(build_id_directory(env), one.request, one.probes));
  return {};
}

void say_what_was_added(Env& env, const std::vector<PlannedRequest>& planned) {
  std::vector<NamedProbe> all = all_of(planned);
  env.err.print("Added new event{}:\n", all.size() == 1 ? "" : "s");
  for (const PlannedRequest& one : planned)
    for (const NamedProbe& probe : one.probes)
      env.err.print("  {:<20} (on {})\n",
                    fmt::format("{}:{}", probe.event.system, probe.event.name), described(one));
  const TracepointName& last = all.back().event;
  env.err.print(
      "\nCommands take it now like any other event:\n\n\t{0} record -e {1}:{2} -aR sleep 1\n\n",
      env.tool, last.system, last.name);
}

}  // namespace

Result<int> add_probes(Env& env, const ProbeOptions& options) {
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  ProbeEvents events(tracefs.path());
  ProbeNames names(TRY(events.names()), options.force);
  std::vector<PlannedRequest> planned = TRY(plan_all(env, options, options.add, names));
  std::vector<NamedProbe> probes = all_of(planned);
  if (options.verbose > 0)
    for (const NamedProbe& probe : probes)
      env.err.print("{}: {}\n", options.dry_run ? "Would write" : "Writing",
                    probe_definition(probe.event.system, probe.event.name, probe.place));
  if (!options.dry_run) TRY(events.add(probes, options.target.namespace_pid));
  if (options.use_cache && !options.dry_run)
    if (Result<> kept = keep_all(env, planned); !kept) {
      events.undo(probes);
      return std::unexpected(kept.error());
    }
  if (!options.quiet) say_what_was_added(env, planned);
  return 0;
}

Result<int> show_definitions(Env& env, const ProbeOptions& options) {
  if (options.bootconfig && !options.target.executable.empty())
    return fail(ErrorCode::kUnsupported,
                "--bootconfig is for probes of the kernel: at boot there is no {}",
                options.target.executable);
  ProbeNames names({}, options.force);
  std::vector<NamedProbe> probes = all_of(TRY(plan_all(env, options, options.define, names)));
  if (options.bootconfig) {
    env.out.write_lines(TRY(bootconfig_text(probes)));
    return 0;
  }
  for (const NamedProbe& probe : probes)
    env.out.print("{}\n", probe_definition(probe.event.system, probe.event.name, probe.place));
  return 0;
}

}  // namespace sonde
