#include "trace/views/trace_view.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/printing/printable.h"
#include "trace/arguments/field_texts.h"

namespace sonde {
namespace {

bool lists(const std::vector<uint32_t>& list, int64_t value) {
  return std::ranges::find(list, static_cast<uint32_t>(value)) != list.end();
}

bool is_fault(const abi::EventAttr& attr) {
  return attr.type == abi::kTypeSoftware &&
         (attr.config == abi::kSwPageFaults || attr.config == abi::kSwPageFaultsMin ||
          attr.config == abi::kSwPageFaultsMaj);
}

std::vector<std::string> names_of(const std::vector<TracedEvent>& events) {
  std::vector<std::string> names;
  for (const TracedEvent& event : events) names.push_back(event.name);
  return names;
}

CallLineOptions options_for(const Sink& out, CallLineOptions options) {
  options.is_shown = out.is_shown();
  return options;
}

/// Adds what the kernel counted to a table: each call was an entry and a return.
void add_totals(const CallTotals& row, std::map<SyscallKey, CallStats>& calls) {
  CallStats& stats = calls[{row.abi, row.number}];
  stats.add(row.calls, row.errors, row.total_ns, row.min_ns, row.max_ns, row.squares_ns2);
  for (const CallTotals::ErrorCount& error : row.by_errno)
    stats.add_errno(error.error, error.count);
}

}  // namespace

TraceView::TraceView(TraceViewOptions options, const std::vector<TracedEvent>& events,
                     CallTexts& texts, TracedTasks& tasks, TraceLocations* places, Sink& out)
    : options_(std::move(options)),
      events_(events),
      texts_(texts),
      tasks_(tasks),
      places_(places),
      out_(out),
      lines_(options_for(out, options_.lines), texts),
      pairs_(names_of(events)) {
  for (size_t i = 0; i < events.size(); ++i) {
    EventPlan& plan = plans_.emplace_back();
    const TracedEvent& event = events[i];
    if (i < options_.max_per_event.size()) plan.most = options_.max_per_event[i];
    if (is_fault(event.attr)) plan.kind = Kind::kFault;
    if (event.format == nullptr) continue;
    if (options_.kernel_text) plan.program = PrintProgram::compile(*event.format, {});
    plan.runtime = event.format->field("runtime");
    if (options_.tables.runtime && event.format->name() == "sched_stat_runtime" &&
        plan.runtime != nullptr)
      plan.kind = Kind::kRuntime;
  }
}

bool TraceView::is_done() const {
  return (options_.max_events != 0 && lines_.lines_made() >= options_.max_events) ||
         out_.failed() != 0;
}

void TraceView::write_line() {
  if (line_.empty()) return;
  out_.write_lines(line_);
  line_.clear();
}

bool TraceView::wanted(const TraceItem& item) const {
  int64_t pid = item.call.pid, tid = item.call.tid, cpu = item.call.cpu;
  if (item.kind == TraceItem::Kind::kSample) {
    pid = item.sample->id.pid;
    tid = item.sample->id.tid;
    cpu = item.sample->id.cpu;
  }
  if (!options_.pids.empty() && !lists(options_.pids, pid)) return false;
  if (!options_.tids.empty() && !lists(options_.tids, tid)) return false;
  if (!options_.cpus.empty() && !lists(options_.cpus, cpu)) return false;
  return !lists(options_.not_pids, pid) && !lists(options_.not_pids, tid);
}

void TraceView::consume(const TraceItem& item) {
  switch (item.kind) {
    case TraceItem::Kind::kTask:
      return take_task(item.task, item.time_ns);
    case TraceItem::Kind::kLost:
      lost_ += item.lost;
      texts_.lost();
      fmt::format_to(std::back_inserter(line_), "LOST {} events!\n", item.lost);
      return write_line();
    case TraceItem::Kind::kCall:
    case TraceItem::Kind::kSample:
      break;
  }
  if (!wanted(item)) return;
  lines_.set_base(item.call.has_entry ? item.call.entry_ns : item.time_ns);
  if (item.sample != nullptr && options_.gate.in_use() &&
      !options_.gate.shows(EventId(size_t{item.event})))
    return;
  if (item.kind == TraceItem::Kind::kCall)
    take_call(item);
  else
    take_sample(item);
}

void TraceView::take_task(const TaskNews& news, uint64_t time_ns) {
  if (places_ != nullptr) places_->apply(news, time_ns);
  switch (news.kind) {
    case TaskNews::Kind::kComm:
      tasks_.rename(news.pid, news.tid, news.comm);
      return;
    case TaskNews::Kind::kFork:
      tasks_.fork(news.pid, news.tid, news.parent_tid);
      return;
    case TaskNews::Kind::kExit:
      if (TracedTask* task = tasks_.find(news.tid)) lines_.forget(*task, line_);
      write_line();
      tasks_.exit(news.tid);
      texts_.ended(news.pid, news.tid);
      pairs_.forget(news.tid);
      return;
    case TaskNews::Kind::kMemory:
      return;
  }
}

CallLines::ChainOf TraceView::chain_of(const TraceItem& item) {
  if (places_ == nullptr || item.sample == nullptr ||
      !item.layout->attr().samples(abi::kSampleCallchain))
    return {};
  size_t depth = places_->resolve_chain(*item.sample, *item.layout, item.time_ns);
  return {depth, [this](std::string& out) { places_->append_chain(out_.is_shown(), out); }};
}

void TraceView::count_call(TracedTask& task, const SyscallEvent& call) {
  bool known = call.has_entry || (task.entry_ns != 0 && task.entry_number == call.number);
  uint64_t entry = call.has_entry ? call.entry_ns : task.entry_ns;
  uint64_t duration = known && call.exit_ns > entry ? call.exit_ns - entry : 0;
  task.calls[{call.abi, call.number}].add(duration, call.result, options_.tables.errnos);
}

void TraceView::take_call(const TraceItem& item) {
  // A return from a signal handler is reported with the number -1: it belongs to no call.
  constexpr uint32_t kNoCall = UINT32_MAX;
  const SyscallEvent& call = item.call;
  if (!options_.wants_calls || !options_.calls.has(call.abi, call.number)) return;
  TracedTask& task = tasks_.of(call.pid, call.tid);
  // An entry and a return are one event each, whether or not they come together.
  uint64_t news =
      (call.has_exit ? 1 : 0) + (call.has_entry && !CallLines::is_in(task, call) ? 1 : 0);
  all_events_ += news;
  if (call.number == kNoCall) return;
  if (!call.comm.empty() && task.comm != call.comm) tasks_.rename(call.pid, call.tid, call.comm);
  task.events += news;
  if (options_.print_samples) append_sample_facts(item, line_);
  if (!call.has_exit) {
    lines_.enter(task, call, line_);
    return write_line();
  }
  if (options_.summary) count_call(task, call);
  CallLines::ChainOf chain = options_.lines.lines ? chain_of(item) : CallLines::ChainOf{};
  if (call.has_entry)
    lines_.whole(task, call, chain, line_);
  else
    lines_.leave(task, call, chain, line_);
  write_line();
}

void TraceView::take_sample(const TraceItem& item) {
  EventPlan& plan = plans_[item.event];
  if (plan.kind == Kind::kFault) return take_fault(item);
  auto duration_ns =
      pairs_.take(item.event, static_cast<int32_t>(item.sample->id.tid), item.time_ns);
  if (item.event < options_.hidden_events.size() && options_.hidden_events[item.event] != 0) return;
  ++all_events_;
  if (plan.kind == Kind::kRuntime) return take_runtime(plan, item);
  if (!options_.lines.lines || (plan.most != 0 && plan.printed >= plan.most)) return;
  CallLines::ChainOf chain = chain_of(item);
  if (chain.append && chain.depth < options_.min_stack) return;
  if (lines_.shows_cut_lines()) lines_.interrupt(line_);
  append_event(plan, item, duration_ns, line_);
  if (chain.append) chain.append(line_);
  lines_.count_line();
  ++plan.printed;
  write_line();
}

void TraceView::append_event(const EventPlan& plan, const TraceItem& item,
                             std::optional<uint64_t> duration_ns, std::string& out) {
  const TracedEvent& event = events_[item.event];
  const Sample& sample = *item.sample;
  lines_.append_time(item.time_ns, out);
  if (options_.wants_calls || !pairs_.empty()) lines_.append_duration(duration_ns, out);
  lines_.append_task(
      tasks_.of(static_cast<int32_t>(sample.id.pid), static_cast<int32_t>(sample.id.tid)), out);
  size_t begin = out.size();
  out += event.name;
  out += '(';
  if (plan.program)
    plan.program->print(sample.raw, print_context_, out);
  else if (item.call.has_entry)
    texts_.append_arguments(item.call, out);
  else if (event.format != nullptr)
    append_fields(*event.format, sample.raw, sample.order, tasks_, texts_.types(), out);
  if (out_.is_shown()) make_message_printable(out, begin);
  out += ")\n";
}

void TraceView::take_fault(const TraceItem& item) {
  ++all_events_;
  const Sample& sample = *item.sample;
  TracedTask& task =
      tasks_.of(static_cast<int32_t>(sample.id.pid), static_cast<int32_t>(sample.id.tid));
  ++task.events;
  bool major = events_[item.event].attr.config == abi::kSwPageFaultsMaj;
  ++(major ? task.major_faults : task.minor_faults);
  if (!options_.lines.lines || places_ == nullptr) return;
  CallLines::ChainOf chain = chain_of(item);
  if (chain.append && chain.depth < options_.min_stack) return;
  lines_.append_fault_head(task, item.time_ns, line_);
  line_ += major ? "majfault " : "minfault ";
  size_t begin = line_.size();
  places_->append_fault(sample, item.time_ns, options_.verbose > 0, line_);
  if (out_.is_shown()) make_printable(line_, begin);
  line_ += '\n';
  if (chain.append) chain.append(line_);
  lines_.count_line();
  write_line();
}

void TraceView::take_runtime(const EventPlan& plan, const TraceItem& item) {
  const Sample& sample = *item.sample;
  const TracepointField& field = *plan.runtime;
  if (field.size != sizeof(uint64_t) || field.offset + sizeof(uint64_t) > sample.raw.size()) return;
  TracedTask& task =
      tasks_.of(static_cast<int32_t>(sample.id.pid), static_cast<int32_t>(sample.id.tid));
  ++task.events;
  task.runtime_ns += load<uint64_t>(sample.raw.data() + field.offset, sample.order);
}

void TraceView::append_sample_facts(const TraceItem& item, std::string& out) const {
  if (item.sample == nullptr) return;
  const SampleId& id = item.sample->id;
  size_t begin = out.size();
  fmt::format_to(std::back_inserter(out), "{:22} {:10} {} [{:03}]", events_[item.event].name,
                 item.time_ns, id.tid, id.has_cpu() ? static_cast<int>(id.cpu) : -1);
  if (out_.is_shown()) make_printable(out, begin);
  out += '\n';
}

std::vector<SummaryGroup> TraceView::groups_by_cgroup(const std::vector<CallTotals>& totals) const {
  std::map<std::string, SummaryGroup> by_name;
  for (const CallTotals& row : totals) {
    auto path = options_.cgroups.find(row.cgroup);
    std::string name = path != options_.cgroups.end() ? "cgroup " + path->second
                                                      : fmt::format("cgroup {}", row.cgroup);
    SummaryGroup& group = by_name[name];
    group.name = name;
    group.events += 2 * row.calls;
    add_totals(row, group.calls);
  }
  std::vector<SummaryGroup> all;
  for (auto& [name, group] : by_name) all.push_back(std::move(group));
  return all;
}

std::vector<SummaryGroup> TraceView::groups(const std::vector<CallTotals>& totals) {
  if (options_.tables.mode == SummaryMode::kCgroup) return groups_by_cgroup(totals);
  for (const CallTotals& row : totals) {
    TracedTask& task = tasks_.of(row.pid, row.tid);
    if (!row.comm.empty()) tasks_.rename(row.pid, row.tid, row.comm);
    add_totals(row, task.calls);
    task.events += 2 * row.calls;
    all_events_ += 2 * row.calls;
  }
  if (options_.tables.mode == SummaryMode::kThread) return groups_by_thread(tasks_.all());
  return {group_of_all(tasks_.all())};
}

void TraceView::finish(const std::vector<CallTotals>& totals) {
  for (TracedTask* task : tasks_.with_open_calls()) lines_.forget(*task, line_);
  write_line();
  if (!options_.summary) return;
  std::vector<SummaryGroup> tables = groups(totals);  // also counts all_events_
  write_summary(out_, tables, all_events_, options_.tables, texts_);
}

}  // namespace sonde
