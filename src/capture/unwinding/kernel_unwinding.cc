#include "capture/unwinding/kernel_unwinding.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "capture/recorders/aggregate_recorder.h"
#include "symbol/dso_symbols.h"

namespace sonde {
namespace {

/// By walk_end.
constexpr std::array<std::string_view, WALK_ENDS> kReasons = {
    "complete",
    "at a return address in no code",
    "in code without call frame information and frame pointers",
    "where call frame information is of no use",
    "after 512 frames",
    "in objects whose tables were not loaded yet",
    "in stack that is not in memory",
    "in 32-bit code"};

/// What a carrier's records have in common with those of the other events: the id block, so that a
/// LOST record that comes through it looks like theirs.
constexpr uint64_t kIdBlock = abi::kSampleTid | abi::kSampleTime | abi::kSampleCpu |
                              abi::kSampleStreamId | abi::kSampleId | abi::kSampleIdentifier;

abi::EventAttr carrier_attr(const abi::EventAttr& like) {
  abi::EventAttr attr;
  attr.type = abi::kTypeSoftware;
  attr.config = abi::kSwBpfOutput;
  attr.sample_period = 1;
  attr.sample_type = (like.sample_type & kIdBlock) | abi::kSampleRaw;
  attr.sample_id_all = 1;
  attr.use_clockid = like.use_clockid;
  attr.clockid = like.clockid;
  return attr;
}

/// The program that execvp() would run.
std::string program_path(const std::string& name, const Env& env) {
  if (name.find('/') != std::string::npos) return name;
  std::string search = env.variable("PATH").value_or("/usr/bin:/bin");
  for (std::string_view directory : split(search, ':'))
    if (std::string path = fmt::format("{}/{}", directory, name); ::access(path.c_str(), X_OK) == 0)
      return path;
  return {};
}

}  // namespace

bool KernelUnwinding::is_walked(const CaptureEvent& event) {
  const abi::EventAttr& attr = event.attr();
  bool is_own = attr.type == abi::kTypeSoftware && attr.config == abi::kSwBpfOutput;
  return attr.samples(abi::kSampleCallchain) && !event.is_dummy() && !is_own &&
         !event.parsed.terms.call_graph;
}

KernelUnwinding::KernelUnwinding(StackWalker walker, const RecordOptions& options, Env& env)
    : walker_(std::move(walker)),
      tables_(walker_,
              {.files = finder_options({}, env), .interpreters = options.sampling.interpreters}) {}

Result<std::unique_ptr<KernelUnwinding>> KernelUnwinding::open(const Capture& capture,
                                                               const std::vector<EventDesc>& events,
                                                               const RecordOptions& options,
                                                               Env& env) {
  std::optional<StackSumOptions> sums;
  if (options.sampling.aggregation.enabled) sums = sum_options(options);
  StackWalker walker =
      options.walker != nullptr ? std::move(*options.walker) : TRY(StackWalker::open(sums));
  std::unique_ptr<KernelUnwinding> opened(new KernelUnwinding(std::move(walker), options, env));
  opened->counts_ = sums.has_value();
  std::vector<ChainJoiner::Walked> walked;
  for (const CaptureEvent& event : capture.events) {
    if (is_walked(event)) opened->walked_events_.push_back(static_cast<uint32_t>(walked.size()));
    walked.push_back({.is_walked = is_walked(event),
                      .keeps_registers = options.sampling.user_registers != 0,
                      .keeps_copies = options.sampling.copies_walked});
  }
  opened->joiner_.emplace(events, std::move(walked));
  opened->functions_.emplace(opened->walker_, events.front().attr);
  opened->joiner_->set_interpreted(&*opened->functions_);
  TRY(opened->add_carriers(capture, env.sys));
  opened->load_tables(capture, options, env);
  TRY(opened->tables_.start());
  std::optional<pid_t> command;
  if (capture.target.is_command() && capture.workload) command = capture.workload->pid();
  if (capture.target.kind != Target::Kind::kTasks) TRY(opened->walker_.watch_programs(command));
  TRY(opened->attach(capture, env.sys));
  return opened;
}

Result<> KernelUnwinding::add_carriers(const Capture& capture, Sys& sys) {
  abi::EventAttr attr = carrier_attr(capture.events.front().attr());
  SampleLayout layout(attr);
  for (const CaptureRing& ring : capture.rings->rings()) {
    if (ring.cpu < 0)
      return fail(ErrorCode::kUnsupported,
                  "--call-graph bpf: not with --per-thread: chains arrive in the rings of CPUs");
    SysResult<int> fd = sys.perf_event_open(reinterpret_cast<perf_event_attr*>(&attr), -1, ring.cpu,
                                            -1, PERF_FLAG_FD_CLOEXEC);
    if (!fd)
      return fail(ErrorCode::kPermission, "--call-graph bpf: cannot open an event on CPU {}: {}",
                  ring.cpu, std::strerror(fd.error()));
    carriers_.emplace_back(*fd);
    uint64_t id = 0;
    SysResult<int> done = sys.ioctl(*fd, PERF_EVENT_IOC_ID, reinterpret_cast<uint64_t>(&id));
    if (done)
      done = sys.ioctl(*fd, PERF_EVENT_IOC_SET_OUTPUT, static_cast<uint64_t>(ring.buffer.fd()));
    if (!done)
      return fail(ErrorCode::kUnsupported, "--call-graph bpf: cannot use the ring of CPU {}: {}",
                  ring.cpu, std::strerror(done.error()));
    TRY(walker_.set_carrier(ring.cpu, *fd));
    joiner_->add_ring(ring.cpu, id, layout);
  }
  return {};
}

/// Gives the `number`th of the walked events its program; returns an error number, or 0. Links cost
/// a descriptor each, and so are used only to tell events apart.
int KernelUnwinding::attach_to(int fd, size_t number, Sys& sys) {
  if (number > 0) return walker_.attach_counted(fd, static_cast<uint16_t>(number));
  SysResult<int> set =
      sys.ioctl(fd, PERF_EVENT_IOC_SET_BPF, static_cast<uint64_t>(walker_.program()));
  return set ? 0 : set.error();
}

Result<> KernelUnwinding::attach(const Capture& capture, Sys& sys) {
  for (size_t number = 0; number < walked_events_.size(); ++number) {
    const CaptureEvent& event = capture.events[walked_events_[number]];
    for (const OpenedEvent& opened : event.opened) {
      int error = attach_to(opened.fd, counts_ ? number : 0, sys);
      if (error == 0) continue;
      if (error == EEXIST)
        return fail(ErrorCode::kUnsupported,
                    "--call-graph bpf: {} has another BPF program, and there is room for one: use "
                    "--call-graph dwarf",
                    event.parsed.name);
      return fail(
          ErrorCode::kUnsupported,
          "--call-graph bpf: {}: {}: the walker runs on sampling events, not on tracepoints "
          "and probes: use --call-graph dwarf",
          event.parsed.name, std::strerror(error));
    }
  }
  return {};
}

StackSumWindow KernelUnwinding::take_sums() {
  StackSumWindow window = walker_.sums().take();
  for (StackSumRow& row : window.rows)
    row.event = walked_events_[std::min<size_t>(row.event, walked_events_.size() - 1)];
  return window;
}

void KernelUnwinding::complete(StackSumRow& row, Sample& sample, std::vector<std::byte>& records) {
  if (row.user_chain.empty()) return;
  functions_->place(row.user_chain, sample, records);
  sample.chain_cut = chain_cut_of(row.end);
  counted_.add(row.end, row.object, row.count);
}

void KernelUnwinding::load_tables(const Capture& capture, const RecordOptions& options,
                                  const Env& env) {
  std::vector<pid_t> pids;
  if (capture.target.kind == Target::Kind::kTasks)
    for (const ThreadEntry& thread : capture.target.threads) pids.push_back(thread.tid);
  if (capture.target.is_command()) pids.push_back(::getpid());  // libc and the like
  tables_.load_mapped(pids);
  // Programs that run others (taskset, time, env) have their names among the arguments.
  for (const std::string& word : options.target.command)
    tables_.load_program(program_path(word, env));
}

/// Why frames of interpreters are missing, or have no name.
void KernelUnwinding::report_interpreted(std::string_view command, const RecordOptions& options,
                                         Env& env) const {
  constexpr std::array<std::string_view, CODE_LOSSES> kCodeReasons = {
      "memory that is not present", "something else than a code object",
      "no room for another function"};
  constexpr std::array<std::string_view, INTERPRETERS> kLanguages = {"Python", "Ruby"};
  auto tell = [&](std::string_view text) {
    say(options, env, fmt::format("[ {} {}: {} ]", env.tool, command, text));
  };
  for (interpreter of : {INTERPRETER_PYTHON, INTERPRETER_RUBY}) {
    StackWalker::CodeLosses lost = walker_.codes_lost(of);
    std::string reasons;
    for (size_t i = 0; i < lost.size(); ++i)
      if (lost[i] > 0) reasons += fmt::format(", {}: {} times", kCodeReasons[i], lost[i]);
    InterpretedFunctions::Figures figures = functions_->figures(of);
    if (figures.without_name > 0 || !reasons.empty())
      tell(fmt::format("{} of {} {} frames have no name{}", figures.without_name, figures.frames,
                       kLanguages[of], reasons));
    if (figures.cut_tables > 0)
      tell(fmt::format("{} {} functions are so long that not all of their lines are known",
                       figures.cut_tables, kLanguages[of]));
    if (options.verbose > 0 && figures.frames > 0)
      tell(fmt::format("{} {} frames", figures.frames, kLanguages[of]));
  }
  for (const std::string& line : tables_.unknown_interpreters()) tell(line);
}

void KernelUnwinding::report(std::string_view command, const RecordOptions& options,
                             Env& env) const {
  ChainEnds ends = joiner_->ends();
  ends.add(counted_);
  auto tell = [&](std::string_view text) {
    say(options, env, fmt::format("[ {} {}: {} ]", env.tool, command, text));
  };
  uint64_t all = ends.all(), complete = ends.by_reason[WALK_OUTERMOST] + ends.copied;
  if (all > complete) {
    std::string reasons;
    auto add = [&](uint64_t count, std::string_view reason) {
      if (count > 0) reasons += fmt::format("{} {} {}", reasons.empty() ? ":" : ",", count, reason);
    };
    for (size_t end = WALK_OUTERMOST + 1; end < kReasons.size(); ++end)
      add(ends.by_reason[end], kReasons[end]);
    add(ends.missing, "for which the ring had no room (-m)");
    tell(fmt::format("{} of {} user call chains are incomplete, and end{}", all - complete, all,
                     reasons));
  }
  bool in_generated_code = std::ranges::any_of(ends.unfinished, [](const auto& entry) {
    return entry.first.is_generated != 0 && entry.second[WALK_NO_RULE] > 0;
  });
  if (in_generated_code)
    tell(
        "generated code can be crossed if it keeps frame pointers, as Java's does with --jit, or "
        "if a jitdump describes it");
  if (uint64_t lost = walker_.lost().objects; lost > 0)
    tell(fmt::format("{} times there was no room to ask for an object's unwinding table", lost));
  report_interpreted(command, options, env);
  if (options.verbose == 0) return;
  if (ends.copied > 0)
    tell(
        fmt::format("{} of {} stacks are copies, in objects whose tables were not loaded yet, "
                    "code that jitdumps describe, or 32-bit code",
                    ends.copied, all));
  for (const auto& [object, counts] : ends.unfinished)
    for (size_t end = 0; end < counts.size(); ++end)
      if (counts[end] > 0)
        say(options, env,
            fmt::format("  {}: {} end {}", tables_.name_of(object), counts[end], kReasons[end]));
  ObjectTables::Figures figures = tables_.figures();
  tell(
      fmt::format("unwinding tables of {} of {} objects, {:.1f} MB; {} were dropped to save memory",
                  figures.loaded, figures.objects, static_cast<double>(figures.bytes) / (1 << 20),
                  figures.dropped));
}

}  // namespace sonde
