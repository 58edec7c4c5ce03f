// The events of a command line, parsed: the result of `-e`, `--filter` and `--exclude-perf`.
//
// A ParsedEvent says *what* to count or sample: type and config, who is excluded, groups, and the
// terms given for this event alone. *How* to sample (frequency, sample bits, buffers) is up to the
// command, which starts from `attr` and lets `terms` override its own options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/perf_event.h"
#include "base/error.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {

enum class CallGraphTerm : uint8_t { kNone, kFramePointer, kDwarf, kLbr };

/// Terms given for one event; an unset one leaves the command's option in force.
struct EventTerms {
  std::optional<uint64_t> period;  // period=N: like -c N
  std::optional<uint64_t> freq;    // freq=N: like -F N
  std::optional<bool> time;        // time=0|1: timestamps
  std::optional<CallGraphTerm> call_graph;
  std::optional<uint64_t> stack_size;  // bytes of user stack, for call-graph=dwarf
  std::optional<uint32_t> max_stack;   // frames
  std::optional<uint32_t> max_events;  // nr=N, for trace
  std::optional<bool> inherit;
  std::optional<bool> overwrite;
  std::optional<uint64_t> branch_type;  // branch_sample_type bits
  std::optional<uint64_t> aux_sample_size;
  std::optional<std::string> driver_config;  // @name: text for the PMU's driver
  bool percore = false;
  bool aux_output = false;
  uint32_t aux_action = 0;  // abi::EventAttr::aux_action bits
  std::vector<int> cpus;    // cpu=0-3; empty: all
  bool operator==(const EventTerms&) const = default;
};

/// Events that are not kernel events: `stat` measures them itself.
enum class ToolEvent : uint8_t { kNone, kDurationTime, kUserTime, kSystemTime };

struct ParsedEvent {
  std::string name;     // as the user wrote it; for tracepoints system:name; for name=X, X
  abi::EventAttr attr;  // type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive
  EventTerms terms;
  TracepointName tracepoint;  // set for type kTypeTracepoint
  std::string filter;         // for the kernel (tracepoints) or the PMU (addresses)
  ToolEvent tool = ToolEvent::kNone;
  std::optional<uint32_t> bpf_program;  // from the EventFactory: decides which samples are kept

  uint32_t leader = 0;     // index of the group's leader; its own if not in a group
  std::string group_name;  // on the leader, if the user named the group: name{a,b}
  uint32_t option = 0;     // which -e it came from, counted from 0

  bool name_given = false;        // by name=: kept on a fallback to another event
  bool sample_read = false;       // S: read the whole group with each sample of the leader
  bool weak_group = false;        // W: dissolve the group if it cannot be scheduled
  bool precise_max = false;       // P: precise_ip 3, or less if the kernel refuses; attr has 0
  bool bpf_counter = false;       // b
  bool keep_group = false;        // X: never regroup
  bool exclude_given = false;     // u, k or h was given: no fallback may widen or narrow it
  bool host_guest_given = false;  // G or H was given

  std::string pmu;        // for pmu/…/ events: the PMU's name
  std::vector<int> cpus;  // where the PMU requires to be opened; empty: anywhere
  std::string unit;       // from the alias
  double scale = 1.0;
  bool per_package = false;
  bool snapshot = false;
  bool filters_addresses = false;  // a PMU that takes --filter
};

class EventList {
 public:
  [[nodiscard]] bool empty() const { return events_.empty(); }
  [[nodiscard]] size_t size() const { return events_.size(); }
  [[nodiscard]] const std::vector<ParsedEvent>& events() const { return events_; }
  [[nodiscard]] std::vector<ParsedEvent>& edit() { return events_; }
  [[nodiscard]] const ParsedEvent& operator[](size_t i) const { return events_[i]; }

  /// Number of members of the group led by event `leader`, including itself.
  [[nodiscard]] size_t group_size(size_t leader) const;

  /// Appends the events of one -e; their `leader` is relative to the first of them. Each call is
  /// one option.
  void append(std::vector<ParsedEvent> events);

  /// `--filter TEXT`: applies to all events of the last -e, and is combined with an existing
  /// filter: "(old) && (new)". Error kUsage if no -e precedes it or if that cannot take filters.
  Result<> add_filter(std::string_view text);
  /// `--exclude-perf`: excludes process `self` from the tracepoints of the last -e.
  Result<> exclude_process(int self);

 private:
  std::vector<ParsedEvent> events_;
  uint32_t options_ = 0;
};

/// Combines a filter with the one that an event has.
void join_filter(ParsedEvent& event, std::string_view text);

}  // namespace sonde
