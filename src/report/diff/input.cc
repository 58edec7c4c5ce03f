#include "report/diff/input.h"

#include "base/text.h"
#include "profile/compared_session.h"
#include "replay/frames/prepare_lines.h"

namespace sonde::diff {
namespace {

/// "1,2:3,4": each recording has its own span. Shares apply to all.
std::string time_of(const DiffOptions& options, size_t number) {
  if (options.time.find('%') != std::string::npos || options.time.find(':') == std::string::npos)
    return options.time;
  std::vector<std::string_view> spans = split(options.time, ':');
  return number < spans.size() ? std::string(spans[number]) : std::string();
}

report::ReportOptions report_options(const std::string& path, size_t number,
                                     const DiffOptions& options) {
  report::ReportOptions o;
  o.input = path;
  o.force = options.force;
  o.verbose = options.verbose;
  o.sort = options.sort;
  o.children = false;
  o.group = false;
  o.branch_stack = false;
  o.skip_empty = false;
  o.only_rows = true;
  o.ipc_beside_symbol = false;
  o.call_graph.style = view::GraphStyle::kNone;
  o.relative = options.relative;
  o.comms = options.comms;
  o.dsos = options.dsos;
  o.symbols = options.symbols;
  o.pids = options.pids;
  o.tids = options.tids;
  o.cpus = options.cpus;
  o.time = time_of(options, number);
  o.separator = options.separator;
  if (options.streams) {
    o.sort = "srcline,symbol,dso";
    o.branch_history = o.merge_lines = true;
    o.call_graph.style = view::GraphStyle::kAbsolute;
  }
  o.symbol_sources = options.symbol_sources;
  o.shows_host = options.shows_host;
  o.shows_guests = options.shows_guests;
  return o;
}

bool names(std::string_view keys, std::string_view part) {
  return keys.find(part) != std::string_view::npos;
}

}  // namespace

DiffInput::DiffInput(std::string path, std::unique_ptr<report::Outside> outside, Session session)
    : path_(std::move(path)),
      outside_(std::move(outside)),
      session_(std::move(session)),
      traces_(session_) {}

Result<std::unique_ptr<DiffInput>> DiffInput::open(const std::string& path, size_t number,
                                                   const DiffOptions& options, Env& env) {
  SessionOptions how;
  how.open.force = options.force;
  how.open.stdin_fd = env.in_fd;
  how.symbols = options.symbol_sources;
  how.late_names = true;
  how.filter.cpus = options.cpus;
  how.chains.reset();
  if (options.streams || need_chains(options.sort)) how.chains = {.check = env.tool != "perf"};
  report::ReportOptions rows = report_options(path, number, options);
  how.narrow = [&rows](const EventTable& events, const Features&, SessionOptions& narrowed) {
    report::choose_branch_history(rows, events, narrowed);
  };
  auto outside = std::make_unique<report::Outside>(env, &env.losses);
  Session session = TRY(Session::open(path, how, outside->env));
  if (options.cycles) session.load_all_symbols();
  std::unique_ptr<DiffInput> input(new DiffInput(path, std::move(outside), std::move(session)));
  TRY(input->build(options, number));
  return input;
}

Result<> DiffInput::build(const DiffOptions& options, size_t number) {
  options_ = report_options(path_, number, options);
  plan_ = TRY(report::make_plan(options_, session_, traces_));
  for (const OrderTerm& term : plan_.columns)
    if (!term.is_key && term.weight != Weight::kOverhead)
      return fail(ErrorCode::kUsage, "-s: diff has its own columns for weights; -p shows periods");
  if (names(*options_.sort, "src")) prepare_lines(session_);
  builder_ = std::make_unique<report::ReportBuilder>(session_, traces_, options_, plan_,
                                                     outside_->env.tool);
  events_ = TRY(builder_->build());
  return {};
}

void DiffInput::find_counterparts(const DiffInput& baseline, bool long_names) {
  counterparts_ = Counterparts(compared_side(baseline.session_, long_names),
                               compared_side(session_, long_names));
}

std::string DiffInput::matched_names() const {
  bool tasks = false, objects = false;
  for (const auto& event : events_)
    for (size_t i = 0; i < event->data->keys.size(); ++i) {
      NameKind names = event->data->keys.key(i).names();
      tasks = tasks || names == NameKind::kTask;
      objects = objects || names == NameKind::kObject;
    }
  return counterparts_.sentence(tasks, objects);
}

const report::EventReport* DiffInput::find(const abi::EventAttr& attr) const {
  for (const auto& event : events_) {
    const abi::EventAttr& own = desc(*event).attr;
    if (own.type == attr.type && own.config == attr.config) return event.get();
  }
  return nullptr;
}

uint64_t total_of(const report::EventReport& event, bool relative) {
  const ProfileTotals& totals = event.data->profiles[0]->totals();
  return relative ? totals.shown_sample_period : totals.period;
}

}  // namespace sonde::diff
