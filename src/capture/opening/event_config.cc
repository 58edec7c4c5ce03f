#include "capture/opening/event_config.h"

#include <algorithm>

#include "capture/recorders/futex_event.h"
#include "capture/recorders/off_cpu_event.h"

namespace sonde {
namespace {

using abi::EventAttr;

constexpr uint64_t kCallStackBranches = abi::kBranchUser | abi::kBranchCallStack |
                                        abi::kBranchNoFlags | abi::kBranchNoCycles |
                                        abi::kBranchHwIndex;

constexpr uint64_t kArm64LinkRegister = uint64_t{1} << 30;

/// Registers that the command line asks for, plus those that its call graphs need in every event.
uint64_t user_registers(const SamplingOptions& options, abi::Arch arch) {
  bool has_frameless_leaves = arch == abi::Arch::kArm64 &&
                              options.call_graph == CallGraphMode::kFramePointer &&
                              !options.aggregation.enabled;  // sums have no registers
  return options.user_registers | (has_frameless_leaves ? kArm64LinkRegister : 0);
}

bool is_x86(abi::Arch arch) {
  return arch == abi::Arch::kX86_64 || arch == abi::Arch::kX86;
}

/// Settings that are the same for all events of one recording.
class Configurator {
 public:
  Configurator(const SamplingOptions& options, const ConfigContext& context)
      : options_(options),
        context_(context),
        user_registers_(user_registers(options, context.arch)),
        no_inherit_(options.no_inherit || context.target.per_thread) {}

  void configure(CaptureEvent& event, size_t group_size) const {
    EventAttr& attr = event.attr();
    attr.sample_id_all = 1;
    attr.inherit = !no_inherit_;
    attr.write_backward =
        options_.overwrite && !(options_.keep_sideband && event.is_tracking && event.is_dummy());
    attr.read_format = abi::kFormatLost | abi::kFormatId;
    attr.sample_type |= abi::kSampleIp | abi::kSampleTid;
    if (event.parsed.sample_read) set_group_read(attr, group_size);
    set_rate(event);
    set_contents(event);
    set_call_graph(attr, options_.call_graph, options_.stack_dump_size(), options_.max_stack);
    if (user_registers_ != 0 && !event.is_dummy()) {
      attr.sample_type |= abi::kSampleRegsUser;
      attr.sample_regs_user |= user_registers_;
    }
    set_tracking(event);
    set_start(event);
    if (event.parsed.precise_max) attr.precise_ip = 3;
    if (options_.all_user) attr.exclude_kernel = 1, attr.exclude_user = 0;
    if (options_.all_kernel) attr.exclude_kernel = 0, attr.exclude_user = 1;
    apply_terms(event);
    leave_user_chain_out(event);
    if (options_.period_in_sample) set_bit(attr, abi::kSamplePeriod, *options_.period_in_sample);
    if (event.is_dummy()) set_bit(attr, abi::kSampleBranchStack, false);
    if (is_beside_trace(event)) set_beside_trace(event);
    if (is_off_cpu_event(event.parsed) || is_waker_event(event.parsed) ||
        is_futex_event(event.parsed))
      set_off_cpu_contents(attr);
  }

 private:
  static void set_bit(EventAttr& attr, uint64_t bit, bool on) {
    attr.sample_type = on ? attr.sample_type | bit : attr.sample_type & ~bit;
  }

  static void set_group_read(EventAttr& attr, size_t group_size) {
    // Values that are read with a sample are identified by their ids.
    attr.sample_type |= abi::kSampleRead | abi::kSampleId;
    if (group_size < 2) return;
    attr.read_format |= abi::kFormatGroup;
  }

  [[nodiscard]] bool is_beside_trace(const CaptureEvent& event) const {
    return context_.trace && (event.is_trace || event.is_added);
  }

  void set_rate(CaptureEvent& event) const {
    EventAttr& attr = event.attr();
    // Some kinds of events (tracepoints, breakpoints …) have their own period, which only -F or -c
    // override.
    bool own_rate = is_beside_trace(event);
    if (attr.sample_period == 0 || (context_.rate.given && !own_rate)) {
      if (context_.rate.freq != 0) {
        attr.freq = 1;
        attr.sample_period = context_.rate.freq;
      } else {
        attr.freq = 0;
        attr.sample_period = context_.rate.period;
      }
    }
    if (attr.freq || options_.aggregation.enabled) attr.sample_type |= abi::kSamplePeriod;
    if (options_.no_samples) attr.sample_period = 0;
    if (options_.thread_counts) {
      attr.read_format |= abi::kFormatTotalTimeEnabled | abi::kFormatTotalTimeRunning;
      attr.inherit_stat = 1;
    }
    if (options_.running_time)
      attr.read_format |= abi::kFormatTotalTimeEnabled | abi::kFormatTotalTimeRunning;
  }

  void set_contents(CaptureEvent& event) const {
    EventAttr& attr = event.attr();
    const Target& target = context_.target;
    if (sample_addresses()) attr.sample_type |= abi::kSampleAddr | abi::kSampleDataSrc;
    if (options_.data_source) attr.sample_type |= abi::kSampleDataSrc;
    if (options_.interrupt_registers != 0 && !event.is_dummy()) {
      attr.sample_type |= abi::kSampleRegsIntr;
      attr.sample_regs_intr = options_.interrupt_registers;
    }
    if ((target.has_cpu() && !options_.aggregation.enabled) || options_.cpu)
      attr.sample_type |= abi::kSampleCpu;
    if (options_.timestamps && (!target.per_thread || options_.timestamps_given))
      attr.sample_type |= abi::kSampleTime;
    if (options_.raw) attr.sample_type |= abi::kSampleTime | abi::kSampleRaw | abi::kSampleCpu;
    if (options_.physical_addresses) attr.sample_type |= abi::kSamplePhysAddr;
    if (options_.no_buffering) {
      attr.watermark = 0;
      attr.wakeup_events = 1;
    }
    if (options_.branch_types != 0) {
      attr.sample_type |= abi::kSampleBranchStack;
      attr.branch_sample_type = options_.branch_types;
    }
    // Only x86 distinguishes the parts of a weight.
    if (options_.weight)
      attr.sample_type |= is_x86(context_.arch) ? abi::kSampleWeightStruct : abi::kSampleWeight;
    if (options_.cgroups) attr.sample_type |= abi::kSampleCgroup;
    if (options_.data_page_size) attr.sample_type |= abi::kSampleDataPageSize;
    if (options_.code_page_size) attr.sample_type |= abi::kSampleCodePageSize;
    if (options_.transaction) attr.sample_type |= abi::kSampleTransaction;
    if (options_.clockid) {
      attr.use_clockid = 1;
      attr.clockid = *options_.clockid;
    }
    if (options_.call_graph != CallGraphMode::kNone || options_.kernel_callchains ||
        options_.user_callchains) {
      attr.exclude_callchain_user = options_.kernel_callchains;
      attr.exclude_callchain_kernel = options_.user_callchains;
    }
  }

  /// Stack copies are unwound later, which may need the data in mapped files.
  [[nodiscard]] bool sample_addresses() const {
    return options_.addresses || options_.call_graph == CallGraphMode::kDwarf;
  }

  void set_call_graph(EventAttr& attr, CallGraphMode mode, uint32_t dump_size,
                      uint32_t max_stack) const {
    if (mode == CallGraphMode::kNone) return;
    attr.sample_type |= abi::kSampleCallchain;
    attr.sample_max_stack = static_cast<uint16_t>(max_stack);
    bool is_function_trace = attr.type == abi::kTypeTracepoint && attr.exclude_callchain_user;
    if (mode == CallGraphMode::kLbr && !is_function_trace && !attr.exclude_callchain_user) {
      attr.sample_type |= abi::kSampleBranchStack;
      attr.branch_sample_type = kCallStackBranches;
    }
    if (mode == CallGraphMode::kDwarf) {
      bool is_dummy = attr.type == abi::kTypeSoftware && attr.config == abi::kSwDummy;
      if (is_dummy) return;
      attr.sample_type |= abi::kSampleRegsUser | abi::kSampleStackUser;
      attr.sample_regs_user |= abi::default_register_mask(context_.arch);
      attr.sample_stack_user = dump_size;
      // Unwinding while recording can use what frame pointers say beyond the end of the copy.
      attr.exclude_callchain_user = !options_.unwind_stacks || options_.kernel_callchains;
    }
    // Without a size the kernel leaves the stack empty, and the walker copies those that need it.
    if (mode == CallGraphMode::kBpf && attr.type != abi::kTypeTracepoint && !is_dummy(attr)) {
      attr.sample_type |= abi::kSampleRegsUser | abi::kSampleStackUser;
      attr.sample_regs_user |= abi::default_register_mask(context_.arch);
      if (options_.copies_walked) attr.sample_stack_user = dump_size;
    }
  }

  /// What the BPF stack walker finds takes the place of what the kernel would by frame pointers.
  /// For precise events, the kernel accepts a program that asks for its chain only if they have
  /// both.
  void leave_user_chain_out(CaptureEvent& event) const {
    if (options_.call_graph == CallGraphMode::kBpf && !options_.aggregation.enabled &&
        !event.parsed.terms.call_graph)
      event.attr().exclude_callchain_user = 1;
  }

  void set_tracking(CaptureEvent& event) const {
    EventAttr& attr = event.attr();
    bool track = event.is_tracking;
    attr.task = attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = track;
    // Among sums there are too few copies to describe all memory for.
    bool has_copies = copies_stacks(options_.call_graph) && !options_.aggregation.enabled;
    attr.mmap_data = track && (options_.addresses || has_copies);
    attr.build_id = track && options_.buildid_mmap;
    attr.namespaces = track && options_.namespaces;
    attr.cgroup = track && options_.cgroups;
    attr.context_switch = track && tracks_switches();
    attr.ksymbol = track && !(context_.trace && context_.trace->text_pokes);
    attr.bpf_event = track && options_.bpf_events;
  }

  /// The trace itself and its dummies: when and where, so that they can be put in order.
  void set_beside_trace(CaptureEvent& event) const {
    EventAttr& attr = event.attr();
    bool is_pokes = event.is_system_wide && event.adds_text_pokes;
    if (context_.trace->per_cpu && !is_pokes)
      attr.sample_type |= abi::kSampleTime | abi::kSampleCpu;
    if (is_pokes) attr.sample_type |= abi::kSampleTime;
    if (event.adds_text_pokes) attr.ksymbol = attr.text_poke = 1;
    if (event.adds_switches) attr.context_switch = 1;
  }

  /// Whether the tracking event tells of context switches.
  [[nodiscard]] bool tracks_switches() const {
    using Switches = TraceCompanions::Switches;
    Switches traced = context_.trace ? context_.trace->switches : Switches::kNone;
    if (traced == Switches::kNone) return options_.switch_events;
    return traced != Switches::kOfCpus;
  }

  void set_start(CaptureEvent& event) const {
    EventAttr& attr = event.attr();
    attr.disabled = 1;
    attr.enable_on_exec = context_.target.is_command() && !context_.delayed;
    if (event.is_immediate) attr.disabled = attr.enable_on_exec = 0;
    bool until_exec = !context_.trace || context_.delayed;
    if (event.is_added && !event.is_immediate && until_exec) attr.enable_on_exec = 1;
  }

  void apply_terms(CaptureEvent& event) const {
    EventAttr& attr = event.attr();
    const EventTerms& terms = event.parsed.terms;
    // A rate on the command line applies to events without their own; a rate in the event wins.
    if (terms.period) {
      attr.freq = 0;
      attr.sample_period = *terms.period;
      set_bit(attr, abi::kSamplePeriod, options_.aggregation.enabled);
    }
    if (terms.freq) {
      attr.freq = 1;
      attr.sample_period = *terms.freq;
      set_bit(attr, abi::kSamplePeriod, true);
    }
    if (terms.time) set_bit(attr, abi::kSampleTime, *terms.time);
    if (terms.inherit) attr.inherit = *terms.inherit;
    if (terms.overwrite) attr.write_backward = *terms.overwrite;
    if (terms.branch_type && (*terms.branch_type != 0)) {
      set_bit(attr, abi::kSampleBranchStack, true);
      attr.branch_sample_type = *terms.branch_type;
    }
    attr.aux_output = terms.aux_output;
    attr.aux_action = terms.aux_action;
    apply_call_graph_terms(attr, terms);
  }

  void apply_call_graph_terms(EventAttr& attr, const EventTerms& terms) const {
    if (!terms.call_graph && !terms.max_stack && !terms.stack_size) return;
    auto max_stack = static_cast<uint32_t>(terms.max_stack.value_or(options_.max_stack));
    if (!terms.call_graph && !terms.stack_size) {
      attr.sample_type |= abi::kSampleCallchain;
      attr.sample_max_stack = static_cast<uint16_t>(max_stack);
      return;
    }
    // Start afresh: the event's own setting replaces the command line's.
    attr.sample_type &= ~uint64_t{abi::kSampleCallchain | abi::kSampleStackUser};
    attr.sample_stack_user = 0;
    attr.exclude_callchain_user = options_.kernel_callchains;
    attr.sample_regs_user = user_registers_;
    set_bit(attr, abi::kSampleRegsUser, user_registers_ != 0);
    CallGraphMode mode = options_.call_graph;
    if (terms.call_graph) mode = static_cast<CallGraphMode>(*terms.call_graph);
    auto dump = static_cast<uint32_t>(terms.stack_size.value_or(options_.stack_dump_size()));
    set_call_graph(attr, mode, dump, max_stack);
    if (mode != CallGraphMode::kDwarf) return;
    attr.sample_type |= abi::kSampleAddr | abi::kSampleDataSrc;
    attr.mmap_data = attr.mmap;
  }

  const SamplingOptions& options_;
  const ConfigContext& context_;
  uint64_t user_registers_;
  bool no_inherit_;
};
static_assert(static_cast<int>(CallGraphTerm::kLbr) == static_cast<int>(CallGraphMode::kLbr));

/// A dummy in the manner of those that perf adds to traces.
CaptureEvent& add_trace_dummy(std::vector<CaptureEvent>& events) {
  CaptureEvent& dummy = events.emplace_back();
  EventAttr& attr = dummy.attr();
  attr.type = abi::kTypeSoftware;
  attr.config = abi::kSwDummy;
  attr.sample_period = 1;
  attr.exclude_kernel = attr.exclude_hv = attr.exclude_guest = 1;
  dummy.parsed.name = "dummy:u";
  dummy.parsed.leader = static_cast<uint32_t>(events.size() - 1);
  dummy.is_added = true;
  return dummy;
}

void add_trace_companions(std::vector<CaptureEvent>& events, const ConfigContext& context) {
  using Switches = TraceCompanions::Switches;
  const TraceCompanions& trace = *context.trace;
  events.front().is_trace = true;
  if (trace.switches == Switches::kOfCpus) {
    CaptureEvent& switches = add_trace_dummy(events);
    switches.adds_switches = switches.is_system_wide = switches.is_immediate = true;
  }
  CaptureEvent& tracking = add_trace_dummy(events);
  tracking.is_tracking = true;
  tracking.is_immediate = context.target.has_cpu() || trace.switches == Switches::kOfThreads ||
                          trace.switches == Switches::kOfTracking;
  tracking.parsed.terms.cpus = tracking.parsed.cpus = context.all_cpus;
  if (!trace.text_pokes) return;
  CaptureEvent& pokes = add_trace_dummy(events);
  pokes.adds_text_pokes = pokes.is_system_wide = pokes.is_immediate = true;
  if (!trace.per_cpu) pokes.parsed.terms.cpus = trace.online_cpus;
}

/// Chooses the event that carries the sideband; appends a dummy if none of the given ones can.
void choose_tracking(std::vector<CaptureEvent>& events, const SamplingOptions& options,
                     const ConfigContext& context) {
  if (context.trace) return add_trace_companions(events, context);
  bool has_own_ring = options.overwrite && options.keep_sideband;
  if (!context.delayed && !context.target.has_cpu() && !has_own_ring) {
    events.front().is_tracking = true;
    return;
  }
  if (events.front().is_dummy()) {
    events.front().is_tracking = true;
  } else {
    CaptureEvent& dummy = events.emplace_back();
    dummy.parsed.attr.type = abi::kTypeSoftware;
    dummy.parsed.attr.config = abi::kSwDummy;
    dummy.parsed.attr.sample_period = 1;
    dummy.parsed.name = "dummy:HG";
    dummy.parsed.leader = static_cast<uint32_t>(events.size() - 1);
    dummy.is_tracking = dummy.is_added = true;
    dummy.parsed.terms.cpus = dummy.parsed.cpus = context.all_cpus;
  }
  CaptureEvent& tracking = events.back().is_added ? events.back() : events.front();
  tracking.is_immediate = context.target.has_cpu() || !context.delayed;
}

/// In a group that is read with :S only the leader samples; the others' values are in its samples.
void set_leader_sampling(std::vector<CaptureEvent>& events) {
  for (CaptureEvent& event : events) {
    const CaptureEvent& leader = events[event.parsed.leader];
    if (!event.parsed.sample_read || &leader == &event) continue;
    event.attr().freq = 0;
    event.attr().sample_period = 0;
    event.attr().write_backward = 0;
    event.attr().sample_type = leader.attr().sample_type;
  }
}

void set_ids(std::vector<CaptureEvent>& events, bool identifier) {
  if (events.size() > 1)
    identifier |= !std::ranges::all_of(events, [&](const CaptureEvent& event) {
      return event.attr().sample_type == events.front().attr().sample_type;
    });
  else if (!identifier)
    return;
  for (CaptureEvent& event : events) {
    uint64_t& type = event.attr().sample_type;
    type = identifier ? (type & ~uint64_t{abi::kSampleId}) | abi::kSampleIdentifier
                      : type | abi::kSampleId;
  }
}

/// Kinds of events of which every occurrence is sampled, and that carry their own data.
void set_kind_defaults(EventAttr& attr) {
  bool is_bpf_output = attr.type == abi::kTypeSoftware && attr.config == abi::kSwBpfOutput;
  if (attr.type == abi::kTypeTracepoint || is_bpf_output)
    attr.sample_type |= abi::kSampleRaw | abi::kSampleTime | abi::kSampleCpu | abi::kSamplePeriod;
  else if (attr.type != abi::kTypeBreakpoint)
    return;
  if (attr.sample_period == 0) attr.sample_period = 1;
}

size_t group_size_of(const std::vector<CaptureEvent>& events, uint32_t leader) {
  return static_cast<size_t>(std::ranges::count_if(
      events, [&](const CaptureEvent& e) { return e.parsed.leader == leader; }));
}

}  // namespace

Result<SamplingRate> settle_rate(const SamplingOptions& options, uint64_t kernel_max_freq,
                                 uint64_t default_freq, std::vector<std::string>& messages) {
  SamplingRate rate{.freq = default_freq};
  rate.given = options.freq || options.freq_max || options.period;
  if (options.period && (options.freq || options.freq_max))
    return fail(
        ErrorCode::kFailed,
        "-F and -c: samples are taken so many times a second, or every so many events: give one");
  if (options.freq) rate.freq = *options.freq;
  if (options.freq_max) {
    if (kernel_max_freq == 0)
      return fail(ErrorCode::kFailed,
                  "couldn't read /proc/sys/kernel/perf_event_max_sample_rate: give a frequency");
    rate.freq = kernel_max_freq;
    messages.push_back(
        fmt::format("info: Using a maximum frequency rate of {} Hz", kernel_max_freq));
  }
  if (options.period && *options.period != 0) {
    rate.freq = 0;
    rate.period = *options.period;
    return rate;
  }
  if (rate.freq == 0)
    return fail(ErrorCode::kFailed, "a frequency of 0 takes no samples: give -F or -c");
  if (kernel_max_freq == 0 || rate.freq <= kernel_max_freq) return rate;
  if (rate.given && options.strict_freq)
    return fail(ErrorCode::kFailed,
                "error: Maximum frequency rate ({} Hz) exceeded.\n"
                "       Please use -F freq option with a lower value or consider\n"
                "       tweaking /proc/sys/kernel/perf_event_max_sample_rate.",
                kernel_max_freq);
  if (rate.given)
    messages.push_back(fmt::format(
        "warning: Maximum frequency rate ({0} Hz) exceeded, throttling from {1} Hz to {0} Hz.\n"
        "         The limit can be raised via /proc/sys/kernel/perf_event_max_sample_rate.\n"
        "         The kernel will lower it when perf's interrupts take too long.\n"
        "         Use --strict-freq to disable this throttling, refusing to record.",
        kernel_max_freq, rate.freq));
  else
    messages.push_back(
        fmt::format("Lowering default frequency rate from {} to {}.\n"
                    "Please consider tweaking "
                    "/proc/sys/kernel/perf_event_max_sample_rate.",
                    rate.freq, kernel_max_freq));
  rate.freq = kernel_max_freq;
  return rate;
}

std::vector<CaptureEvent> configure_events(const EventList& list, const SamplingOptions& options,
                                           const ConfigContext& context) {
  std::vector<CaptureEvent> events;
  for (const ParsedEvent& parsed : list.events()) {
    CaptureEvent& event = events.emplace_back();
    event.parsed = parsed;
    set_kind_defaults(event.attr());
    if (!parsed.terms.cpus.empty()) event.parsed.cpus = parsed.terms.cpus;
    if (options.group_all) event.parsed.leader = 0;
  }
  choose_tracking(events, options, context);
  Configurator configurator(options, context);
  for (size_t i = 0; i < events.size(); ++i) {
    CaptureEvent& event = events[i];
    bool leads = event.parsed.leader == i;
    configurator.configure(event, group_size_of(events, event.parsed.leader));
    if (!leads) event.attr().disabled = event.attr().enable_on_exec = 0;
  }
  set_leader_sampling(events);
  set_ids(events, options.identifier || context.trace.has_value() ||
                      options.call_graph == CallGraphMode::kBpf);
  return events;
}

}  // namespace sonde
