#include "trace/session/view.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/text.h"
#include "perfdata/header/event_table.h"
#include "trace/arguments/fd_names.h"
#include "trace/arguments/syscall_table.h"
#include "trace/sources/bpf_records.h"

namespace sonde {
namespace {

constexpr uint32_t kDefaultMostFrames = 127;

/// The running kernel's limit if live; recordings may come from anywhere.
uint32_t default_max_stack(bool live) {
  if (!live) return kDefaultMostFrames;
  Result<std::string> text = read_file("/proc/sys/kernel/perf_event_max_stack");
  return text ? static_cast<uint32_t>(parse_number(trim(*text)).value_or(kDefaultMostFrames))
              : kDefaultMostFrames;
}

Result<EventWindow> gate_of(const TraceOptions& options, const std::vector<TracedEvent>& events,
                            const Env& env) {
  EventTable table;
  for (const TracedEvent& event : events) {
    EventDesc desc;
    desc.attr = event.attr;
    desc.name = event.name;
    table.add(std::move(desc));
  }
  return EventWindow::make(options.gate, table, env.tool);
}

}  // namespace

Result<TraceViewOptions> view_options(const TraceOptions& options,
                                      const std::vector<TracedEvent>& events, const Env& env) {
  TraceViewOptions view;
  view.lines = {.full_time = options.full_time,
                .show_comm = options.show_comm,
                .show_duration = options.show_duration,
                .show_timestamp = options.show_timestamp,
                .lines = !options.summary_only,
                .failed_only = options.failed_only,
                .min_duration_ns = options.min_duration_ns,
                .min_stack = options.min_stack.value_or(0),
                .result_column = options.result_column};
  view.calls = options.calls;
  view.wants_calls = options.wants_calls;
  view.summary = options.summary;
  view.tables = options.tables;
  view.tables.runtime = options.runtime;
  view.kernel_text = options.kernel_text;
  view.print_samples = options.print_samples;
  view.max_events = options.max_events;
  view.min_stack = options.min_stack.value_or(0);
  view.not_pids = options.not_pids;
  view.gate = TRY(gate_of(options, events, env));
  view.verbose = options.verbose;
  return view;
}

bool follows_descriptors(const TraceOptions& options) {
  const TargetOptions& target = options.record.target;
  bool leaves_out_calls = !options.wants_calls || options.failed_only ||
                          options.min_duration_ns != 0 || options.record.delay.any() ||
                          !options.gate.on.empty() || !options.gate.off.empty();
  bool leaves_out_threads = options.record.sampling.no_inherit || !target.tids.empty() ||
                            !target.cpus.empty() || !options.cgroup_of_all.empty() ||
                            !options.not_pids.empty();
  if (leaves_out_calls || leaves_out_threads) return false;
  return std::ranges::all_of(calls_that_replace_descriptors(), [&](std::string_view name) {
    const Syscall* call = SyscallTable::get().find(name);
    SyscallAbis abis = host_syscall_abis();
    return std::ranges::all_of(std::array{abis.native, abis.compat}, [&](SyscallAbi abi) {
      int number = call != nullptr ? call->number(abi) : -1;
      return number < 0 || options.calls.has(abi, static_cast<uint32_t>(number));
    });
  });
}

Result<BtfText> types_of_recording(const TraceOptions& options, const std::string& release) {
  utsname here{};
  bool is_this_kernel = ::uname(&here) == 0 && release == here.release;
  BtfText types = is_this_kernel ? BtfText() : BtfText::none();
  if (!options.style.by_types) return types;
  if (!is_this_kernel)
    return fail(ErrorCode::kUnsupported,
                "--force-btf: {} is from another kernel ({}), whose types are not here",
                options.input, release.empty() ? "unknown" : release);
  TRY(types.check());
  return types;
}

std::unique_ptr<TraceLocations> make_places(const TraceOptions& options,
                                            const std::vector<TracedEvent>& events,
                                            const std::string& kernel_release,
                                            const std::string& arch, const std::string& host_name,
                                            const Env& env) {
  bool wanted = std::ranges::any_of(events, [](const TracedEvent& event) {
    return event.attr.samples(abi::kSampleCallchain) ||
           (event.attr.type == abi::kTypeSoftware && event.attr.config != abi::kSwDummy);
  });
  if (!wanted || options.summary_only) return nullptr;
  return std::make_unique<TraceLocations>(
      TraceLocations::Options{
          .symbols = options.symbols,
          .kernel_release = kernel_release,
          .arch = arch,
          .host_name = host_name,
          .max_stack = options.max_stack.value_or(default_max_stack(options.input.empty()))},
      env);
}

}  // namespace sonde
