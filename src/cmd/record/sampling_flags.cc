// The flags of `record` for when a sample is taken and what it contains.
#include <time.h>

#include <array>

#include "abi/regs.h"
#include "base/text.h"
#include "capture/recorders/capture_values.h"
#include "cmd/options/call_graph_option.h"
#include "cmd/record/flags.h"
#include "event/parser/event_branch.h"

namespace sonde {
namespace {

Result<int32_t> parse_clock(std::string_view name) {
  struct Clock {
    std::string_view name;
    int32_t id;
  };
  constexpr std::array<Clock, 10> kClocks{{{"monotonic", CLOCK_MONOTONIC},
                                           {"mono", CLOCK_MONOTONIC},
                                           {"monotonic_raw", CLOCK_MONOTONIC_RAW},
                                           {"raw", CLOCK_MONOTONIC_RAW},
                                           {"realtime", CLOCK_REALTIME},
                                           {"real", CLOCK_REALTIME},
                                           {"boottime", CLOCK_BOOTTIME},
                                           {"boot", CLOCK_BOOTTIME},
                                           {"tai", CLOCK_TAI},
                                           {"clock_tai", CLOCK_TAI}}};
  if (std::optional<uint64_t> number = parse_number(name); number && *number <= INT32_MAX)
    return static_cast<int32_t>(*number);
  std::string word(name);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word.starts_with("clock_")) word.erase(0, 6);
  for (const Clock& clock : kClocks)
    if (clock.name == word) return clock.id;
  return fail(ErrorCode::kUsage, "unknown clockid {}, check man page", name);
}

/// Parses a list of registers; for "?" fails with a list of those available.
Result<uint64_t> parse_register_list(std::string_view list, std::string_view option) {
  abi::Arch arch = abi::host_arch();
  uint64_t allowed = abi::default_register_mask(arch);
  if (list == "?") return fail(ErrorCode::kUsage, "{}", abi::available_registers(arch, allowed));
  return abi::parse_registers(arch, list, allowed, option);
}

}  // namespace

void RecordFlags::declare_sampling(FlagTable& flags) {
  SamplingOptions& sampling = options_.sampling;
  flags.number('c', "count", sampling.period, "n", "event period to sample");
  flags.call('F', "freq", "freq or 'max'", "profile at this frequency", frequency_into(sampling));
  flags.boolean(0, "strict-freq", sampling.strict_freq,
                "Fail if the specified frequency can't be used");
  flags.boolean('d', "data", sampling.addresses, "Record the sample addresses");
  flags.boolean(0, "phys-data", sampling.physical_addresses,
                "Record the sample physical addresses");
  flags.boolean(0, "data-page-size", sampling.data_page_size,
                "Record the sampled data address data page size");
  flags.boolean(0, "code-page-size", sampling.code_page_size,
                "Record the sampled code address (ip) page size");
  flags.boolean(0, "sample-mem-info", sampling.data_source,
                "Record the data source of the sampled memory operations");
  flags.boolean(0, "sample-cpu", sampling.cpu, "Record the sample cpu");
  flags.boolean(0, "sample-identifier", sampling.identifier, "Record the sample identifier");
  flags.boolean('T', "timestamp", timestamps_, "Record the sample timestamps");
  flags.boolean('P', "period", sampling.period_in_sample, "Record the sample period");
  flags.boolean('n', "no-samples", sampling.no_samples, "don't sample");
  flags.boolean('s', "stat", sampling.thread_counts, "per thread counts");
  flags.boolean('R', "raw-samples", sampling.raw,
                "collect raw sample records from all opened counters");
  flags.boolean('W', "weight", sampling.weight, "sample by weight (on special events only)");
  flags.boolean(0, "transaction", sampling.transaction,
                "sample transaction flags (special events only)");
  flags.boolean(0, "running-time", sampling.running_time,
                "Record running/enabled time of read (:S) events");
  flags.act('b', "branch-any", "sample any taken branches", [&sampling]() -> Result<> {
    sampling.branch_types |= abi::kBranchAny;
    return {};
  });
  flags.call('j', "branch-filter", "branch filter mask", "branch stack filter modes",
             [&sampling](std::string_view list) -> Result<> {
               sampling.branch_types |= TRY(parse_branch_types(list));
               return {};
             });
  flags.call('k', "clockid", "clockid", "clockid to use for events, see clock_gettime()",
             [&sampling](std::string_view name) -> Result<> {
               sampling.clockid = TRY(parse_clock(name));
               return {};
             });
  flags.boolean(0, "all-kernel", sampling.all_kernel,
                "Configure all used events to run in kernel space.");
  flags.boolean(0, "all-user", sampling.all_user,
                "Configure all used events to run in user space.");
}

void RecordFlags::declare_call_graphs(FlagTable& flags) {
  SamplingOptions& sampling = options_.sampling;
  flags
      .call(0, "aggregate", "seconds",
            "count samples in the kernel, by thread and call chain, and write the sums, every so "
            "many seconds (default: 60)",
            [&sampling](std::string_view seconds) -> Result<> {
              sampling.aggregation.enabled = true;
              if (seconds.empty()) return {};
              sampling.aggregation.window_s = TRY(number_from<uint64_t>(seconds));
              if (sampling.aggregation.window_s == 0 || sampling.aggregation.window_s > 86'400)
                return fail(ErrorCode::kFailed, "--aggregate expects 1 to 86400 seconds");
              return {};
            })
      .when_bare("")
      .on_negation([&sampling] { sampling.aggregation.enabled = false; });
  flags.act('g', "", "enables call-graph recording", [&sampling]() -> Result<> {
    if (sampling.call_graph == CallGraphMode::kNone)
      sampling.call_graph = CallGraphMode::kFramePointer;
    return {};
  });
  flags
      .call(0, "call-graph", "record_mode[,record_size]",
            "setup and enables call-graph (stack chain/backtrace):\n\n"
            "\t\t\t\trecord_mode:\tcall graph recording mode (fp|dwarf|lbr|bpf)\n"
            "\t\t\t\trecord_size:\tif record_mode is 'dwarf', max size of stack recording "
            "(<bytes>)\n"
            "\t\t\t\t\t\tdefault: 8192 (bytes)\n"
            "\t\t\t\traw:\t\tif record_mode is 'dwarf': store the copies of the stacks, "
            "instead of unwinding them while recording; if it is 'bpf': also copy them, to "
            "compare\n\n"
            "\t\t\t\tDefault: fp",
            [this](std::string_view text) { return set_call_graph(text); })
      .on_negation([&sampling] { sampling.call_graph = CallGraphMode::kNone; });
  flags.boolean(
      0, "interpreters", sampling.interpreters,
      "--call-graph bpf: functions of Python and Ruby stand in call chains in place of the "
      "interpreter (default)");
  flags.boolean(0, "kernel-callchains", sampling.kernel_callchains, "collect kernel callchains");
  flags.boolean(0, "user-callchains", sampling.user_callchains, "collect user callchains");
}

Result<> RecordFlags::set_call_graph(std::string_view text) {
  keep_stack_copies_ = false;
  TRY(parse_call_graph(text, options_.sampling, &keep_stack_copies_));
  options_.sampling.copies_walked = keep_stack_copies_;
  return {};
}

void RecordFlags::declare_registers(FlagTable& flags) {
  SamplingOptions& sampling = options_.sampling;
  flags
      .call('I', "intr-regs", "any register",
            "sample selected machine registers on interrupt, use '-I?' to list register names",
            [&sampling](std::string_view list) -> Result<> {
              sampling.interrupt_registers = TRY(parse_register_list(list, "-I"));
              return {};
            })
      .when_bare("");
  flags
      .call(0, "user-regs", "any register",
            "sample selected machine registers in user space, use '--user-regs=?' to list "
            "register names",
            [&sampling](std::string_view list) -> Result<> {
              sampling.user_registers = TRY(parse_register_list(list, "--user-regs="));
              return {};
            })
      .when_bare("");
}

}  // namespace sonde
