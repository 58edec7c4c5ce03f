#include "cmd/report/page.h"

#include "cmd/options/profile_flags.h"
#include "explorer/explorer_page.h"

namespace sonde::report {
namespace {

/// The first option given that a page cannot honour; empty if none.
std::string_view refused_option(const ReportOptions& o) {
  const GivenOption options[] = {
      {o.sort.has_value(), "--sort"},
      {o.fields.has_value(), "--fields"},
      {o.call_graph.given, "--call-graph"},
      {o.parent.has_value(), "--parent"},
      {o.ignore_callees.has_value(), "--ignore-callees"},
      {o.hierarchy, "--hierarchy"},
      {o.branch_stack.value_or(false), "--branch-stack"},
      {o.branch_history, "--branch-history"},
      {o.total_cycles, "--total-cycles"},
      {o.memory_mode, "--mem-mode"},
      {!o.comms.empty(), "--comms"},
      {!o.dsos.empty(), "--dsos"},
      {!o.symbols.empty(), "--symbols"},
      {o.symbol_filter.has_value(), "--symbol-filter"},
      {o.hide_unresolved, "--hide-unresolved"},
      {o.exclude_other, "--exclude-other"},
      {!o.time.empty(), "--time"},
      {o.socket >= 0, "--socket-filter"},
      {!o.gate.on.empty() || !o.gate.off.empty(), "--switch-on"},
      {o.stitch_lbr, "--stitch-lbr"},
      {o.itrace.has_value(), "--itrace"},
  };
  return first_given(options);
}

}  // namespace

Result<int> write_page(const ReportOptions& o, Env& env) {
  if (std::string_view name = refused_option(o); !name.empty())
    return fail(ErrorCode::kFailed, "{} does not go with --html: sort and filter in the page",
                name);
  if (o.show_intervals)
    return fail(ErrorCode::kFailed,
                "--confidence does not go with --html: i shows intervals there");
  ExplorerOptions choice;
  choice.command = "report";
  choice.input = o.input;
  choice.output = *o.html;
  SessionOptions& session = choice.source.session;
  session.open.force = o.force;
  session.symbols = o.symbol_sources;
  session.filter.pids = o.pids;
  session.filter.tids = o.tids;
  session.filter.cpus = o.cpus;
  if (o.max_stack != ReportOptions().max_stack) session.chains = {.max_stack = o.max_stack};
  session.inlines = chosen_inlines(o.inlines);
  TRY(write_explorer(choice, env));
  return 0;
}

}  // namespace sonde::report
