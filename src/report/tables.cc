#include "report/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <span>

#include "base/bounds/regex.h"
#include "base/text.h"
#include "datatype/session_types.h"
#include "replay/fields/chosen_names.h"
#include "replay/fields/parallelism.h"
#include "replay/fields/time_ranges.h"
#include "replay/frames/idle_frames.h"
#include "report/data.h"
#include "report/function_ipc.h"

namespace sonde::report {
namespace {

CallKey call_key(const ReportOptions& options) {
  if (!options.branch_history) return options.call_graph.key;
  return options.merge_lines ? CallKey::kSrcline : CallKey::kAddress;
}

}  // namespace

ReportBuilder::ReportBuilder(const Session& session, const TraceTexts& traces,
                             const ReportOptions& options, const Plan& plan, std::string_view tool,
                             std::shared_ptr<datatype::SessionTypes> types)
    : session_(session),
      options_(options),
      plan_(plan),
      tool_(tool),
      adapter_(session),
      input_(adapter_.input()),
      data_types_(types ? std::move(types) : std::make_shared<datatype::SessionTypes>(session)) {
  settings_.nanoseconds = options.nanoseconds;
  settings_.time_quantum_ns = options.time_quantum_ns;
  settings_.raw_trace = options.raw_trace;
  settings_.verbose = options.verbose > 0;
  settings_.separator = options.separator.empty() ? '\0' : options.separator[0];
  settings_.dso_filter = !options.dsos.empty();
  settings_.parent_pattern = options.parent.value_or("^sys_|^do_page_fault");
  settings_.caller_order = plan.caller_order;
  settings_.traces = &traces;
  settings_.data_types = data_types_.get();
  // Rows that are not of functions have no such figure.
  if (std::ranges::any_of(plan.keys, [](const KeySelection& key) {
        return key.info != nullptr && key.info->name == "symbol";
      })) {
    ipcs_ = std::make_unique<FunctionIpcs>(session);
    settings_.ipc = [this](SymbolId symbol) { return ipcs_->of(symbol); };
  }
  if (plan.needs_parallelism) {
    parallelism_ = parallelism_of_samples(session);
    settings_.parallelism = &parallelism_;
  }
}

ReportBuilder::~ReportBuilder() = default;

std::vector<std::string> ReportBuilder::notes() const {
  return data_types_->notes();
}

Result<std::vector<std::unique_ptr<EventReport>>> ReportBuilder::build(EventWindow* window) {
  const ReplayCounts& counts = session_.counts();
  const auto& range = session_.recording().features().sample_time;
  if (options_.time.find('%') != std::string::npos && !range)
    return fail(
        ErrorCode::kFailed,
        "--time with a share of the recording: it does not say when it begins and ends; record "
        "with --timestamp-boundary, or give seconds");
  times_ = TRY(parse_time_ranges(options_.time, range ? range->first_ns : counts.first_time_ns,
                                 range ? range->last_ns : counts.last_time_ns));
  EventWindow first = TRY(EventWindow::make(options_.gate, session_.events(), tool_));
  off_ = gated_off(window != nullptr ? *window : first);
  hidden_ = TRY(hidden_samples());
  root_frames_ = TRY(root_frames());
  if (options_.leave_out_idle) idle_frames_ = frames_of_idle_functions(session_);
  sort_by_event();
  std::vector<std::unique_ptr<EventReport>> reports;
  std::vector<std::vector<EventId>> all = tables();
  for (const std::vector<EventId>& members : all) {
    std::unique_ptr<EventReport> report = TRY(build_one(members, &members == &all.back()));
    const ProfileTotals& leader = report->data->profiles[0]->totals();
    if (options_.skip_empty && leader.samples == 0) continue;
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<std::vector<EventId>> ReportBuilder::tables() const {
  const EventTable& events = session_.events();
  std::vector<std::vector<EventId>> found;
  std::vector<size_t> table_of(events.size(), SIZE_MAX);
  for (size_t i = 0; i < events.size(); ++i) {
    EventId leader = events[EventId(i)].leader;
    bool joins = options_.group && leader.valid() && leader.index() < i &&
                 table_of[leader.index()] != SIZE_MAX;
    if (options_.group_forced && !is_pipe() && i > 0 &&
        session_.recording().features().groups.empty()) {
      joins = true;
      leader = EventId(size_t{0});
    }
    if (joins) {
      found[table_of[leader.index()]].push_back(EventId(i));
      continue;
    }
    table_of[i] = found.size();
    found.push_back({EventId(i)});
  }
  return found;
}

/// A recording may have as many events as samples: each table must not look at all of them.
void ReportBuilder::sort_by_event() {
  const SampleColumns& samples = session_.samples();
  event_starts_.assign(session_.events().size() + 1, 0);
  for (uint32_t i = 0; i < samples.size(); ++i) ++event_starts_[samples.event[i] + 1];
  std::partial_sum(event_starts_.begin(), event_starts_.end(), event_starts_.begin());
  std::vector<size_t> next(event_starts_.begin(), event_starts_.end() - 1);
  by_event_.resize(samples.size());
  for (uint32_t i = 0; i < samples.size(); ++i) by_event_[next[samples.event[i]]++] = i;
}

std::vector<uint32_t> ReportBuilder::samples_of(EventId event) const {
  const SampleColumns& samples = session_.samples();
  std::span<const uint32_t> own =
      std::span(by_event_).subspan(event_starts_[event.index()],
                                   event_starts_[event.index() + 1] - event_starts_[event.index()]);
  std::vector<uint32_t> found;
  found.reserve(own.size());
  for (uint32_t i : own)
    if (off_.empty() || off_[i] == 0) found.push_back(i);
  if (!times_.empty())
    std::erase_if(found, [&](uint32_t i) { return !is_in(times_, samples.time[i]); });
  if (!options_.shown_cpus.empty())
    std::erase_if(found, [&](uint32_t i) {
      return std::ranges::find(options_.shown_cpus, samples.cpu[i]) == options_.shown_cpus.end();
    });
  if (options_.leave_out_kernel)
    std::erase_if(found, [&](uint32_t i) { return samples.cpu_mode[i] == abi::kMiscKernel; });
  if (options_.leave_out_user)
    std::erase_if(found, [&](uint32_t i) { return samples.cpu_mode[i] == abi::kMiscUser; });
  if (options_.leave_out_idle)
    std::erase_if(found, [&](uint32_t i) {
      return samples.leaf[i].valid() && idle_frames_[samples.leaf[i].index()] != 0;
    });
  if (options_.hide_unresolved)
    std::erase_if(found, [&](uint32_t i) { return !input_.frame(samples.leaf[i]).symbol.valid(); });
  return found;
}

/// Rows with samples of several levels keep those of the wanted ones, so samples of others cannot
/// be hidden with their rows.
LeftOut ReportBuilder::leave_out_levels(std::vector<uint32_t>& samples) const {
  LeftOut left_out;
  if (options_.parallelism.empty()) return left_out;
  auto is_wanted = [this](uint32_t level) {
    return std::ranges::find(options_.parallelism, static_cast<int>(level)) !=
           options_.parallelism.end();
  };
  std::erase_if(samples, [&](uint32_t i) {
    uint32_t level = parallelism_[i];
    if (is_wanted(level)) return false;
    ++left_out.samples;
    left_out.period += session_.samples().period[i];
    left_out.latency += latency_of(session_.samples().period[i], level);
    return true;
  });
  return left_out;
}

std::vector<uint8_t> ReportBuilder::gated_off(EventWindow& window) const {
  std::vector<uint8_t> off;
  if (!window.in_use()) return off;
  off.resize(session_.samples().size());
  for (uint32_t i : session_.time_order())
    off[i] = window.shows(EventId(size_t{session_.samples().event[i]})) ? 0 : 1;
  return off;
}

/// Without recorded groups, --no-group first joins all events into one and then splits it.
bool ReportBuilder::leads_others(EventId event) const {
  const EventTable& events = session_.events();
  if (is_pipe()) return false;  // its events are not yet known when perf joins them
  if (session_.recording().features().groups.empty())
    return event.index() == 0 && events.size() > 1;
  for (size_t i = event.index() + 1; i < events.size(); ++i)
    if (events[EventId(i)].leader == event) return true;
  return false;
}

std::string ReportBuilder::name_of(const std::vector<EventId>& members) const {
  const EventTable& events = session_.events();
  if (members.size() == 1) return events[members[0]].name;
  std::vector<std::string> names;
  for (EventId member : members) names.push_back(events[member].name);
  std::string list = join(names, ", ");
  bool recorded = events[members.back()].leader == members[0];
  if (!recorded) return list;
  const std::string& group = events[members[0]].group_name;
  return fmt::format("{} {{ {} }}", group.empty() ? "anon group" : group, list);
}

Result<std::vector<uint8_t>> ReportBuilder::root_frames() const {
  if (!options_.ignore_callees) return std::vector<uint8_t>();
  Result<Regex> pattern = Regex::compile(*options_.ignore_callees);
  if (!pattern) return fail(ErrorCode::kFailed, "Invalid regex: {}", pattern.error().message);
  std::vector<uint8_t> is_root;
  for (const Frame& frame : session_.frames())
    is_root.push_back(frame.symbol.valid() && pattern->matches(adapter_.name(frame.symbol)) ? 1
                                                                                            : 0);
  return is_root;
}

/// Callers have rows of their own: --symbol-filter is about the symbol that a row shows.
bool ReportBuilder::filters_rows() const {
  const SortKeyInfo* symbol = find_sort_key("sym");
  return plan_.children && options_.symbol_filter &&
         std::ranges::any_of(plan_.keys, [&](const KeySelection& k) { return k.info == symbol; });
}

/// The command line's filters hide samples, but keep them in the totals.
Result<std::vector<uint8_t>> ReportBuilder::hidden_samples() const {
  const SampleColumns& samples = session_.samples();
  std::unique_ptr<SortKey> parent;
  if (plan_.has_parent && options_.exclude_other)
    parent = TRY(find_sort_key("parent")->make(input_, settings_));
  bool any = !options_.comms.empty() || !options_.dsos.empty() || !options_.symbols.empty() ||
             !options_.pids.empty() || !options_.tids.empty() ||
             (options_.symbol_filter && !filters_rows()) || parent != nullptr ||
             options_.socket >= 0 || !options_.shows_host || !options_.shows_guests.value_or(true);
  std::vector<uint8_t> hidden;
  if (!any) return hidden;
  RowReader reader(input_);
  auto has = [](const std::vector<uint32_t>& list, uint32_t id) {
    return list.empty() || std::ranges::find(list, id) != list.end();
  };
  ChosenNames comms(input_.strings, options_.comms);
  ChosenObjects objects(input_.dsos, options_.dsos);
  auto keeps_place = [&](const Frame& frame) {
    if (!objects.has(frame.dso)) return false;
    std::string_view name = frame.symbol.valid() ? adapter_.name(frame.symbol) : "";
    if (options_.symbol_filter && !filters_rows() &&
        name.find(*options_.symbol_filter) == std::string_view::npos)
      return false;
    return options_.symbols.empty() || (!name.empty() && is_listed(options_.symbols, name));
  };
  std::vector<uint8_t> place_hidden;
  for (const Frame& frame : session_.frames()) place_hidden.push_back(keeps_place(frame) ? 0 : 1);
  for (uint32_t i = 0; i < samples.size(); ++i) {
    bool keep = has(options_.pids, recorded_task(samples.pid[i])) &&
                has(options_.tids, recorded_task(samples.tid[i])) &&
                place_hidden[samples.leaf[i].index()] == 0 &&
                (is_guest_mode(samples.cpu_mode[i]) ? options_.shows_guests.value_or(true)
                                                    : options_.shows_host) &&
                (options_.socket < 0 || adapter_.socket_of(samples.cpu[i]) == options_.socket) &&
                comms.has(samples.comm[i]);
    if (keep && parent != nullptr) {
      reader.move_to(i);
      keep = parent->of_row(reader) != UINT64_MAX;
    }
    hidden.push_back(keep ? 0 : 1);
  }
  return hidden;
}

/// Paths that no call tree shows need not be told apart. Shares of a parent can be anything, and
/// with filters the total is known only later.
double ReportBuilder::min_path_share() const {
  bool absolute = options_.call_graph.style != view::GraphStyle::kRelative;
  return absolute && hidden_.empty() ? options_.call_graph.min_percent / 100 : 0;
}

std::function<bool(uint32_t, uint32_t)> ReportBuilder::row_filter(
    const EventReport::Data& data) const {
  if (!filters_rows()) return {};
  const SortKeyInfo* symbol = find_sort_key("sym");
  auto choice = static_cast<size_t>(std::ranges::find(plan_.keys, symbol, &KeySelection::info) -
                                    plan_.keys.begin());
  return [this, &keys = data.keys, key = data.key_of_choice[choice]](uint32_t group,
                                                                     uint32_t place_key) {
    std::string name = keys.key(key).identity(keys.value(key, group, place_key), 0);
    return name.find(*options_.symbol_filter) == std::string::npos;
  };
}

Result<std::unique_ptr<EventReport>> ReportBuilder::build_one(const std::vector<EventId>& members,
                                                              bool is_last) {
  auto report = std::make_unique<EventReport>();
  report->members = members;
  report->name = name_of(members);
  report->was_joined = options_.group_forbidden && leads_others(members[0]);
  report->data = std::make_shared<EventReport::Data>(input_);
  EventReport::Data& data = *report->data;
  for (const KeySelection& choice : plan_.keys) {
    if (choice.info != nullptr) {
      data.key_of_choice.push_back(data.keys.size());
      data.keys.add(plan_.rows == RowsOf::kBranches
                        ? TRY(make_branch_target_key(*choice.info, input_, settings_))
                        : TRY(choice.info->make(input_, settings_)));
    } else if (choice.event == members[0]) {
      data.key_of_choice.push_back(data.keys.size());
      data.keys.add(make_field_key(input_, settings_, choice.event, *choice.field, choice.raw));
    } else {
      data.key_of_choice.push_back(SIZE_MAX);
    }
  }
  data.keys.seal();
  bool keeps_members = plan_.branch_counts || options_.browser_samples > 0;
  ProfileOptions options{.children = plan_.children,
                         .call_graph = plan_.call_graph,
                         .caller_order = plan_.caller_order,
                         .call_key = call_key(options_),
                         // Chains with branches are as long as they should be.
                         .max_stack = session_.branch_history() ? UINT32_MAX : options_.max_stack,
                         .min_path_share = keeps_members ? 0 : min_path_share(),
                         .by_mode = plan_.needs_modes,
                         .by_source = plan_.needs_sources,
                         .by_weight = plan_.rows == RowsOf::kMemory,
                         .by_branch = plan_.rows == RowsOf::kBranches,
                         .branch_counts = plan_.branch_counts,
                         .keep_samples = options_.browser_samples > 0,
                         .hidden = hidden_,
                         .hides_row = row_filter(data),
                         .is_root_frame = root_frames_};
  std::vector<const Profile*> profiles;
  ProfileOptions by_latency = options;
  by_latency.by_weight = true;
  by_latency.parallelism = &parallelism_;
  by_latency.call_graph = false;
  std::vector<const Profile*> latencies;
  for (EventId member : members) {
    std::vector<uint32_t> samples = samples_of(member);
    LeftOut left_out = leave_out_levels(samples);
    data.left_out.push_back(left_out);
    data.profiles.push_back(
        std::make_unique<Profile>(build_profile(data.input, data.keys, samples, options)));
    profiles.push_back(data.profiles.back().get());
    const ProfileTotals& totals = profiles.back()->totals();
    samples_ += totals.samples + left_out.samples;
    report->samples += options_.relative ? totals.shown_samples : totals.samples + left_out.samples;
    report->period += total_of(*profiles.back(), left_out.period, options_.relative);
    if (!plan_.needs_latency) continue;
    data.latencies.push_back(
        std::make_unique<Profile>(build_profile(data.input, data.keys, samples, by_latency)));
    latencies.push_back(data.latencies.back().get());
  }
  // What was read again of the records is not needed any more.
  if (is_last) session_.recording().release_pages();
  data.rows = std::make_unique<TableRows>(std::move(profiles), data.keys, latencies);
  TableRows::SortOptions sorting;
  for (const OrderTerm& term : plan_.order) {
    if (!term.is_key)
      sorting.terms.push_back(term);
    else if (data.key_of_choice[term.key] != SIZE_MAX)
      sorting.terms.push_back(OrderTerm::of_key(data.key_of_choice[term.key]));
  }
  if (plan_.children && plan_.call_graph)
    sorting.depth = plan_.caller_order ? TableRows::DepthRule::kDeepestFirst
                                       : TableRows::DepthRule::kDeepestLast;
  if (options_.group_sort_index > 0 &&
      static_cast<size_t>(options_.group_sort_index) < members.size())
    sorting.first_member = static_cast<size_t>(options_.group_sort_index);
  data.rows->sort(sorting);
  if (options_.only_rows) return report;
  if (options_.hierarchy)
    fill_hierarchy(*report, options_, plan_);
  else
    fill_table(*report, options_, plan_);
  return report;
}

}  // namespace sonde::report
