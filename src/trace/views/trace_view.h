// TraceView: what `trace` prints for the items of a source: lines for calls, events and page faults
// as they come, tables at the end.
//
//   TraceView view = TRY(TraceView::make(options, source.events(), texts, sink, …));
//   while (const TraceItem* item = source.front()) {
//     view.consume(*item);
//     source.pop();
//     if (view.is_done()) …
//   }
//   view.finish();
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sink.h"
#include "event/print_fmt/print_fmt.h"
#include "replay/fields/event_window.h"
#include "trace/sources/trace_source.h"
#include "trace/sources/traced_tasks.h"
#include "trace/views/call_filter.h"
#include "trace/views/call_lines.h"
#include "trace/views/probe_pairs.h"
#include "trace/views/summary_text.h"
#include "trace/views/trace_locations.h"

namespace sonde {

struct TraceViewOptions {
  CallLineOptions lines;
  CallFilter calls;                 // the calls to show
  bool wants_calls = true;          // --no-syscalls
  std::vector<char> hidden_events;  // by event of the source, 1: hidden; empty: none
  bool summary = false;             // -s, -S
  SummaryOptions tables;
  std::map<uint64_t, std::string> cgroups;  // paths by id, for tables by cgroup
  bool kernel_text = false;                 // --libtraceevent_print
  bool print_samples = false;               // --print-sample
  uint64_t max_events = 0;                  // --max-events; 0: no limit
  std::vector<uint64_t> max_per_event;      // nr=, by event of the source; 0: no limit
  uint32_t max_stack = 127;
  uint32_t min_stack = 0;
  std::vector<uint32_t> pids, tids, cpus;  // of a recording; empty: all
  std::vector<uint32_t> not_pids;
  EventWindow gate;
  int verbose = 0;
};

class TraceView {
 public:
  /// `places` may be null if neither call chains nor page faults are shown. All arguments outlive
  /// the view.
  TraceView(TraceViewOptions options, const std::vector<TracedEvent>& events, CallTexts& texts,
            TracedTasks& tasks, TraceLocations* places, Sink& out);

  void consume(const TraceItem& item);
  /// --max-events events have been printed.
  [[nodiscard]] bool is_done() const;
  /// Writes the pending lines and the tables; `totals` are what the kernel counted instead of
  /// calls.
  void finish(const std::vector<CallTotals>& totals);
  [[nodiscard]] uint64_t lost() const { return lost_; }

 private:
  /// How an event's samples are shown.
  enum class Kind : uint8_t { kFields, kFault, kRuntime };
  struct EventPlan {
    Kind kind = Kind::kFields;
    std::optional<PrintProgram> program;
    uint64_t printed = 0, most = 0;
    const TracepointField* runtime = nullptr;
  };

  [[nodiscard]] bool wanted(const TraceItem& item) const;
  void take_call(const TraceItem& item);
  void take_sample(const TraceItem& item);
  void take_task(const TaskNews& news, uint64_t time_ns);
  void take_fault(const TraceItem& item);
  void take_runtime(const EventPlan& plan, const TraceItem& item);
  void count_call(TracedTask& task, const SyscallEvent& call);
  void append_event(const EventPlan& plan, const TraceItem& item,
                    std::optional<uint64_t> duration_ns, std::string& out);
  void append_sample_facts(const TraceItem& item, std::string& out) const;
  [[nodiscard]] CallLines::ChainOf chain_of(const TraceItem& item);
  [[nodiscard]] std::vector<SummaryGroup> groups(const std::vector<CallTotals>& totals);
  [[nodiscard]] std::vector<SummaryGroup> groups_by_cgroup(
      const std::vector<CallTotals>& totals) const;
  void write_line();

  TraceViewOptions options_;
  const std::vector<TracedEvent>& events_;
  CallTexts& texts_;
  TracedTasks& tasks_;
  TraceLocations* places_;
  Sink& out_;
  CallLines lines_;
  std::vector<EventPlan> plans_;
  ProbePairs pairs_;
  PrintContext print_context_;
  std::string line_;
  uint64_t all_events_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace sonde
