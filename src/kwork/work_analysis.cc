#include "kwork/work_analysis.h"

#include <algorithm>

namespace sonde {

std::vector<TracepointRequest> work_requests(std::span<const WorkClass> classes) {
  std::vector<TracepointRequest> requests;
  std::span<const WorkTracepoint> all = work_tracepoints();
  for (size_t i = 0; i < all.size(); ++i) {
    const WorkTracepoint& event = all[i];
    if (std::ranges::find(classes, event.work_class) == classes.end()) continue;
    std::string_view second;
    if (event.work_class == WorkClass::kWorkqueue) second = "function";
    if (event.work_class == WorkClass::kSched) second = "next_pid";
    requests.push_back({event.name, static_cast<uint8_t>(i), {event.id, second, "common_pid"}});
  }
  return requests;
}

void WorkAnalysis::consume(const TracepointItem& item, const TracepointPipeline& pipeline) {
  const WorkTracepoint& event = work_tracepoints()[item.kind];
  if (event.work_class == WorkClass::kSched) {
    take_phase(WorkPhase::kExit, item.values[0], event.subject, item, pipeline);
    take_phase(WorkPhase::kEntry, item.values[1], "next_comm", item, pipeline);
    return;
  }
  // Interrupts take their time from the task that they interrupt.
  bool is_of_task = options_.view == WorkView::kShares;
  take_phase(event.phase, is_of_task ? item.values[2] : item.values[0], event.subject, item,
             pipeline);
}

void WorkAnalysis::take_phase(WorkPhase phase, uint64_t id, std::string_view subject,
                              const TracepointItem& item, const TracepointPipeline& pipeline) {
  bool shows_raise = options_.view == WorkView::kLatency || options_.view == WorkView::kHistory;
  if (phase == WorkPhase::kRaise && !shows_raise) return;
  if (phase == WorkPhase::kExit && options_.view == WorkView::kLatency) return;
  WorkKey key{work_tracepoints()[item.kind].work_class, item.cpu, id};
  Work& work = table_.find_or_add(key);
  // The first sample of a piece of work may not have its name.
  if (!work.has_name) names_->name(work, item, pipeline, subject);
  if (!counts(work, item.time)) return;
  switch (phase) {
    case WorkPhase::kRaise:
      return work.raise(item.time);
    case WorkPhase::kEntry:
      return enter(work, item);
    case WorkPhase::kExit:
      return exit(work, item);
  }
}

void WorkAnalysis::enter(Work& work, const TracepointItem& item) {
  if (options_.view == WorkView::kLatency) {
    if (WorkSpan span; work.end_raise(item.time, span)) work.add(span);
    return;
  }
  // For work that cannot nest, the end of an unfinished beginning was lost.
  if (options_.view == WorkView::kShares) work.drop_begun();
  work.begin(item.time);
  if (on_begin_) on_begin_(item);
}

void WorkAnalysis::exit(Work& work, const TracepointItem& item) {
  WorkSpan span;
  if (!work.end(item.time, span)) return;
  work.add(span);
  if (on_span_) on_span_(work, span);
}

void WorkAnalysis::add_sum(Work work) {
  if (is_wanted(work)) table_.find_or_add(work.key) = std::move(work);
}

bool WorkAnalysis::is_wanted(const Work& work) const {
  const WorkOptions& only = options_;
  if (!only.cpus.empty() && std::ranges::find(only.cpus, work.key.cpu) == only.cpus.end())
    return false;
  return only.name.empty() || only.view == WorkView::kShares || !work.has_name ||
         work.name == only.name;
}

bool WorkAnalysis::counts(const Work& work, uint64_t time) {
  const WorkOptions& only = options_;
  if (!only.time.has(time) || !is_wanted(work)) return false;
  if (first_ns_ == 0 || time < first_ns_) first_ns_ = time;
  last_ns_ = std::max(last_ns_, time);
  return true;
}

}  // namespace sonde
