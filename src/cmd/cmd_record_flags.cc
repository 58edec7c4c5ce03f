#include "cmd/cmd_record_flags.h"

#include <time.h>
#include <unistd.h>

#include <array>

#include "abi/regs.h"
#include "base/text.h"
#include "capture/control_channel.h"
#include "capture/delay_schedule.h"
#include "capture/kernel_copy.h"
#include "capture/parse_size.h"
#include "capture/record_output.h"
#include "capture/ring_set.h"
#include "event/event_branch.h"
#include "event/event_parser.h"

namespace sonde {
namespace {

constexpr uint32_t kLargestDump = 65528;  // the kernel's: a multiple of 8 below 64 KiB

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

/// A list of registers, or the list of those that there are.
Result<uint64_t> parse_register_list(std::string_view list, std::string_view option) {
  abi::Arch arch = abi::host_arch();
  uint64_t allowed = abi::default_register_mask(arch);
  if (list == "?") return fail(ErrorCode::kUsage, "{}", abi::available_registers(arch, allowed));
  return abi::parse_registers(arch, list, allowed, option);
}

}  // namespace

void RecordFlags::declare(FlagTable& flags) {
  flags.usage("[<options>] [<command>]").usage("[<options>] -- <command> [<options>]");
  flags.stop_at_first_word();
  declare_events(flags);
  declare_targets(flags);
  declare_sampling(flags);
  declare_call_graphs(flags);
  declare_registers(flags);
  declare_sideband(flags);
  declare_buffers(flags);
  declare_output(flags);
  declare_run(flags);
  declare_refused(flags);
}

void RecordFlags::declare_events(FlagTable& flags) {
  auto keep = [this](EventAction::Kind kind) {
    return [this, kind](std::string_view text) -> Result<> {
      event_actions_.push_back({kind, std::string(text)});
      return {};
    };
  };
  using Kind = EventAction::Kind;
  flags.call('e', "event", "event", "event selector. use 'perf list' to list available events",
             keep(Kind::kEvent));
  flags.call(0, "filter", "filter", "event filter", keep(Kind::kFilter));
  flags.act(0, "exclude-perf", "don't record events from perf itself", [this]() -> Result<> {
    event_actions_.push_back({Kind::kExcludeSelf, {}});
    return {};
  });
  flags.call('G', "cgroup", "name", "monitor event in cgroup name only", keep(Kind::kCgroup));
  flags.boolean(0, "group", options_.sampling.group_all, "put the counters into a counter group");
  flags.call(0, "switch-output-event", "switch output event",
             "switch output event selector. use 'perf list' to list available events",
             keep(Kind::kSwitchEvent));
}

void RecordFlags::declare_targets(FlagTable& flags) {
  TargetOptions& target = options_.target;
  flags.text('p', "pid", target.pids, "pid", "record events on existing process id");
  flags.text('t', "tid", target.tids, "tid", "record events on existing thread id");
  flags.text('u', "uid", target.user, "user", "user to profile");
  flags.boolean('a', "all-cpus", target.all_cpus, "system-wide collection from all CPUs");
  flags.text('C', "cpu", target.cpus, "cpu", "list of cpus to monitor");
  flags.boolean(0, "per-thread", target.per_thread, "use per-thread mmaps");
  flags.boolean('i', "no-inherit", no_inherit_, "child tasks do not inherit counters");
}

void RecordFlags::declare_sampling(FlagTable& flags) {
  SamplingOptions& sampling = options_.sampling;
  flags.number('c', "count", sampling.period, "n", "event period to sample");
  flags.call('F', "freq", "freq or 'max'", "profile at this frequency",
             [&sampling](std::string_view text) -> Result<> {
               sampling.freq_max = text == "max";
               sampling.freq.reset();
               if (sampling.freq_max) return {};
               sampling.freq = parse_number(text);
               if (!sampling.freq)
                 return fail(ErrorCode::kUsage, "expects a frequency in Hz, or 'max'");
               return {};
             });
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
  flags.act('g', "", "enables call-graph recording", [&sampling]() -> Result<> {
    if (sampling.call_graph == CallGraphMode::kNone)
      sampling.call_graph = CallGraphMode::kFramePointer;
    return {};
  });
  flags
      .call(0, "call-graph", "record_mode[,record_size]",
            "setup and enables call-graph (stack chain/backtrace):\n\n"
            "\t\t\t\trecord_mode:\tcall graph recording mode (fp|dwarf|lbr)\n"
            "\t\t\t\trecord_size:\tif record_mode is 'dwarf', max size of stack recording "
            "(<bytes>)\n"
            "\t\t\t\t\t\tdefault: 8192 (bytes)\n\n"
            "\t\t\t\tDefault: fp",
            [this](std::string_view text) { return set_call_graph(text); })
      .on_negation([&sampling] { sampling.call_graph = CallGraphMode::kNone; });
  flags.boolean(0, "kernel-callchains", sampling.kernel_callchains, "collect kernel callchains");
  flags.boolean(0, "user-callchains", sampling.user_callchains, "collect user callchains");
}

Result<> RecordFlags::set_call_graph(std::string_view text) {
  SamplingOptions& sampling = options_.sampling;
  std::vector<std::string_view> words = split(text, ',');
  std::string_view mode = words[0];
  std::optional<uint64_t> number;
  if (words.size() > 1) {
    number = parse_number(words[1]);
    if (words[1] == "defer" || (words.size() > 2 && words[2] == "defer"))
      return fail(ErrorCode::kUnsupported,
                  "callchain: this kernel has no deferred user callchains (Linux 6.19 has)");
    if (!number || words.size() > 2)
      return fail(ErrorCode::kUsage, "callchain: Incorrect value in --call-graph {}", text);
  }
  if (mode == "fp") {
    sampling.call_graph = CallGraphMode::kFramePointer;
    if (number && (*number == 0 || *number > UINT16_MAX))
      return fail(ErrorCode::kUsage, "callchain: Incorrect number of frames: {}", *number);
    sampling.max_stack = static_cast<uint32_t>(number.value_or(0));
  } else if (mode == "dwarf") {
    sampling.call_graph = CallGraphMode::kDwarf;
    uint64_t size = (number.value_or(sampling.dump_size) + 7) / 8 * 8;
    if (size == 0 || size > kLargestDump)
      return fail(ErrorCode::kUsage, "callchain: Incorrect stack dump size (max {}): {}",
                  kLargestDump, words[1]);
    sampling.dump_size = static_cast<uint32_t>(size);
  } else if (mode == "lbr" && !number) {
    sampling.call_graph = CallGraphMode::kLbr;
  } else {
    return fail(ErrorCode::kUsage, "callchain: Unknown --call-graph option value: {}", text);
  }
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

void RecordFlags::declare_sideband(FlagTable& flags) {
  SamplingOptions& sampling = options_.sampling;
  flags.boolean(0, "namespaces", sampling.namespaces, "Record namespaces events");
  flags.boolean(0, "all-cgroups", sampling.cgroups, "Record cgroup events");
  flags.boolean(0, "switch-events", sampling.switch_events, "Record context switch events");
  flags.boolean(0, "bpf-event", sampling.bpf_events, "record bpf events (default)").hidden();
  flags.call(0, "synth", "no|all|task|mmap|cgroup", "Fine-tune event synthesis: default=all",
             [this](std::string_view list) { return set_synthesis(list); });
  flags.boolean(0, "tail-synthesize", options_.synthesis.at_end,
                "synthesize non-sample events at the end of output");
  flags.number(0, "proc-map-timeout", options_.synthesis.map_timeout_ms, "n",
               "per thread proc mmap processing timeout in ms");
  flags.number(0, "num-thread-synthesize", synthesis_threads_, "n",
               "number of threads to run for event synthesis");
}

Result<> RecordFlags::set_synthesis(std::string_view list) {
  SynthesisOptions& synthesis = options_.synthesis;
  synthesis.tasks = synthesis.maps = synthesis.cgroups = false;
  for (std::string_view word : split(list, ',')) {
    if (word == "no") {
      synthesis.tasks = synthesis.maps = synthesis.cgroups = false;
      return {};
    }
    bool all = word == "all";
    if (!all && word != "task" && word != "mmap" && word != "cgroup")
      return fail(ErrorCode::kUsage, "Invalid synth option: {}", word);
    synthesis.tasks |= all || word == "task" || word == "mmap";
    synthesis.maps |= all || word == "mmap";
    synthesis.cgroups |= all || word == "cgroup";
  }
  return {};
}

void RecordFlags::declare_buffers(FlagTable& flags) {
  flags.call('m', "mmap-pages", "pages[,pages]",
             "number of mmap data pages and AUX area tracing mmap pages",
             [this](std::string_view text) -> Result<> {
               if (size_t comma = text.find(','); comma != std::string_view::npos)
                 return fail(ErrorCode::kUnsupported,
                             "-m {}: there is no AUX area event that would use AUX pages", text);
               bool rounded = false;
               options_.ring_pages = TRY(parse_ring_pages(text, rounded));
               if (rounded) {
                 auto bytes = options_.ring_pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
                 rounding_ = bytes >= 1 << 20
                                 ? fmt::format("rounding mmap pages size to {}M ({} pages)",
                                               bytes >> 20, options_.ring_pages)
                                 : fmt::format("rounding mmap pages size to {}K ({} pages)",
                                               bytes >> 10, options_.ring_pages);
               }
               return {};
             });
  flags.boolean(0, "overwrite", options_.sampling.overwrite, "use overwrite mode");
  flags.boolean(0, "no-buffering", options_.sampling.no_buffering,
                "collect data without buffering");
  flags.call(0, "mmap-flush", "number",
             "Minimal number of bytes that is extracted from mmap data pages (default: 1)",
             [this](std::string_view text) -> Result<> {
               std::optional<uint64_t> bytes = parse_number(text);
               if (!bytes) bytes = parse_size(text);
               if (!bytes || *bytes == 0) return fail(ErrorCode::kUsage, "expects a size");
               options_.output.flush_bytes = *bytes;
               return {};
             });
  flags
      .call(0, "aio", "n",
            "Use <n> control blocks in asynchronous trace writing mode (default: 1, max: 4)",
            [this](std::string_view text) -> Result<> {
              constexpr uint64_t kMost = 4;
              std::optional<uint64_t> blocks = parse_number(text);
              if (!blocks || *blocks == 0)
                return fail(ErrorCode::kUsage, "expects a number from 1 to {}", kMost);
              options_.output.aio_blocks = static_cast<uint32_t>(std::min(*blocks, kMost));
              return {};
            })
      .when_bare("1");
  flags
      .call(0, "threads", "spec",
            "write collected trace data into several data files using parallel threads",
            [this](std::string_view spec) -> Result<> {
              options_.output.threads = std::string(spec);
              return {};
            })
      .when_bare("");
  flags.call(0, "affinity", "node|cpu",
             "Set affinity mask of trace reading thread to NUMA node cpu mask or cpu of processed "
             "mmap buffer",
             [this](std::string_view text) -> Result<> {
               if (text != "node" && text != "cpu")
                 return fail(ErrorCode::kUsage, "expects 'node' or 'cpu'");
               options_.affinity = text == "node" ? Affinity::kNode : Affinity::kCpu;
               return {};
             });
  flags.number('r', "realtime", options_.realtime_priority, "n",
               "collect data with this RT SCHED_FIFO priority");
}

void RecordFlags::declare_output(FlagTable& flags) {
  OutputOptions& output = options_.output;
  flags.text('o', "output", output.path, "file", "output file name");
  flags
      .call('z', "compression-level", "n",
            "Compress records using specified level (default: 1 - fastest compression, 22 - "
            "greatest compression)",
            [&output](std::string_view text) -> Result<> {
              constexpr uint64_t kMost = 22;
              std::optional<uint64_t> level = parse_number(text);
              if (!level) return fail(ErrorCode::kUsage, "expects a level from 0 to {}", kMost);
              output.compression_level = static_cast<int>(std::min(*level, kMost));
              return {};
            })
      .when_bare("1")
      .on_negation([&output] { output.compression_level = 0; });
  flags.boolean(0, "kcore", output.kernel_copy, "copy /proc/kcore");
  flags.call(0, "max-size", "size", "Limit the maximum size of the output file",
             [&output](std::string_view text) -> Result<> {
               std::optional<uint64_t> bytes = parse_size(text);
               if (!bytes || *bytes == 0)
                 return fail(ErrorCode::kUsage, "expects a size with unit B, K, M or G");
               output.max_size_bytes = *bytes;
               return {};
             });
  flags.boolean(0, "timestamp-filename", output.timestamp_name,
                "append timestamp to output filename");
  flags.boolean(0, "timestamp-boundary", output.timestamp_boundary,
                "Record timestamp boundary (time of first/last samples)");
  flags
      .call(0, "switch-output", "signal or size[BKMG] or time[smhd]",
            "Switch output when receiving SIGUSR2 (signal) or cross a size or time threshold",
            [this](std::string_view text) { return set_switch_output(text); })
      .when_bare("signal");
  flags.number(0, "switch-max-files", options_.switch_output.max_files, "n",
               "Limit number of switch output generated files");
  flags.boolean('B', "no-buildid", no_buildid_, "do not collect buildids in perf.data");
  flags.boolean('N', "no-buildid-cache", no_buildid_cache_, "do not update the buildid cache");
  flags.boolean(0, "buildid-all", options_.build_ids.all,
                "Record build-id of all DSOs regardless of hits");
  flags.boolean(0, "buildid-mmap", options_.sampling.buildid_mmap, "Record build-id in map events");
}

Result<> RecordFlags::set_switch_output(std::string_view text) {
  SwitchOutputOptions& switching = options_.switch_output;
  switching.enabled = true;
  if (text == "signal") {
    switching.on_signal = true;
  } else if (std::optional<uint64_t> bytes = parse_size(text); bytes && text.back() != 'm') {
    switching.size_bytes = *bytes;
  } else if (std::optional<uint64_t> ms = parse_duration_ms(text)) {
    switching.time_ms = *ms;
  } else {
    return fail(
        ErrorCode::kUsage,
        "expects 'signal', a size with unit B, K, M or G, or a time with unit s, m, h or d");
  }
  return {};
}

void RecordFlags::declare_run(FlagTable& flags) {
  flags.call('D', "delay", "ms",
             "ms to wait before starting measurement after program start (-1: start with events "
             "disabled), or ranges of time to enable events e.g. '-D 10-20,30-40'",
             [this](std::string_view text) -> Result<> {
               options_.delay = TRY(parse_delay(text));
               return {};
             });
  flags.call(0, "control", "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
             "Listen on ctl-fd descriptor for command to control measurement ('enable': enable "
             "events, 'disable': disable events,\n"
             "\t\t\t  'snapshot': AUX area tracing snapshot).\n"
             "\t\t\t  Optionally send control command completion ('ack\\n') to ack-fd "
             "descriptor.\n"
             "\t\t\t  Alternatively, ctl-fifo / ack-fifo will be opened and used as ctl-fd / "
             "ack-fd.",
             [this](std::string_view text) -> Result<> {
               options_.control = TRY(parse_control(text));
               return {};
             });
  flags.boolean(0, "dry-run", dry_run_, "Parse options then exit");
  flags.count('v', "verbose", options_.verbose, "be more verbose (show counter open errors, etc)");
  flags.boolean('q', "quiet", options_.quiet, "don't print any warnings or messages");
}

/// Options of perf that cannot be served: each says why, none is dropped in silence.
void RecordFlags::declare_refused(FlagTable& flags) {
  auto refuse = [&](char letter, const char* name, const char* argument, const char* help,
                    const char* why) -> Flag& {
    return flags.call(letter, name, argument, help, [this, why](std::string_view) -> Result<> {
      if (!refused_) refused_ = why;
      return {};
    });
  };
  refuse('S', "snapshot", "opts", "AUX area tracing Snapshot Mode",
         "No AUX area tracing to snapshot")
      .when_bare("");
  refuse(0, "aux-sample", "opts", "sample AUX area", "No AUX area event to sample").when_bare("");
  refuse(0, "debuginfod", "debuginfod urls",
         "Enable debuginfod data retrieval from DEBUGINFOD_URLS or specified urls",
         "--debuginfod: recording asks no debuginfod server; `report` looks there for what it "
         "needs")
      .when_bare("");
  constexpr const char* kScriptlets =
      "BPF scriptlets as events are not supported: compile and attach the program by itself and "
      "record -e bpf-output";
  refuse(0, "clang-path", "clang path", "clang binary to use for compiling BPF scriptlets",
         kScriptlets);
  refuse(0, "clang-opt", "clang options", "options passed to clang when compiling BPF scriptlets",
         kScriptlets);
  refuse(0, "vmlinux", "file", "vmlinux pathname", kScriptlets);
  refuse(0, "pfm-events", "event", "libpfm4 event selector",
         "--pfm-events: events by libpfm4's names are not supported: use -e");
  refuse(0, "setup-filter", "pin|unpin", "Pin or unpin BPF filters",
         "--setup-filter: BPF filters are not supported: use --filter on tracepoints");
  refuse(0, "off-cpu-thresh", "ms", "Start dumping off-cpu samples from this time on",
         "--off-cpu-thresh: off-cpu profiling is not supported: use -e sched:sched_switch -g");
  flags.act(0, "off-cpu", "Enable off-cpu analysis", [this]() -> Result<> {
    refused_ = "--off-cpu: off-cpu profiling is not supported: use -e sched:sched_switch -g";
    return {};
  });
  flags.act(0, "latency", "Enable data collection for latency profiling", [this]() -> Result<> {
    refused_ = "--latency: latency profiling is not supported";
    return {};
  });
}

Result<> RecordFlags::configure(const Config& config) {
  if (auto mode = config.get("record.build-id")) {
    if (*mode == "no-cache")
      options_.build_ids.update_cache = false;
    else if (*mode == "skip")
      options_.build_ids.collect = false;
    else if (*mode == "mmap")
      options_.sampling.buildid_mmap = true;
    else if (*mode != "cache")
      return fail(ErrorCode::kFailed,
                  "record.build-id: '{}' is none of cache, no-cache, skip, mmap", *mode);
  }
  if (auto directory = config.get("buildid.dir"))
    options_.build_ids.cache_directory = std::string(*directory);
  if (auto size = config.get("call-graph.dump-size")) {
    std::optional<uint64_t> bytes = parse_number(*size);
    if (!bytes || *bytes == 0 || *bytes > kLargestDump)
      return fail(ErrorCode::kFailed, "call-graph.dump-size: '{}' is no size up to {}", *size,
                  kLargestDump);
    options_.sampling.dump_size = static_cast<uint32_t>((*bytes + 7) / 8 * 8);
  }
  return {};
}

Result<RecordOptions> RecordFlags::settle(Env& env, const Arguments& arguments) {
  if (refused_) return fail(ErrorCode::kUnsupported, "{}", *refused_);
  options_.target.command = arguments.words;
  if (options_.sampling.all_user && options_.sampling.all_kernel)
    return fail(ErrorCode::kUsage, " Error: option `all-kernel' cannot be used with all-user");
  if (!rounding_.empty() && !options_.quiet) env.err.print("{}\n", rounding_);
  TRY(settle_events(env));
  if (no_inherit_) {
    options_.sampling.no_inherit = *no_inherit_;
    options_.sampling.no_inherit_given = true;
  }
  if (timestamps_) {
    options_.sampling.timestamps = *timestamps_;
    options_.sampling.timestamps_given = *timestamps_;
  }
  if (options_.sampling.overwrite) options_.synthesis.at_end = true;
  settle_build_ids(env);
  TRY(refuse_conflicts());
  return options_;
}

Result<> RecordFlags::refuse_conflicts() const {
  bool pipe = options_.output.path == "-";
  if (options_.output.threads) {
    if (options_.output.aio_blocks > 0)
      return fail(ErrorCode::kFailed,
                  "Asynchronous streaming mode (--aio) is mutually exclusive to parallel streaming "
                  "mode.");
    if (options_.target.per_thread)
      return fail(ErrorCode::kFailed,
                  "--per-thread option is mutually exclusive to parallel streaming mode.");
    if (pipe)
      return fail(ErrorCode::kFailed,
                  "Output to pipe is not available in parallel streaming mode.");
    if (options_.switch_output.enabled || options_.sampling.overwrite)
      return fail(ErrorCode::kFailed,
                  "--switch-output and --overwrite are not available in parallel streaming mode.");
  }
  if (options_.output.kernel_copy) {
    if (pipe) return fail(ErrorCode::kFailed, "--kcore needs a file: a pipe holds no directory");
    TRY(check_kcore_readable());
  }
  if (pipe && options_.switch_output.enabled)
    return fail(ErrorCode::kFailed, "--switch-output needs a file: a pipe cannot be renamed");
  return {};
}

void RecordFlags::settle_build_ids(const Env& env) {
  BuildIdOptions& build_ids = options_.build_ids;
  // What would take long at each switch is left out, unless it is asked for.
  bool switching = options_.switch_output.enabled;
  if (no_buildid_ || switching) build_ids.collect = !no_buildid_.value_or(switching);
  if (no_buildid_cache_ || switching)
    build_ids.update_cache = !no_buildid_cache_.value_or(switching);
  if (options_.sampling.buildid_mmap) build_ids.collect = false;
  if (build_ids.cache_directory.empty()) {
    if (auto directory = env.variable("PERF_BUILDID_DIR"))
      build_ids.cache_directory = *directory;
    else if (auto home = env.variable("HOME"))
      build_ids.cache_directory = *home + "/.debug";
  }
}

Result<> RecordFlags::settle_events(Env& env) {
  for (const EventAction& action : event_actions_) TRY(apply(action, env));
  return {};
}

Result<> RecordFlags::apply(const EventAction& action, Env& env) {
  using Kind = EventAction::Kind;
  PmuCatalog pmus;
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  EventSources sources{.pmus = pmus, .tracefs = tracefs, .tool = env.tool};
  switch (action.kind) {
    case Kind::kEvent:
      return parse_events(action.text, sources, options_.events);
    case Kind::kSwitchEvent:
      options_.switch_output.enabled = options_.switch_output.on_signal = true;
      return parse_events(action.text, sources, options_.switch_output_events);
    case Kind::kFilter:
      return options_.events.add_filter(action.text);
    case Kind::kExcludeSelf:
      return options_.events.exclude_process(::getpid());
    case Kind::kCgroup:
      return add_cgroups(action.text);
  }
  return {};
}

/// Cgroups go to the events that have none yet, in order; a single one to all of them.
Result<> RecordFlags::add_cgroups(std::string_view list) {
  if (options_.events.empty()) return fail(ErrorCode::kUsage, "must define events before cgroups");
  std::vector<std::string_view> names = split(list, ',');
  size_t first = options_.cgroups.size();
  if (first + names.size() > options_.events.size())
    return fail(ErrorCode::kUsage, "-G {}: there are more cgroups than events before it", list);
  for (std::string_view name : names) options_.cgroups.emplace_back(name);
  if (names.size() == 1) options_.cgroups.resize(options_.events.size(), std::string(names[0]));
  return {};
}

}  // namespace sonde
