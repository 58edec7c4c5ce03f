#include "analysis/latencies/session_latencies.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/text.h"
#include "event/print_fmt/field_format.h"
#include "replay/fields/trace_formats.h"

namespace sonde {
namespace {

struct KnownPair {
  std::string_view from, to, key;
};
constexpr KnownPair kKnownPairs[] = {
    {"block:block_rq_issue", "block:block_rq_complete", "dev,sector"},
    {"block:block_rq_insert", "block:block_rq_complete", "dev,sector"},
    {"block:block_rq_insert", "block:block_rq_issue", "dev,sector"},
    {"raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "tid"},
    {"syscalls:sys_enter_*", "syscalls:sys_exit_*", "tid"},
    {"sched:sched_waking", "sched:sched_switch", "pid=next_pid"},
    {"sched:sched_wakeup*", "sched:sched_switch", "pid=next_pid"},
    {"irq:irq_handler_entry", "irq:irq_handler_exit", "cpu,irq"},
    {"irq:softirq_entry", "irq:softirq_exit", "cpu,vec"},
    {"irq:softirq_raise", "irq:softirq_entry", "cpu,vec"},
    {"workqueue:workqueue_execute_start", "workqueue:workqueue_execute_end", "work"},
};

/// A value of a sample: a field of its event, or one that every sample carries, and a constant that
/// is added.
struct ValueSource {
  enum class Kind : uint8_t { kField, kTid, kPid, kCpu };
  Kind kind = Kind::kField;
  TracepointField field;
  uint64_t plus = 0;

  [[nodiscard]] std::optional<uint64_t> read(const Sample& sample) const {
    std::optional<uint64_t> value = read_plain(sample);
    if (value) *value += plus;
    return value;
  }

 private:
  [[nodiscard]] std::optional<uint64_t> read_plain(const Sample& sample) const {
    switch (kind) {
      case Kind::kTid:
        return sample.id.tid;
      case Kind::kPid:
        return sample.id.pid;
      case Kind::kCpu:
        return sample.id.cpu;
      case Kind::kField:
        break;
    }
    return field_number(field, sample.raw, sample.order);
  }
};

std::string event_names(const EventTable& events) {
  std::vector<std::string> names;
  for (const EventDesc& event : events.all()) names.push_back(event.name);
  return join(names, ", ");
}

Result<> check_time(const EventDesc& event) {
  if (event.attr.sample_type & abi::kSampleTime) return {};
  return fail(ErrorCode::kFailed, "{}: its samples have no timestamps (record with -T)",
              event.name);
}

/// Finds events and their fields.
class EventFinder {
 public:
  explicit EventFinder(const Session& session) : session_(session), formats_(session.recording()) {}

  /// Per event: whether its name matches one of `names`, each of which must match something.
  Result<std::vector<char>> find(const std::vector<std::string>& names) const {
    const EventTable& events = session_.events();
    std::vector<char> found(events.size());
    for (const std::string& name : names) {
      bool any = false;
      for (size_t i = 0; i < events.size(); ++i) {
        if (!glob_match(name, events[EventId(i)].name)) continue;
        TRY(check_time(events[EventId(i)]));
        found[i] = any = true;
      }
      if (!any)
        return fail(ErrorCode::kBadEvent, "there is no event '{}' in this recording; it has {}",
                    name, event_names(events));
    }
    return found;
  }

  Result<ValueSource> source(EventId event, std::string_view name) const {
    const TracepointFormat* format = formats_.of(event);
    if (format != nullptr)
      if (const TracepointField* field = format->field(name)) return of_field(event, *field);
    if (name == "tid") return ValueSource{ValueSource::Kind::kTid, {}, 0};
    if (name == "pid") return ValueSource{ValueSource::Kind::kPid, {}, 0};
    if (name == "cpu") return ValueSource{ValueSource::Kind::kCpu, {}, 0};
    return fail(ErrorCode::kBadEvent, "{} has no field '{}'; there are tid, pid, cpu{}",
                session_.events()[event].name, name, field_names(format));
  }

 private:
  Result<ValueSource> of_field(EventId event, const TracepointField& field) const {
    if (field.is_array || field.is_dynamic)
      return fail(ErrorCode::kBadEvent, "{}: its field '{}' is not a number",
                  session_.events()[event].name, field.name);
    return ValueSource{ValueSource::Kind::kField, field, 0};
  }
  static std::string field_names(const TracepointFormat* format) {
    std::string names;
    if (format != nullptr)
      for (const TracepointField& field : format->fields())
        if (!field.is_array && !field.is_dynamic) names += ", " + field.name;
    return names;
  }

  const Session& session_;
  TraceFormats formats_;
};

/// One side of a pair, for one event: whether the event is on it, and the values that partners
/// share.
struct PairSide {
  bool is_on_it = false;
  std::vector<ValueSource> key;
};

class PairReader {
 public:
  PairReader(const Session& session, const PairOptions& options)
      : session_(session), options_(options), finder_(session), pairing_(options.nesting) {}

  Result<TimedValues> read() && {
    TRY(find_sides());
    pair_all();
    result_.pairing = pairing_.counts();
    result_.still_open = pairing_.still_open();
    return std::move(result_);
  }

 private:
  Result<> find_sides() {
    std::vector<std::string> key = options_.key;
    if (key.empty()) key = known_key(options_.from.front(), options_.to.front());
    if (key.size() > PairKey().size())
      return fail(ErrorCode::kUsage, "--key takes at most {} fields, not {}", PairKey().size(),
                  key.size());
    auto from = TRY(finder_.find(options_.from));
    auto to = TRY(finder_.find(options_.to));
    sides_.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i] && to[i])
        return fail(ErrorCode::kUsage, "{}: the event is on both sides (--from, --to)",
                    session_.events()[EventId(i)].name);
      if (from[i]) TRY(make_side(sides_[i].begin, EventId(i), key, true));
      if (to[i]) TRY(make_side(sides_[i].end, EventId(i), key, false));
    }
    return {};
  }
  Result<> make_side(PairSide& side, EventId event, const std::vector<std::string>& key,
                     bool is_begin) const {
    side.is_on_it = true;
    for (const std::string& names : key) {
      size_t equals = names.find('=');
      std::string_view begin = std::string_view(names).substr(0, equals);
      std::string_view end =
          equals == std::string::npos ? begin : std::string_view(names).substr(equals + 1);
      side.key.push_back(TRY(source(event, is_begin ? begin : end)));
    }
    return {};
  }

  /// "sp", or "sp+8".
  Result<ValueSource> source(EventId event, std::string_view text) const {
    size_t sign = text.find('+');
    ValueSource source = TRY(finder_.source(event, text.substr(0, sign)));
    if (sign == std::string_view::npos) return source;
    std::optional<uint64_t> plus = parse_number(text.substr(sign + 1));
    if (!plus) return fail(ErrorCode::kUsage, "--key {}: no number after '+'", text);
    source.plus = *plus;
    return source;
  }

  /// What pairing needs from a sample.
  struct Step {
    enum class Kind : uint8_t { kNone, kBegin, kEnd, kUnreadable };
    Kind kind = Kind::kNone;
    uint64_t time_ns = 0;
    PairKey key{};
  };

  /// Samples are decoded in parallel, one batch at a time, and paired sequentially.
  void pair_all() {
    constexpr size_t kStretch = size_t{1} << 16, kPart = size_t{1} << 12;
    std::vector<uint32_t> order = session_.time_order();
    std::vector<Step> steps(std::min(kStretch, order.size()));
    for (size_t start = 0; start < order.size(); start += kStretch) {
      size_t count = std::min(kStretch, order.size() - start);
      parallel_for((count + kPart - 1) / kPart, [&](size_t part) {
        size_t end = std::min(count, (part + 1) * kPart);
        for (size_t i = part * kPart; i < end; ++i) steps[i] = read_step(order[start + i]);
      });
      for (size_t i = 0; i < count; ++i) take(steps[i]);
    }
  }
  [[nodiscard]] Step read_step(uint32_t sample) const {
    const Sides& sides = sides_[session_.samples().event[sample]];
    if (!sides.begin.is_on_it && !sides.end.is_on_it) return {};
    bool is_begin = sides.begin.is_on_it;
    Sample decoded;
    Step step;
    if (!session_.decode(sample, decoded) ||
        !read_key(is_begin ? sides.begin : sides.end, decoded, step.key)) {
      step.kind = Step::Kind::kUnreadable;
      return step;
    }
    step.kind = is_begin ? Step::Kind::kBegin : Step::Kind::kEnd;
    step.time_ns = decoded.id.time;
    return step;
  }
  void take(const Step& step) {
    if (step.kind == Step::Kind::kUnreadable) {
      ++result_.unreadable;
    } else if (step.kind == Step::Kind::kBegin) {
      pairing_.begin(step.key, step.time_ns);
    } else if (step.kind == Step::Kind::kEnd) {
      if (auto latency = pairing_.end(step.key, step.time_ns))
        result_.values.push_back({step.time_ns, static_cast<double>(*latency)});
    }
  }
  static bool read_key(const PairSide& side, const Sample& sample, PairKey& key) {
    for (size_t i = 0; i < side.key.size(); ++i) {
      auto value = side.key[i].read(sample);
      if (!value) return false;
      key[i] = *value;
    }
    return true;
  }

  struct Sides {
    PairSide begin, end;
  };
  const Session& session_;
  const PairOptions& options_;
  EventFinder finder_;
  EventPairing pairing_;
  std::vector<Sides> sides_;  // by event
  TimedValues result_;
};

}  // namespace

std::vector<std::string> known_key(std::string_view from, std::string_view to) {
  for (const KnownPair& pair : kKnownPairs) {
    if (!glob_match(pair.from, from) || !glob_match(pair.to, to)) continue;
    std::vector<std::string> key;
    for (std::string_view field : split(pair.key, ',')) key.emplace_back(field);
    return key;
  }
  return {"tid"};
}

PairOptions known_pair(const EventTable& events) {
  auto has = [&](std::string_view pattern) {
    return std::ranges::any_of(
        events.all(), [&](const EventDesc& event) { return glob_match(pattern, event.name); });
  };
  for (const KnownPair& pair : kKnownPairs)
    if (has(pair.from) && has(pair.to))
      return {.from = {std::string(pair.from)},
              .to = {std::string(pair.to)},
              .key = known_key(pair.from, pair.to)};
  return {};
}

Result<TimedValues> latencies_of(const Session& session, const PairOptions& options) {
  return PairReader(session, options).read();
}

Result<TimedValues> field_values_of(const Session& session, const std::string& event,
                                    const std::string& field) {
  EventFinder finder(session);
  std::vector<char> wanted = TRY(finder.find({event}));
  std::vector<ValueSource> sources(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) sources[i] = TRY(finder.source(EventId(i), field));
  TimedValues result;
  for (uint32_t sample : session.time_order()) {
    uint32_t of = session.samples().event[sample];
    if (!wanted[of]) continue;
    Sample decoded;
    auto value =
        session.decode(sample, decoded) ? sources[of].read(decoded) : std::optional<uint64_t>();
    if (!value) {
      ++result.unreadable;
      continue;
    }
    bool is_signed = sources[of].kind == ValueSource::Kind::kField && sources[of].field.is_signed;
    result.values.push_back(
        {decoded.id.time, is_signed ? static_cast<double>(static_cast<int64_t>(*value))
                                    : static_cast<double>(*value)});
  }
  return result;
}

Result<std::vector<uint64_t>> times_of(const Session& session, const std::string& event) {
  std::vector<char> wanted =
      TRY(EventFinder(session).find({event.empty() ? std::string("*") : event}));
  std::vector<uint64_t> times;
  const SampleColumns& samples = session.samples();
  for (size_t i = 0; i < samples.size(); ++i)
    if (wanted[samples.event[i]]) times.push_back(samples.time[i]);
  return times;
}

}  // namespace sonde
