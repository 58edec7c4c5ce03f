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
  return fail(ErrorCode::kUsage,
              "-k {}: no such clock; there are mono, raw, real, boot, tai, and numbers as for "
              "clock_gettime",
              name);
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
  flags.number('c', "count", sampling.period, "n", "take a sample every n events");
  flags.call('F', "freq", "freq or 'max'",
             "take so many samples per second of CPU time (default: 4000), or as many as the "
             "kernel allows (max)",
             frequency_into(sampling));
  flags.boolean(
      0, "strict-freq", sampling.strict_freq,
      "end with an error if the kernel does not allow the frequency of -F, instead of lowering it");
  flags.boolean('d', "data", sampling.addresses,
                "also record the address of the data that was accessed");
  flags.boolean(0, "phys-data", sampling.physical_addresses,
                "also record the physical address of the data that was accessed");
  flags.boolean(0, "data-page-size", sampling.data_page_size,
                "also record the size of the page that this data is in");
  flags.boolean(0, "code-page-size", sampling.code_page_size,
                "also record the size of the page that the code is in");
  flags.boolean(0, "sample-mem-info", sampling.data_source,
                "also record where accessed data came from: caches, memory, another node");
  flags.boolean(0, "sample-cpu", sampling.cpu,
                "also record the CPU of each sample (default with -a and -C)");
  flags.boolean(0, "sample-identifier", sampling.identifier,
                "also record the id of its event in each sample, always in the same place");
  flags.boolean('T', "timestamp", timestamps_,
                "also record the time of each sample (default, except with --per-thread)");
  flags.boolean(
      'P', "period", sampling.period_in_sample,
      "also record the period of each sample: how many events it stands for (default with -F)");
  flags.boolean('n', "no-samples", sampling.no_samples,
                "take no samples: only tasks and mappings are recorded, and counts (-s)");
  flags.boolean('s', "stat", sampling.thread_counts,
                "also count the events of each thread, for report -T");
  flags.boolean('R', "raw-samples", sampling.raw,
                "also record the raw data of samples of all events, not only of tracepoints");
  flags.boolean(
      'W', "weight", sampling.weight,
      "also record what each sample cost, such as the latency of a load (some events only)");
  flags.boolean(
      0, "transaction", sampling.transaction,
      "also record how far a hardware transaction got, and why it was aborted (some events only)");
  flags.boolean(
      0, "running-time", sampling.running_time,
      "also record for how long events were enabled and how long they counted, with what :S reads");
  flags.act('b', "branch-any", "also record the last branches taken before each sample",
            [&sampling]() -> Result<> {
              sampling.branch_types |= abi::kBranchAny;
              return {};
            });
  flags.call(
      'j', "branch-filter", "branch filter mask",
      "also record the last branches of these kinds: any, any_call, any_ret, cond, ind_jmp, u, k …",
      [&sampling](std::string_view list) -> Result<> {
        sampling.branch_types |= TRY(parse_branch_types(list));
        return {};
      });
  flags.call('k', "clockid", "clockid",
             "the clock of all times: mono, raw, real, boot, tai, or a number as for clock_gettime",
             [&sampling](std::string_view name) -> Result<> {
               sampling.clockid = TRY(parse_clock(name));
               return {};
             });
  flags.boolean(0, "all-kernel", sampling.all_kernel,
                "sample only in kernel mode, whatever the events' modifiers say");
  flags.boolean(0, "all-user", sampling.all_user,
                "sample only in user mode, whatever the events' modifiers say");
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
  flags.act('g', "",
            "also record call chains, in the best way that works here and with these options: bpf "
            "for what runs already, dwarf for a command, else fp; call-graph.record-mode and "
            "--call-graph name another. Under the name perf: fp",
            [this]() -> Result<> {
              want_call_chains();
              return {};
            });
  flags
      .call(
          0, "call-graph", "record_mode[,record_size]",
          "also record call chains, found in one of these ways:\n\n"
          "\t\t\t\tfp[,N]\t\tby frame pointers; at most N functions\n"
          "\t\t\t\tdwarf[,BYTES]\tby call frame information, in copies of the stack (default: 8192 "
          "bytes)\n"
          "\t\t\t\tlbr\t\tby the processor's own records of calls\n"
          "\t\t\t\tbpf\t\tby call frame information, too, but in the kernel: nothing is copied\n\n"
          "\t\t\t\t,raw\t\tdwarf: keep the copies, for readers to unwind; bpf: copy, too, to "
          "compare",
          [this](std::string_view text) { return set_call_graph(text); })
      .on_negation([&sampling] { sampling.call_graph = CallGraphMode::kNone; });
  flags.boolean(
      0, "interpreters", sampling.interpreters,
      "--call-graph bpf: functions of Python and Ruby stand in call chains in place of the "
      "interpreter (default)");
  flags.boolean(0, "kernel-callchains", sampling.kernel_callchains,
                "leave user functions out of call chains");
  flags.boolean(0, "user-callchains", sampling.user_callchains,
                "leave kernel functions out of call chains");
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
            "also record these registers, as they were at each sample (default: all); -I? shows "
            "their names",
            [&sampling](std::string_view list) -> Result<> {
              sampling.interrupt_registers = TRY(parse_register_list(list, "-I"));
              return {};
            })
      .when_bare("");
  flags
      .call(0, "user-regs", "any register",
            "also record these registers, as user code left them (default: all); --user-regs=? "
            "shows their names",
            [&sampling](std::string_view list) -> Result<> {
              sampling.user_registers = TRY(parse_register_list(list, "--user-regs="));
              return {};
            })
      .when_bare("");
}

}  // namespace sonde
