#include "histogram/recorded.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/latencies/session_latencies.h"
#include "base/option_values.h"
#include "base/text.h"
#include "event/print_fmt/field_format.h"
#include "histogram/event_fields.h"
#include "histogram/event_filter.h"
#include "histogram/program_plan.h"
#include "replay/fields/trace_formats.h"
#include "replay/session.h"

namespace sonde {
namespace {

/// A sample, decoded, and its number in the session.
struct RecordedSample {
  uint32_t number = 0;
  Sample sample;
};

/// A field of an event, or what every sample has.
struct RecordedField {
  histogram_origin origin = HISTOGRAM_NOTHING;  // HISTOGRAM_CONTEXT: `field`
  TracepointField field = {};
  uint64_t plus = 0;
  KeyStyle style = KeyStyle::kUnsigned;

  [[nodiscard]] bool is_text() const { return style == KeyStyle::kText; }
  [[nodiscard]] bool is_signed() const { return style == KeyStyle::kSigned; }
};

/// What is read from the samples of one event.
struct RecordedEvent {
  bool is_value = false, is_begin = false, is_end = false;
  RecordedField value = {}, by = {};
  std::vector<RecordedField> key = {};
  std::vector<RecordedField> tested = {};  // the fields of the filter
};

class RecordedHistograms {
 public:
  RecordedHistograms(const HistogramOptions& options, const Session& session)
      : options_(options),
        session_(session),
        formats_(session.recording()),
        pairing_(EventPairing::Nesting::kNone) {}

  Result<HistogramSet> make() && {
    set_ = TRY(named_set(options_));
    tests_ = TRY(parse_event_filter(options_.filter));
    TRY(read_numbers(options_.pids, pids_));
    TRY(read_numbers(options_.tids, tids_));
    TRY(read_numbers(options_.cpus, cpus_));
    events_.resize(session_.events().size());
    TRY(options_.are_pairs() ? find_pairs() : find_values());
    for (uint32_t sample : session_.time_order()) take(sample);
    finish();
    return std::move(set_);
  }

 private:
  static Result<> read_numbers(const std::string& text, std::vector<uint32_t>& list) {
    if (text.empty()) return {};
    return numbers_into(list)(text);
  }

  // Which events, and which of their fields.

  [[nodiscard]] FieldEvent described(EventId event) const {
    return {.name = session_.events()[event].name, .format = formats_.of(event), .place = nullptr};
  }
  Result<RecordedField> field(EventId event, std::string_view name, bool may_be_text) const {
    FieldEvent described = this->described(event);
    // Checks that it is one.
    FieldRead read = TRY(read_of_field(described, name, may_be_text));
    RecordedField made{.origin = static_cast<histogram_origin>(read.fetch.origin),
                       .field = {},
                       .style = read.style};
    if (made.origin == HISTOGRAM_TEXT_IN_CONTEXT || made.origin == HISTOGRAM_TEXT_AT_OFFSET)
      made.origin = HISTOGRAM_CONTEXT;
    if (made.origin == HISTOGRAM_CONTEXT) made.field = *described.format->field(name);
    return made;
  }
  Result<RecordedField> key_field(EventId event, std::string_view text) const {
    size_t sign = text.find('+');
    RecordedField made = TRY(field(event, text.substr(0, sign), false));
    if (sign == std::string_view::npos) return made;
    std::optional<uint64_t> plus = parse_number(text.substr(sign + 1));
    if (!plus) return fail(ErrorCode::kUsage, "--key {}: no number after '+'", text);
    made.plus = *plus;
    return made;
  }

  Result<std::vector<EventId>> matching(const std::string& name) const {
    std::vector<EventId> found;
    std::vector<std::string> names;
    const EventTable& events = session_.events();
    for (size_t i = 0; i < events.size(); ++i) {
      EventId id(i);
      names.push_back(events[id].name);
      if (glob_match(name, events[id].name)) found.push_back(id);
    }
    if (found.empty())
      return fail(ErrorCode::kBadEvent, "there is no event '{}' in this recording; it has {}", name,
                  join(names, ", "));
    return found;
  }

  Result<> read_filter(RecordedEvent& event, EventId id) const {
    for (const FilterTest& test : tests_) {
      TRY(program_test(described(id), test));  // says if text is compared with a number
      event.tested.push_back(TRY(field(id, test.field, true)));
    }
    return {};
  }

  Result<> find_values() {
    for (EventId id : TRY(matching(options_.event))) {
      RecordedEvent& event = events_[id.index()];
      event.is_value = true;
      event.value = TRY(field(id, options_.field, false));
      set_.is_signed = event.value.is_signed();
      if (!options_.by.empty()) event.by = TRY(field(id, options_.by, true));
      TRY(read_filter(event, id));
    }
    return {};
  }

  Result<> find_pairs() {
    if (options_.from.empty())
      return fail(ErrorCode::kUsage,
                  "{}: which field? 'histogram -i FILE EVENT FIELD', or --from and --to for times",
                  options_.event);
    std::vector<std::string> key = options_.key;
    if (key.empty()) key = known_key(options_.from, options_.to);
    if (key.size() > PairKey().size())
      return fail(ErrorCode::kUsage, "--key takes at most {} fields, not {}", PairKey().size(),
                  key.size());
    auto begins = TRY(matching(options_.from)), ends = TRY(matching(options_.to));
    by_of_begin_ = std::ranges::none_of(ends, [this](EventId id) {
      return !options_.by.empty() && has_field(described(id), options_.by);
    });
    for (EventId id : begins) {
      RecordedEvent& event = events_[id.index()];
      event.is_begin = true;
      TRY(find_side(event, id, key));
      TRY(read_filter(event, id));
    }
    for (EventId id : ends) {
      RecordedEvent& event = events_[id.index()];
      if (event.is_begin)
        return fail(ErrorCode::kUsage, "{}: the event is on both sides (--from, --to)",
                    session_.events()[id].name);
      event.is_end = true;
      TRY(find_side(event, id, key));
    }
    return {};
  }
  Result<> find_side(RecordedEvent& event, EventId id, const std::vector<std::string>& key) const {
    for (const std::string& one : key) {
      PairedNames names = paired_names(one);
      event.key.push_back(TRY(key_field(id, event.is_begin ? names.begin : names.end)));
    }
    if (!options_.by.empty() && by_of_begin_ == event.is_begin)
      event.by = TRY(field(id, options_.by, true));
    return {};
  }

  // Samples.

  [[nodiscard]] std::optional<uint64_t> number(const RecordedField& field,
                                               const Sample& sample) const {
    switch (field.origin) {
      case HISTOGRAM_TID:
        return sample.id.tid + field.plus;
      case HISTOGRAM_PID:
        return sample.id.pid + field.plus;
      case HISTOGRAM_CPU:
        return sample.id.cpu + field.plus;
      default:
        break;
    }
    auto value = field_number(field.field, sample.raw, sample.order);
    if (value) *value += field.plus;
    return value;
  }
  [[nodiscard]] std::optional<std::string> text(const RecordedField& field,
                                                const RecordedSample& read) const {
    std::optional<std::string_view> found;
    if (field.origin == HISTOGRAM_COMM)
      found = session_.strings().view(session_.samples().comm[read.number]);
    else
      found = field_string(field.field, read.sample.raw, read.sample.order);
    if (!found) return std::nullopt;
    return std::string(found->substr(0, HISTOGRAM_TEXT - 1));
  }
  /// The text of the key; empty if there is none.
  [[nodiscard]] std::optional<std::string> key_of(const RecordedField& by,
                                                  const RecordedSample& read) const {
    if (by.origin == HISTOGRAM_NOTHING) return std::string();
    if (by.is_text()) return text(by, read);
    auto value = number(by, read.sample);
    if (!value) return std::nullopt;
    return key_value_text(&*value, by.style);
  }

  [[nodiscard]] bool is_wanted(const RecordedEvent& event, const RecordedSample& read) const {
    auto allows = [](const std::vector<uint32_t>& list, uint32_t value) {
      return list.empty() || std::ranges::find(list, value) != list.end();
    };
    const SampleId& who = read.sample.id;
    if (!allows(pids_, who.pid) || !allows(tids_, who.tid) || !allows(cpus_, who.cpu)) return false;
    return passes_tests(tests_, [&](const FilterTest& test) {
      const RecordedField& field = event.tested[static_cast<size_t>(&test - tests_.data())];
      if (test.is_text) {
        auto value = text(field, read);
        return value && (*value == test.text) == (test.operation == HISTOGRAM_EQUAL);
      }
      auto value = number(field, read.sample);
      return value && compare_numbers(*value, test.operation, test.number, field.is_signed());
    });
  }

  void take(uint32_t number_of_sample) {
    const RecordedEvent& event = events_[session_.samples().event[number_of_sample]];
    if (!event.is_value && !event.is_begin && !event.is_end) return;
    RecordedSample read;
    read.number = number_of_sample;
    if (!session_.decode(number_of_sample, read.sample)) {
      ++remarks_.unreadable;
      return;
    }
    if (event.is_end) return take_end(event, read);
    if (!is_wanted(event, read)) return;
    if (event.is_begin) return take_begin(event, read);
    auto value = number(event.value, read.sample);
    auto key = key_of(event.by, read);
    if (!value || !key)
      ++remarks_.unreadable;
    else
      add(*key, *value, event.value.is_signed());
  }
  [[nodiscard]] bool read_pair_key(const RecordedEvent& event, const Sample& sample,
                                   PairKey& key) const {
    for (size_t i = 0; i < event.key.size(); ++i) {
      auto value = number(event.key[i], sample);
      if (!value) return false;
      key[i] = *value;
    }
    return true;
  }
  void take_begin(const RecordedEvent& event, const RecordedSample& read) {
    PairKey pair{};
    auto key = by_of_begin_ ? key_of(event.by, read) : std::string();
    if (!key || !read_pair_key(event, read.sample, pair)) {
      ++remarks_.unreadable;
      return;
    }
    pairing_.begin(pair, read.sample.id.time);
    if (by_of_begin_ && !options_.by.empty()) keys_of_begins_[pair] = std::move(*key);
  }
  void take_end(const RecordedEvent& event, const RecordedSample& read) {
    PairKey pair{};
    if (!read_pair_key(event, read.sample, pair)) {
      ++remarks_.unreadable;
      return;
    }
    auto time_ns = pairing_.end(pair, read.sample.id.time);
    std::optional<std::string> key = std::string();
    if (by_of_begin_ && !options_.by.empty()) {
      auto found = keys_of_begins_.extract(pair);
      if (found) key = std::move(found.mapped());
    } else if (time_ns) {
      key = key_of(event.by, read);
    }
    if (!time_ns) return;
    if (!key)
      ++remarks_.unreadable;
    else
      add(*key, *time_ns, false);
  }

  void add(const std::string& key, uint64_t value, bool is_signed) {
    Histogram& histogram = histograms_[key];
    histogram.add(set_.scale.bucket_of(value, is_signed), 1, value);
  }

  void finish() {
    for (auto& [key, histogram] : histograms_) {
      histogram.key = key;
      set_.histograms.push_back(std::move(histogram));
    }
    set_.sort();
    const EventPairing::Counts& counts = pairing_.counts();
    bool sees_all = tests_.empty() && pids_.empty() && tids_.empty() && cpus_.empty();
    remarks_.replaced = counts.replaced;
    remarks_.ends_alone = sees_all ? counts.ends_alone : 0;
    remarks_.backward = counts.backward;
    remarks_.still_open = pairing_.still_open();
    add_remarks(remarks_, set_.remarks);
  }

  const HistogramOptions& options_;
  const Session& session_;
  TraceFormats formats_;
  HistogramSet set_;
  std::vector<FilterTest> tests_;
  std::vector<uint32_t> pids_, tids_, cpus_;
  std::vector<RecordedEvent> events_;  // by EventId
  bool by_of_begin_ = false;
  EventPairing pairing_;
  std::map<PairKey, std::string> keys_of_begins_;
  std::map<std::string, Histogram> histograms_;
  PairRemarks remarks_;
};

}  // namespace

Result<HistogramSet> histogram_of_recording(const HistogramOptions& options, const Env& env) {
  SessionOptions how;
  how.open = {.force = options.force, .stdin_fd = env.in_fd};
  how.want_symbols = false;
  how.chains.reset();
  Session session = TRY(Session::open(*options.input, how, env));
  return RecordedHistograms(options, session).make();
}

void add_remark(uint64_t count, std::string_view one, std::string_view many, std::string_view what,
                std::vector<std::string>& remarks) {
  if (count > 0) remarks.push_back(fmt::format("{} {} {}", count, count == 1 ? one : many, what));
}

void add_remarks(const PairRemarks& counts, std::vector<std::string>& remarks) {
  auto add = [&](uint64_t count, std::string_view one, std::string_view many,
                 std::string_view what) { add_remark(count, one, many, what, remarks); };
  add(counts.replaced, "begin", "begins", "without an end: the same key began again");
  add(counts.still_open, "begin", "begins", "without an end so far");
  add(counts.ends_alone, "end", "ends", "without a begin");
  add(counts.backward, "end", "ends", "before the begin");
  add(counts.unreadable, "event", "events", "whose fields could not be read");
}

}  // namespace sonde
