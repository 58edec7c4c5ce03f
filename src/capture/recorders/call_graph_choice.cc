#include "capture/recorders/call_graph_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "capture/aux/trace_plan.h"

namespace sonde {
namespace {

bool is_tracepoint(const ParsedEvent& event) {
  return event.attr.type == abi::kTypeTracepoint;
}

constexpr uint64_t kMostWalks = 10'000;  // a second: more would take a CPU for themselves

/// What is recorded: without -e cycles, or the clock of the CPU in their place.
std::vector<ParsedEvent> recorded_events(const RecordOptions& options) {
  if (!options.events.empty()) return options.events.events();
  ParsedEvent cycles;
  cycles.name = "cycles";
  cycles.attr.type = abi::kTypeHardware;
  cycles.attr.config = abi::kHwCpuCycles;
  return {cycles};
}

/// Whether the samples of an event come so often that a walk for each would take longer than what
/// runs between two.
bool is_too_often(const ParsedEvent& event, const SamplingOptions& sampling) {
  constexpr uint64_t kFast = 4'000'000'000;  // cycles or instructions a second
  const abi::EventAttr& attr = event.attr;
  bool is_clock = attr.type == abi::kTypeSoftware &&
                  (attr.config == abi::kSwCpuClock || attr.config == abi::kSwTaskClock);
  bool is_cycles = attr.type == abi::kTypeHardware &&
                   (attr.config == abi::kHwCpuCycles || attr.config == abi::kHwInstructions);
  if (event.terms.freq) return *event.terms.freq > kMostWalks;
  std::optional<uint64_t> period = event.terms.period ? event.terms.period : sampling.period;
  if (period && is_clock) return *period < 1'000'000'000 / kMostWalks;
  if (period) return is_cycles && *period < kFast / kMostWalks;
  return sampling.freq_max || sampling.freq.value_or(0) > kMostWalks;
}

/// Whether samples are not of time, and (nearly) each time that the event happens is one.
bool is_each_time(const ParsedEvent& event, const SamplingOptions& sampling) {
  constexpr uint64_t kFewestBetween = 100;
  if (is_tracepoint(event)) return true;
  std::optional<uint64_t> period = event.terms.period ? event.terms.period : sampling.period;
  return period && *period < kFewestBetween;
}

/// The kernel runs one BPF program per event.
std::string other_program(const RecordOptions& options) {
  if (options.target.user_later && !options.target.user.empty())
    return "-u: the program that tells users apart has its place";
  for (const ParsedEvent& event : options.events.events())
    if (event.bpf_program)
      return fmt::format("{}: the program that filters samples has its place", event.name);
  return {};
}

/// The reason in an error that is also shown alone: "--call-graph bpf: REASON: use --call-graph …".
std::string_view reason_of(std::string_view message) {
  constexpr std::string_view kSubject = "--call-graph bpf: ";
  message = message.substr(0, message.find('\n'));
  if (message.starts_with(kSubject)) message.remove_prefix(kSubject.size());
  return message.substr(0, message.find(": use --call-graph"));
}

}  // namespace

std::string why_not_walked(const RecordOptions& options) {
  std::string_view other = options.sampling.overwrite           ? "--overwrite"
                           : options.target.per_thread          ? "--per-thread"
                           : options.sampling.kernel_callchains ? "--kernel-callchains"
                                                                : "";
  if (!other.empty()) return fmt::format("cannot be combined with {}", other);
  for (const ParsedEvent& event : options.events.events())
    if (is_tracepoint(event) || is_trace_event(event))
      return fmt::format(
          "{}: the walker runs on sampling events, not on tracepoints, probes and traces",
          event.name);
  return {};
}

std::string_view why_not_unwound(const RecordOptions& options) {
  if (options.output.threads) return "with --threads, each thread writes what it reads";
  if (options.synthesis.at_end)
    return "mappings are described at the end (--overwrite, --tail-synthesize)";
  if (!options.sampling.timestamps) return "records have no time (--no-timestamp)";
  if (std::ranges::any_of(options.events.events(), is_trace_event))
    return "an instruction trace is recorded beside them";
  return {};
}

CallGraphChoice choose_call_graph(const RecordOptions& options, std::string_view why_no_copies,
                                  const std::function<Result<>()>& open_walker) {
  std::string no_walker = why_not_walked(options), no_copies(why_no_copies);
  std::vector<ParsedEvent> events = recorded_events(options);
  if (no_copies.empty() && options.sampling.aggregation.enabled)
    no_copies = "--aggregate counts samples in the kernel";
  if (no_copies.empty() && options.sampling.kernel_callchains)
    no_copies = "--kernel-callchains leaves user functions out";
  // A copy at each switch or page fault would cost more than what is measured.
  for (const ParsedEvent& event : events)
    if (no_copies.empty() && is_each_time(event, options.sampling))
      no_copies = fmt::format("copies of stacks do not keep up with every {} event", event.name);
  if (no_walker.empty()) no_walker = other_program(options);
  for (const ParsedEvent& event : events) {
    if (!is_too_often(event, options.sampling)) continue;
    std::string often = fmt::format("{}: more than {} samples a second would take all of the CPU",
                                    event.name, kMostWalks);
    if (no_walker.empty()) no_walker = often;
    if (no_copies.empty()) no_copies = std::move(often);
  }
  bool is_command =
      !options.target.command.empty() && !options.target.has_cpu() && !options.target.has_task();
  if (no_walker.empty() && is_command && no_copies.empty())
    no_walker = "is for what runs already: until it is loaded, a short command is over";
  if (no_walker.empty()) {
    Result<> opened = open_walker();
    if (opened)
      return {CallGraphMode::kBpf,
              "whole stacks, by --call-graph bpf: the kernel walks them, and nothing is copied"};
    no_walker = reason_of(opened.error().message);
  }
  if (no_copies.empty())
    return {CallGraphMode::kDwarf,
            fmt::format("whole stacks, by --call-graph dwarf: copied, and unwound while recording "
                        "(bpf: {})",
                        no_walker)};
  return {CallGraphMode::kFramePointer,
          fmt::format("by frame pointers (--call-graph fp), so chains end in code without them "
                      "(bpf: {}; dwarf: {})",
                      no_walker, no_copies)};
}

}  // namespace sonde
