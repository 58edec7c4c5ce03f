#include "stacks/script_text.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/hashing/digest.h"
#include "base/text.h"
#include "stacks/script_text_lines.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

/// Longer lines are not `script` output; they are not buffered while waiting for their end.
constexpr size_t kMaxLineLength = size_t{1} << 20;

/// The distinct lines of call chains, and the frames that they stand for. Their text is not kept.
class FrameLines {
 public:
  FrameLines(const SessionStacksOptions& options, StackTreeBuilder& builder)
      : options_(options), builder_(builder) {}

  static constexpr uint32_t kNone = UINT32_MAX;

  /// The number of the frames that a line stands for; kNone if it is not a call chain line.
  uint32_t find(std::string_view line) { return find(line, {}); }
  /// The same frame with the source line that follows it.
  uint32_t find(std::string_view line, std::string_view source) {
    Digest digest = digest_of(line);
    if (!source.empty()) {
      const Digest both[] = {digest, digest_of(source)};
      digest = digest_of(both, sizeof both);
    }
    auto known = known_.find(digest);
    if (known != known_.end()) return known->second;
    // Other lines are not remembered: that would be the first line of every sample.
    uint32_t number = make(line, source);
    if (number != kNone) known_.emplace(digest, number);
    return number;
  }
  /// Outermost first.
  [[nodiscard]] std::span<const StackFrameId> frames_of(uint32_t number) const {
    return frames_[number];
  }

 private:
  /// The name of a task may look like an address: "  dd 25904 [001] 926.826018: …".
  static bool is_sample_line(std::string_view text) {
    auto sample = parse_sample_line(text, true);
    return sample && sample->tid;
  }
  uint32_t make(std::string_view text, std::string_view source) {
    auto line = parse_frame_line(text);
    if (!line || is_sample_line(text)) return kNone;
    RawFrame raw{.function = line->function,
                 .object = line->object,
                 .address = line->address,
                 .line = source,
                 .kind = line->kind};
    spelled_.clear();
    spell_frame(raw, options_.spelling, spelled_);
    std::vector<StackFrameId>& made = frames_.emplace_back();
    for (const SpelledFrame& part : spelled_) {
      StackFrame frame{.name = builder_.intern(part.name), .kind = part.kind};
      if (options_.want_objects && !line->object.empty())
        frame.object = builder_.intern(line->object);
      made.push_back(builder_.frame(frame));
    }
    return static_cast<uint32_t>(frames_.size() - 1);
  }

  const SessionStacksOptions& options_;
  StackTreeBuilder& builder_;
  tsl::robin_map<Digest, uint32_t, DigestHash> known_;
  std::vector<std::vector<StackFrameId>> frames_;
  std::vector<SpelledFrame> spelled_;
};

/// The events as the text names them.
class EventColumns {
 public:
  EventColumns(const SessionStacksOptions& options, StackTreeBuilder& builder)
      : options_(options), builder_(builder) {}

  /// nullopt: an event that was not requested.
  std::optional<size_t> column_of(std::string_view event) {
    if (event != last_event_ || seen_.empty()) look_up(event);
    return last_column_;
  }
  void saw_period(size_t column) {
    if (seen_period_.size() <= column) seen_period_.resize(column + 1);
    seen_period_[column] = true;
  }
  [[nodiscard]] std::string names() const { return join(seen_, ", "); }
  [[nodiscard]] bool has(std::string_view event) const {
    return std::ranges::find(seen_, event) != seen_.end();
  }

  void set_units(StackProfile& profile) const {
    for (size_t i = 0; i < profile.columns.size(); ++i)
      if (i < seen_period_.size() && seen_period_[i])
        profile.columns[i].unit = unit_of(profile.columns[i].name);
  }

 private:
  void look_up(std::string_view event) {
    last_event_ = event;
    auto found = std::ranges::find(seen_, last_event_);
    if (found == seen_.end()) {
      // More than that is an error in the end: they need no column.
      if (builder_.columns() > kMaxColumns) return;
      seen_.push_back(last_event_);
      columns_.push_back(add_column(event));
      found = std::prev(seen_.end());
    }
    last_column_ = columns_[static_cast<size_t>(found - seen_.begin())];
  }
  std::optional<size_t> add_column(std::string_view event) {
    const std::vector<std::string>& wanted = options_.events;
    if (!wanted.empty() && std::ranges::find(wanted, event) == wanted.end()) return std::nullopt;
    return builder_.add_column(event.empty() ? "samples" : event, "samples");
  }
  static std::string unit_of(std::string_view event) {
    bool is_time = event.starts_with("cpu-clock") || event.starts_with("task-clock") ||
                   event.starts_with("offcpu-time");
    return is_time ? "nanoseconds" : "events";
  }

  const SessionStacksOptions& options_;
  StackTreeBuilder& builder_;
  std::vector<std::string> seen_;
  std::vector<std::optional<size_t>> columns_;  // by index in seen_
  std::vector<bool> seen_period_;               // by column
  std::string last_event_;
  std::optional<size_t> last_column_;
};

bool passes(const SampleFilter& filter, const ScriptSampleLine& line) {
  auto allows = [](const std::vector<uint32_t>& wanted, std::optional<uint32_t> value) {
    return wanted.empty() || (value && std::ranges::find(wanted, *value) != wanted.end());
  };
  if (!allows(filter.pids, line.pid) || !allows(filter.tids, line.tid)) return false;
  if (!allows(filter.cpus, line.cpu)) return false;
  return filter.times.empty() || (line.time_ns && is_in(filter.times, *line.time_ns));
}

}  // namespace

struct ScriptTextReader::State {
  State(std::string text_name, SessionStacksOptions wanted, SampleFilter chosen, LossLedger& ledger)
      : name(std::move(text_name)),
        options(std::move(wanted)),
        filter(std::move(chosen)),
        losses(ledger),
        frames(options, builder),
        events(options, builder) {}

  // Lines

  void take_line(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.find_first_not_of(" \t") == std::string_view::npos)
      return end_sample();
    if (line.front() == '#') return;
    bool may_be_step = line.front() == ' ' || line.front() == '\t';
    if (is_open && (may_be_step || !starts_sample(line))) return take_step(line);
    if (!is_open && may_be_step && !starts_sample(line) && take_step_alone(line)) return;
    end_sample();
    begin_sample(line);
  }
  [[nodiscard]] static bool starts_sample(std::string_view line) {
    return parse_sample_line(line, true).has_value();
  }

  void begin_sample(std::string_view line) {
    auto parsed = parse_sample_line(line, false);
    if (!parsed) {
      losses.add(LossKind::k_bad_record, 1, name);
      return;
    }
    if (!parsed->is_sample) return;
    found_sample = true;
    sample_bytes = line.size() + 1;
    column = events.column_of(parsed->event);
    is_skipped = !column || !passes(filter, *parsed);
    is_open = true;
    if (!is_skipped) describe(*parsed);
    // A sample without a call chain is a single line.
    if (parsed->rest.empty()) return;
    uint32_t number = frames.find(place_in_sample_line(parsed->rest));
    if (number != FrameLines::kNone) {
      steps.push_back(number);
      end_sample();
    }
  }
  void describe(const ScriptSampleLine& line) {
    value =
        options.value == StackValue::kSamples ? 1 : static_cast<double>(line.period.value_or(1));
    if (options.value == StackValue::kPeriod && line.period) events.saw_period(*column);
    root = options.task_root ? root_of(line) : std::nullopt;
    if (options.want_samples) event = event_of(line);
  }
  void take_step(std::string_view line) {
    sample_bytes += line.size() + 1;
    uint32_t number = frames.find(line);
    if (number != FrameLines::kNone) {
      steps.push_back(number);
      last_step = line;
    } else if (starts_sample(line)) {
      end_sample();
      begin_sample(line);
    } else if (!steps.empty()) {
      take_source_line(trim(line));
    }
  }
  /// It comes between a frame and the line that marks it as inlined: "  file.c:12 (inlined)".
  void take_source_line(std::string_view line) {
    constexpr std::string_view kInlined = " (inlined)";
    if (line.ends_with(kInlined)) {
      line.remove_suffix(kInlined.size());
      // Only once: a hostile text may have any number of such lines.
      if (!last_step.ends_with(kInlined)) last_step += kInlined;
    }
    uint32_t number = frames.find(last_step, options.spelling.lines ? line : std::string_view());
    if (number != FrameLines::kNone) steps.back() = number;
  }
  /// A call chain in a text that contains nothing else.
  bool take_step_alone(std::string_view line) {
    if (frames.find(line) == FrameLines::kNone) return false;
    found_sample = is_open = true;
    root = std::nullopt;
    if (options.want_samples) event = event_of({});
    value = 1;
    column = events.column_of({});
    is_skipped = !column || !passes(filter, {});
    sample_bytes = 0;
    take_step(line);
    return true;
  }

  /// A call chain not followed by a blank line may have lost its outer frames.
  void drop_cut_sample() {
    if (!is_open || steps.empty()) return;
    losses.add(LossKind::k_truncated_file, sample_bytes, name);
    is_open = false;
  }
  void end_sample() {
    if (!is_open) return;
    is_open = false;
    if (!is_skipped) {
      StackNodeId node = node_of_steps();
      if (options.want_samples)
        builder.add_sample(node, *column, value, event);
      else
        builder.add(node, *column, value);
    }
    steps.clear();
  }
  StackNodeId node_of_steps() {
    StackNodeId node;
    if (root) node = builder.child(node, *root);
    for (size_t i = steps.size(); i-- > 0;)
      for (StackFrameId frame : frames.frames_of(steps[i])) node = builder.child(node, frame);
    return node;
  }

  // Tasks

  std::optional<StackFrameId> root_of(const ScriptSampleLine& line) {
    if (line.comm.empty() && !line.tid) return std::nullopt;
    std::string task = spell_task(line.comm, line.pid, line.tid.value_or(0), options.spelling);
    if (task.empty()) return std::nullopt;
    if (task != last_task) {
      last_root = builder.frame({.name = builder.intern(task), .kind = FrameKind::kTask});
      last_task = std::move(task);
    }
    return last_root;
  }
  StackTreeBuilder::Event event_of(const ScriptSampleLine& line) {
    uint32_t tid = line.tid.value_or(0);
    uint32_t pid = line.pid.value_or(tid);
    StringId comm = builder.intern(line.comm);
    if (pid == tid) process_names[pid] = comm;
    // A thread under another name is another thread of the profile.
    auto task = tasks.try_emplace((uint64_t{pid} << 32) | tid, static_cast<uint32_t>(tasks.size()))
                    .first->second;
    auto [entry, is_new] = threads.try_emplace((uint64_t{task} << 32) | comm.value, 0);
    if (is_new) {
      auto process = process_names.find(pid);
      StringId process_name = process != process_names.end() ? process->second : builder.intern("");
      entry.value() = static_cast<uint32_t>(
          builder.add_thread({.pid = pid, .tid = tid, .name = comm, .process_name = process_name}));
    }
    return {.time_ns = line.time_ns.value_or(0),
            .thread = entry->second,
            .cpu = line.cpu.value_or(UINT32_MAX)};
  }

  std::string name;
  SessionStacksOptions options;
  SampleFilter filter;
  LossLedger& losses;
  StackTreeBuilder builder;
  FrameLines frames;
  EventColumns events;
  std::string held;     // the beginning of a line whose end has not arrived
  bool is_cut = false;  // that line is over-long
  bool found_sample = false;

  // The sample being read.
  bool is_open = false;
  size_t sample_bytes = 0;  // of its lines
  bool is_skipped = false;
  std::optional<size_t> column;
  double value = 1;
  std::optional<StackFrameId> root;
  StackTreeBuilder::Event event;
  std::vector<uint32_t> steps;  // numbers in FrameLines, innermost first
  std::string last_step;        // the last one's line; a source line may follow

  std::string last_task;
  StackFrameId last_root;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> tasks;          // numbers, by pid and tid
  tsl::robin_map<uint64_t, uint32_t, NumberHash> threads;        // by that number and name
  tsl::robin_map<uint32_t, StringId, NumberHash> process_names;  // of main threads, by pid
};

ScriptTextReader::ScriptTextReader(std::string name, const SessionStacksOptions& options,
                                   SampleFilter filter, LossLedger& losses)
    : state_(std::make_unique<State>(std::move(name), options, std::move(filter), losses)) {}
ScriptTextReader::ScriptTextReader(ScriptTextReader&&) noexcept = default;
ScriptTextReader::~ScriptTextReader() = default;

void ScriptTextReader::feed(std::string_view piece) {
  State& state = *state_;
  while (!piece.empty()) {
    const void* end = std::memchr(piece.data(), '\n', piece.size());
    if (end == nullptr) {
      state.is_cut = state.is_cut || state.held.size() + piece.size() > kMaxLineLength;
      if (!state.is_cut) state.held += piece;
      return;
    }
    std::string_view line =
        piece.substr(0, static_cast<size_t>(static_cast<const char*>(end) - piece.data()));
    piece.remove_prefix(line.size() + 1);
    if (state.held.empty() && !state.is_cut) {
      state.take_line(line);
      continue;
    }
    state.held += line;
    if (!state.is_cut) state.take_line(state.held);
    state.held.clear();
    state.is_cut = false;
  }
}

Result<StackProfile> ScriptTextReader::finish() && {
  State& state = *state_;
  if (!state.held.empty() && !state.is_cut) state.take_line(state.held);
  state.drop_cut_sample();
  state.end_sample();
  if (!state.found_sample)
    return fail(ErrorCode::kCorrupt, "{}: no samples in it, as `script` prints them", state.name);
  for (const std::string& wanted : state.options.events)
    if (!state.events.has(wanted))
      return fail(ErrorCode::kUsage, "there is no event '{}' in {}; it has {}", wanted, state.name,
                  state.events.names());
  if (state.builder.columns() > kMaxColumns)
    return fail(ErrorCode::kUnsupported, "{}: it has {} events; choose one (-e)", state.name,
                state.builder.columns());
  StackProfile profile = std::move(state.builder).finish();
  state.events.set_units(profile);
  profile.origin = state.name;
  return profile;
}

bool looks_like_script_text(std::string_view first_bytes) {
  constexpr size_t kMaxLines = 200;
  bool is_header = false;
  for (size_t i = 0; i < kMaxLines && !first_bytes.empty(); ++i) {
    size_t end = first_bytes.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view line = first_bytes.substr(0, end);
    first_bytes.remove_prefix(end + 1);
    if (line.starts_with("# captured on") || line.starts_with("# ========")) is_header = true;
    if (line.empty() || line.front() == '#') continue;
    // Folded stacks end in a number; neither of these does.
    if (parse_sample_line(line, true)) return true;
    bool is_indented = line.front() == ' ' || line.front() == '\t';
    return is_indented && parse_frame_line(line).has_value();
  }
  return is_header;
}

}  // namespace sonde
