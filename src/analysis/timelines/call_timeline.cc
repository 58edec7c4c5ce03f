#include "analysis/timelines/call_timeline.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include <tsl/robin_map.h>

#include "analysis/timelines/call_spans.h"
#include "base/hashing/number_hash.h"
#include "base/text.h"
#include "itrace/synthesizer.h"
#include "itrace/trace_input.h"
#include "machine/machine.h"
#include "perfdata/records/trace_flags.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

BranchKind kind_of(uint32_t flags) {
  if ((flags & kTraceBegin) != 0) return BranchKind::kBegin;
  if ((flags & kTraceReturn) != 0) return BranchKind::kReturn;
  if ((flags & kTraceEnd) != 0) return BranchKind::kEnd;
  if ((flags & kTraceCall) != 0) return BranchKind::kCall;
  return BranchKind::kJump;
}

/// Numbers the functions of frames. Code without a symbol is one function of its object.
class Functions {
 public:
  explicit Functions(const Session& session) : session_(session) {}

  CallSpans::Code code_at(const Frame& frame, uint64_t address) {
    bool has_symbol = frame.symbol.valid();
    return {address, number_of(frame), has_symbol && frame.address == frame.symbol_start};
  }
  /// Whether the function of the frame has this address of the same object.
  [[nodiscard]] bool contains(const Frame& frame, uint64_t address) {
    if (!frame.symbol.valid()) return false;
    return address - frame.symbol_start < sizes_[number_of(frame)];
  }
  [[nodiscard]] std::vector<view::TimelineFunction> take() && { return std::move(functions_); }

 private:
  uint32_t number_of(const Frame& frame) {
    uint64_t key = uint64_t{frame.dso.value} << 32 | frame.symbol.value;
    auto [place, is_new] = number_of_.try_emplace(key, static_cast<uint32_t>(functions_.size()));
    if (is_new) {
      functions_.push_back(described(frame));
      sizes_.push_back(frame.symbol.valid()
                           ? session_.symbolizer().info(frame.symbol).end - frame.symbol_start
                           : 0);
    }
    return place->second;
  }
  [[nodiscard]] view::TimelineFunction described(const Frame& frame) const {
    view::TimelineFunction function;
    if (frame.dso.valid()) function.object = session_.machine().dsos()[frame.dso].short_name;
    function.is_kernel = frame.level == FrameLevel::kKernel;
    function.name =
        frame.symbol.valid() ? std::string(session_.symbolizer().name(frame.symbol)) : "[unknown]";
    return function;
  }

  const Session& session_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> number_of_;  // by object and symbol
  std::vector<view::TimelineFunction> functions_;
  std::vector<uint64_t> sizes_;  // bytes; 0: not known
};

/// Branches of one time, until the next time is known.
class SpreadBranches {
 public:
  void add(BranchKind kind, const CallSpans::Code& from, const CallSpans::Code& to,
           uint64_t time_ns) {
    if (!waiting_.empty() && time_ns != at_ns_) release(time_ns);
    at_ns_ = time_ns;
    waiting_.push_back({kind, from, to});
  }
  void lost(uint64_t time_ns) {
    release(std::max(time_ns, at_ns_));
    spans_.lost(last_ns_);
  }
  [[nodiscard]] std::vector<view::TimelineCall> finish(uint64_t& last_ns) && {
    release(at_ns_ + waiting_.size());  // a nanosecond each: order is all that is known
    last_ns = last_ns_;
    return std::move(spans_).finish(last_ns_);
  }

 private:
  struct Branch {
    BranchKind kind;
    CallSpans::Code from, to;
  };
  void release(uint64_t next_ns) {
    uint64_t span_ns = next_ns > at_ns_ ? next_ns - at_ns_ : 0;
    // A system call takes long, the last branches before it don't.
    if (!waiting_.empty() && waiting_.back().kind == BranchKind::kEnd)
      span_ns = std::min<uint64_t>(span_ns, waiting_.size());
    for (size_t i = 0; i < waiting_.size(); ++i) {
      uint64_t time_ns =
          at_ns_ + static_cast<uint64_t>(static_cast<double>(span_ns) * static_cast<double>(i) /
                                         static_cast<double>(waiting_.size()));
      last_ns_ = std::max(last_ns_, time_ns);
      spans_.branch(waiting_[i].kind, waiting_[i].from, waiting_[i].to, last_ns_);
    }
    waiting_.clear();
  }

  CallSpans spans_;
  std::vector<Branch> waiting_;
  uint64_t at_ns_ = 0;
  uint64_t last_ns_ = 0;  // of what was released
};

struct TracedName {
  uint64_t from_ns;
  StringId name, program;
};

struct TracedThread {
  uint32_t pid = 0;
  uint64_t first_ns = 0;
  std::vector<TracedName> names;
  SpreadBranches branches;
};

class CallReader {
 public:
  explicit CallReader(Session& session) : session_(session), functions_(session) {}

  Result<CallTimeline> read() && {
    if (!itrace::has_traces(session_.recording()))
      return fail(ErrorCode::kFailed,
                  "{}: no instruction trace in this recording: record with -e intel_pt//u, or "
                  "without such hardware with -e sonde_step//",
                  session_.recording().facts().path);
    session_.load_all_symbols();
    find_breaks();
    for (uint32_t sample : session_.time_order())
      if (itrace::is_synthesized(session_.events()[EventId(session_.samples().event[sample])]))
        take(sample);
    break_until(UINT64_MAX);
    if (threads_.empty() && result_.errors == 0)
      return fail(ErrorCode::kFailed,
                  "{}: its instruction traces have no branches of what is asked for",
                  session_.recording().facts().path);
    finish_threads();
    return std::move(result_);
  }

 private:
  /// After it, nothing is known about the thread's calls: an error, or another program (exec).
  struct Break {
    uint64_t time_ns;
    uint32_t tid;
  };
  void find_breaks() {
    for (const OtherRecord& other : session_.other_records()) {
      if (other.view.type == abi::kRecordAuxtraceError) {
        auto error = decode_user<AuxtraceErrorRecord>(other.view);
        if (!error) continue;
        ++result_.errors;
        breaks_.push_back({error->time, error->tid});
      } else if (other.view.type == abi::kRecordComm && !is_guest_mode(other.view.cpu_mode()) &&
                 (other.view.misc & abi::kMiscCommExec) != 0 && other.view.payload.size() >= 8) {
        breaks_.push_back(
            {other.time, load<uint32_t>(other.view.payload.data() + 4, other.view.order)});
      }
    }
    std::ranges::stable_sort(breaks_, {}, &Break::time_ns);
  }
  void break_until(uint64_t time_ns) {
    for (; next_break_ < breaks_.size() && breaks_[next_break_].time_ns < time_ns; ++next_break_)
      if (auto thread = threads_.find(breaks_[next_break_].tid); thread != threads_.end())
        thread->second.branches.lost(breaks_[next_break_].time_ns);
  }

  void take(uint32_t index) {
    const SampleColumns& samples = session_.samples();
    auto flags = trace_flags_of(session_.record(index));
    if (!flags || !session_.decode(index, sample_)) return;
    const Frame& leaf = session_.frame(samples.leaf[index]);
    bool is_jump = (*flags & ~kTraceInTransaction & ~kTraceConditional) == kTraceBranch;
    if (is_jump && functions_.contains(leaf, leaf.address + (sample_.addr - sample_.ip))) return;
    uint64_t time_ns = samples.time[index];
    break_until(time_ns);
    uint32_t pid = samples.pid[index];
    auto [place, is_new] = threads_.try_emplace(samples.tid[index]);
    TracedThread& thread = place->second;
    if (is_new) thread.first_ns = time_ns;
    thread.pid = pid;
    if (StringId name = samples.comm[index]; is_new || thread.names.back().name != name)
      thread.names.push_back({time_ns, name, session_.machine().program_at(pid, time_ns).comm});
    CallSpans::Code from, to;
    if (sample_.ip != 0) from = functions_.code_at(leaf, sample_.ip);
    if (sample_.addr != 0)
      to = functions_.code_at(
          session_.resolve(pid, time_ns, RuntimeAddr{sample_.addr}, samples.cpu_mode[index]),
          sample_.addr);
    thread.branches.add(kind_of(*flags), from, to, time_ns);
  }

  void name_thread(const std::vector<TracedName>& names, view::TimelineThread& thread) const {
    auto text = [this](StringId name) { return std::string(session_.strings().view(name)); };
    auto add_to = [](std::vector<std::string>& all, const std::string& name) {
      if (std::ranges::find(all, name) == all.end()) all.push_back(name);
    };
    for (const TracedName& name : names)
      thread.names.push_back({name.from_ns, text(name.name), text(name.program)});
    // Before its first record, a thread has a number instead of a name.
    if (thread.names.front().name == fmt::format(":{}", recorded_task(thread.tid))) {
      const Machine& machine = session_.machine();
      if (thread.names.size() > 1)
        thread.names.erase(thread.names.begin());
      else
        thread.names.front() = {0, text(machine.comm_at(thread.tid, UINT64_MAX)),
                                text(machine.comm_at(thread.pid, UINT64_MAX))};
    }
    std::vector<std::string> own, of_process;
    for (const view::TimelineName& name : thread.names) {
      add_to(own, name.name);
      add_to(of_process, name.process_name);
    }
    thread.name = join(own, " → ");
    thread.process_name = join(of_process, " → ");
    if (thread.names.size() == 1) thread.names.clear();
  }

  void finish_threads() {
    view::Timeline& timeline = result_.timeline;
    timeline.subject = view::TimelineSubject::kCalls;
    timeline.start_ns = threads_.empty() ? 0 : UINT64_MAX;
    for (auto& [tid, traced] : threads_) {
      view::TimelineThread thread;
      thread.tid = tid;
      thread.pid = traced.pid;
      name_thread(traced.names, thread);
      uint64_t last_ns = 0;
      thread.calls = std::move(traced.branches).finish(last_ns);
      for (const view::TimelineCall& call : thread.calls)
        if (call.depth == 0)
          thread.state_ns[size_t(view::TaskState::kRunning)] += call.end_ns - call.start_ns;
      thread.runs = thread.calls.size();
      timeline.start_ns = std::min(timeline.start_ns, traced.first_ns);
      timeline.end_ns = std::max(timeline.end_ns, last_ns);
      timeline.threads.push_back(std::move(thread));
    }
    std::ranges::stable_sort(timeline.threads, std::ranges::greater(), [](const auto& thread) {
      return thread.state_ns[size_t(view::TaskState::kRunning)];
    });
    timeline.functions = std::move(functions_).take();
  }

  Session& session_;
  Functions functions_;
  std::map<uint32_t, TracedThread> threads_;  // by tid
  std::vector<Break> breaks_;
  size_t next_break_ = 0;
  Sample sample_;
  CallTimeline result_;
};

}  // namespace

ItraceOptions call_timeline_trace() {
  ItraceOptions options;
  options.is_given = true;
  options.branches = true;
  options.errors = true;
  options.tells_every_error = true;  // calls end at each
  return options;
}

Result<CallTimeline> call_timeline_of(Session& session) {
  return CallReader(session).read();
}

}  // namespace sonde
