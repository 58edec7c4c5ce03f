#include "analysis/timelines/session_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/timelines/sched_timeline.h"
#include "analysis/timelines/switch_coverage.h"
#include "base/text.h"
#include "event/print_fmt/field_format.h"
#include "itrace/trace_input.h"
#include "replay/fields/trace_formats.h"
#include "stacks/session_stacks.h"

namespace sonde {
namespace {

using view::kNoIndex;

constexpr std::string_view kSwitchName = "sched:sched_switch";
constexpr std::string_view kWakingName = "sched:sched_waking";
constexpr std::string_view kWakeupName = "sched:sched_wakeup";
constexpr std::string_view kWakeupNewName = "sched:sched_wakeup_new";

/// Stacks of samples as texts, each distinct text stored once.
class StackTexts {
 public:
  /// `wanted`: by event.
  static Result<StackTexts> make(const Session& session, const std::vector<char>& wanted) {
    StackTexts texts;
    SessionStacksOptions options;
    options.value = StackValue::kSamples;
    options.task_root = false;
    options.want_samples = true;
    options.filter = [&](size_t sample) { return wanted[session.samples().event[sample]] != 0; };
    texts.profile_ = TRY(stacks_of(session, options));
    texts.text_of_node_.assign(texts.profile_.nodes.size(), kNoIndex);
    return texts;
  }

  /// For the wanted samples in turn, in time order.
  uint32_t next(std::vector<std::string>& stacks) {
    if (at_ >= profile_.samples.size()) return kNoIndex;
    StackNodeId node = profile_.samples.node[at_++];
    if (!node.valid()) return kNoIndex;
    uint32_t& text = text_of_node_[node.index()];
    if (text == kNoIndex) {
      text = static_cast<uint32_t>(stacks.size());
      stacks.push_back(folded(node));
    }
    return text;
  }

 private:
  [[nodiscard]] std::string folded(StackNodeId node) const {
    std::vector<std::string> names;
    for (; node.valid(); node = profile_.nodes[node.index()].parent)
      names.emplace_back(profile_.name_of(node));
    std::ranges::reverse(names);
    return join(names, ";");
  }

  StackProfile profile_;
  std::vector<uint32_t> text_of_node_;
  size_t at_ = 0;
};

/// What an event means to a timeline, and where its fields are.
struct SchedEvent {
  enum class Kind : uint8_t { kOther, kSwitch, kWaking };
  Kind kind = Kind::kOther;
  bool has_stacks = false;
  const TracepointField* prev_tid = nullptr;
  const TracepointField* prev_name = nullptr;
  const TracepointField* prev_state = nullptr;
  const TracepointField* next_tid = nullptr;  // of a waking: the thread woken
  const TracepointField* next_name = nullptr;
};

class TimelineReader {
 public:
  TimelineReader(const Session& session, const SessionTimelineOptions& options)
      : session_(session), options_(options), formats_(session.recording()) {}

  Result<SessionTimeline> read() && {
    TRY(find_events());
    builder_ = TimelineBuilder(TRY(switch_coverage(session_)));
    std::vector<char> wanted(events_.size());
    bool any_stacks = false;
    for (size_t i = 0; i < events_.size(); ++i)
      any_stacks |= (wanted[i] = events_[i].has_stacks && options_.want_stacks) != 0;
    if (any_stacks) texts_ = TRY(StackTexts::make(session_, wanted));
    for (uint32_t sample : session_.time_order()) take(sample, wanted);
    name_processes();
    result_.pairs = builder_.pairs();
    result_.contradictions = builder_.contradictions();
    TRY(need_most_to_follow(session_.recording().facts().path, result_.contradictions,
                            result_.pairs));
    result_.timeline = std::move(builder_).finish();
    result_.timeline.stacks = std::move(stacks_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool has(std::string_view name) const {
    return std::ranges::find(session_.events().all(), name, &EventDesc::name) !=
           session_.events().all().end();
  }
  [[nodiscard]] SchedEvent::Kind kind_of(std::string_view name) const {
    if (name == kSwitchName) return SchedEvent::Kind::kSwitch;
    // sched_waking is emitted by the waker itself; sched_wakeup may come from the woken thread's
    // CPU.
    bool is_waking =
        name == kWakingName || name == kWakeupNewName || (name == kWakeupName && !has(kWakingName));
    return is_waking ? SchedEvent::Kind::kWaking : SchedEvent::Kind::kOther;
  }
  Result<> find_events() {
    if (!has(kSwitchName) && itrace::has_traces(session_.recording()))
      return fail(ErrorCode::kFailed, "{}: no {} in this recording; --itrace shows its trace",
                  session_.recording().facts().path, kSwitchName);
    if (!has(kSwitchName))
      return fail(ErrorCode::kFailed,
                  "{}: no {} in this recording: record with -e {},{} -a (and -g for stacks)",
                  session_.recording().facts().path, kSwitchName, kSwitchName, kWakingName);
    for (size_t i = 0; i < session_.events().size(); ++i) TRY(find_event(EventId(i)));
    return {};
  }
  Result<> find_event(EventId id) {
    const EventDesc& desc = session_.events()[id];
    SchedEvent& event = events_.emplace_back();
    event.kind = kind_of(desc.name);
    if (event.kind == SchedEvent::Kind::kOther) return {};
    TRY(need_each_time(session_.recording().facts().path, desc));
    constexpr uint64_t kNeeded = abi::kSampleTime | abi::kSampleCpu | abi::kSampleRaw;
    if ((desc.attr.sample_type & kNeeded) != kNeeded)
      return fail(ErrorCode::kFailed, "{}: its samples lack time, CPU or fields: record it with -a",
                  desc.name);
    const TracepointFormat* format = formats_.of(id);
    if (format == nullptr)
      return fail(ErrorCode::kCorrupt, "{}: the recording does not describe its fields", desc.name);
    bool is_switch = event.kind == SchedEvent::Kind::kSwitch;
    event.has_stacks = (desc.attr.sample_type & abi::kSampleCallchain) != 0;
    event.prev_tid = format->field("prev_pid");
    event.prev_name = format->field("prev_comm");
    event.prev_state = format->field("prev_state");
    event.next_tid = format->field(is_switch ? "next_pid" : "pid");
    event.next_name = format->field(is_switch ? "next_comm" : "comm");
    if (event.next_tid == nullptr || (is_switch && (!event.prev_tid || !event.prev_state)))
      return fail(ErrorCode::kCorrupt, "{}: its format has no thread fields", desc.name);
    return {};
  }

  void take(uint32_t sample, const std::vector<char>& wanted) {
    uint32_t id = session_.samples().event[sample];
    const SchedEvent& event = events_[id];
    if (event.kind == SchedEvent::Kind::kOther) return;
    uint32_t stack = wanted[id] ? texts_.next(stacks_) : kNoIndex;
    Sample decoded;
    bool is_read = session_.decode(sample, decoded) &&
                   (event.kind == SchedEvent::Kind::kSwitch ? take_switch(event, decoded, stack)
                                                            : take_waking(event, decoded, stack));
    if (!is_read) ++result_.unreadable;
  }
  static std::optional<uint32_t> tid_in(const TracepointField& field, const Sample& sample) {
    auto number = field_number(field, sample.raw, sample.order);
    return number ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
  }
  void take_name(uint32_t tid, const TracepointField* field, const Sample& sample) {
    if (tid == 0 || field == nullptr) return;
    if (auto name = field_string(*field, sample.raw, sample.order)) builder_.name(tid, *name);
  }

  bool take_switch(const SchedEvent& event, const Sample& sample, uint32_t stack) {
    auto prev = tid_in(*event.prev_tid, sample);
    auto next = tid_in(*event.next_tid, sample);
    auto state = field_number(*event.prev_state, sample.raw, sample.order);
    if (!prev || !next || !state) return false;
    builder_.add(SchedSwitch{.time_ns = sample.id.time,
                             .cpu = sample.id.cpu,
                             .prev_tid = *prev,
                             .prev_state = *state,
                             .next_tid = *next,
                             .stack = stack});
    take_name(*prev, event.prev_name, sample);
    take_name(*next, event.next_name, sample);
    ++result_.switches;
    return true;
  }
  bool take_waking(const SchedEvent& event, const Sample& sample, uint32_t stack) {
    auto woken = tid_in(*event.next_tid, sample);
    if (!woken) return false;
    builder_.add(SchedWaking{.time_ns = sample.id.time,
                             .waker_tid = sample.id.tid,
                             .woken_tid = *woken,
                             .stack = stack});
    take_name(*woken, event.next_name, sample);
    ++result_.wakings;
    return true;
  }

  void name_processes() {
    const Machine& machine = session_.machine();
    for (uint32_t tid : builder_.tids()) {
      const Machine::Thread* thread = machine.thread(tid);
      if (thread == nullptr || thread->pid == 0) continue;
      StringId name = machine.comm_at(thread->pid, UINT64_MAX);
      builder_.process(tid, thread->pid, session_.strings().view(name));
    }
  }

  const Session& session_;
  const SessionTimelineOptions& options_;
  TraceFormats formats_;
  std::vector<SchedEvent> events_;
  StackTexts texts_;
  TimelineBuilder builder_;
  std::vector<std::string> stacks_;
  SessionTimeline result_;
};

}  // namespace

std::vector<std::string> SessionTimeline::flaws() const {
  std::vector<std::string> flaws;
  if (unreadable > 0)
    flaws.push_back(
        fmt::format("{} samples lack the fields of their event and were left out", unreadable));
  if (!timeline.partial.empty())
    flaws.push_back(
        fmt::format("{}: what threads did elsewhere is not known, nor any wait; record with -a",
                    timeline.partial));
  if (contradictions > 0)
    flaws.push_back(
        fmt::format("{} of {} switches do not follow from the one before on their CPU: events are "
                    "missing, and what threads did there is left blank",
                    contradictions, switches));
  if (auto losses = std::ranges::count(timeline.unknown, true, &view::TimelineUnknown::is_loss))
    flaws.push_back(
        fmt::format("the kernel dropped events {} time{}: what threads did then is left blank; "
                    "record with larger buffers (-m)",
                    losses, losses == 1 ? "" : "s"));
  if (wakings == 0 && timeline.partial.empty())
    flaws.emplace_back(
        "there are no wakings in this recording (-e sched:sched_waking): waits last until the "
        "thread runs again");
  return flaws;
}

Result<SessionTimeline> timeline_of(const Session& session, const SessionTimelineOptions& options) {
  return TimelineReader(session, options).read();
}

}  // namespace sonde
