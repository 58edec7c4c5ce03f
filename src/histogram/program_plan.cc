#include "histogram/program_plan.h"

#include <algorithm>

#include "analysis/latencies/session_latencies.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr size_t kMostSources = 256;
// At the entry the return address is on the stack of x86, at the return no longer.
#if defined(__x86_64__)
constexpr std::string_view kStackKey = "%sp:u64+8=%sp:u64";
#else
constexpr std::string_view kStackKey = "%sp:u64";
#endif

HistogramSource source_at(const LiveEvent& event, size_t place_index) {
  HistogramSource source{.system = event.tracepoint.system, .name = event.tracepoint.name};
  if (event.places.empty()) return source;
  const ProbePlace& place = event.places[place_index];
  source.kind =
      place.in_kernel() ? HistogramSource::Kind::kKernelFunction : HistogramSource::Kind::kFunction;
  source.object = place.object;
  source.offset = place.offset.value;
  source.semaphore = place.semaphore.value;
  source.at_return = place.at_return;
  if (place.in_kernel()) {
    size_t plus = std::min(place.symbol.find('+'), place.symbol.size());
    source.symbol = place.symbol.substr(0, plus);
    source.offset = 0;
    if (plus < place.symbol.size())
      source.offset = parse_number(std::string_view(place.symbol).substr(plus + 1)).value_or(0);
  }
  return source;
}

class ProgramPlanner {
 public:
  ProgramPlanner(const HistogramOptions& options, const EventSearch& search, Tracefs& tracefs)
      : options_(options), search_(search), tracefs_(tracefs) {}

  Result<ProgramPlan> plan() && {
    plan_.empty = TRY(named_set(options_));
    tests_ = TRY(parse_event_filter(options_.filter));
    TRY(options_.are_pairs() ? plan_pairs() : plan_values());
    if (plan_.sources.size() > kMostSources)
      return fail(ErrorCode::kUnsupported,
                  "{} places would be attached to, at most {} are possible", plan_.sources.size(),
                  kMostSources);
    return std::move(plan_);
  }

 private:
  // Variables of functions get names of ours, whatever is written: "p->size".

  /// For the events of a function: the variables among these fields, as arguments of its probe.
  std::vector<std::string> variables_among(const std::string& event,
                                           std::vector<std::string> fields) {
    std::vector<std::string> variables;
    names_.clear();
    if (!names_function(event, search_)) return variables;
    for (const std::string& field : fields) {
      bool is_variable = !field.empty() && !common_read(field) && field[0] != '%' &&
                         field[0] != '+' && field[0] != '-';
      if (!is_variable || std::ranges::find(names_, field) != names_.end()) continue;
      variables.push_back(fmt::format("v{}={}", names_.size(), field));
      names_.push_back(field);
    }
    return variables;
  }
  [[nodiscard]] std::string name_of(const std::string& field) const {
    auto found = std::ranges::find(names_, field);
    return found == names_.end() ? field : fmt::format("v{}", found - names_.begin());
  }

  std::vector<std::string> filter_fields() const {
    std::vector<std::string> fields;
    for (const FilterTest& test : tests_) fields.push_back(test.field);
    return fields;
  }

  Result<std::vector<histogram_test>> tests_for(const FieldEvent& event) const {
    std::vector<histogram_test> made;
    for (FilterTest test : tests_) {
      test.field = name_of(test.field);
      made.push_back(TRY(program_test(event, test)));
    }
    return made;
  }

  /// All events must agree on what they have.
  template <typename T>
  Result<> agree(std::optional<T>& known, T value, const LiveEvent& event,
                 const std::string& field) {
    if (known && *known != value)
      return fail(ErrorCode::kBadEvent, "{}: its '{}' is of another kind than that of the others",
                  event.name, field);
    known = value;
    return {};
  }

  Result<> set_key(HistogramSource& source, const LiveEvent& event, const FieldEvent& fields) {
    if (options_.by.empty()) return {};
    FieldRead read = TRY(read_of_field(fields, name_of(options_.by), true));
    source.by = read.fetch;
    TRY(agree(key_style_, read.style, event, options_.by));
    plan_.key_style = read.style;
    return {};
  }

  Result<> plan_values() {
    std::vector<std::string> wanted = filter_fields();
    wanted.insert(wanted.begin(), {options_.field, options_.by});
    std::string event_name = options_.event;
    bool of_return = options_.field.starts_with("$retval");
    if (of_return && names_function(event_name, search_) && !event_name.ends_with("%return"))
      event_name += "%return";
    auto variables = variables_among(event_name, wanted);
    for (const LiveEvent& event : TRY(find_live_events(event_name, variables, search_, tracefs_)))
      for (size_t i = 0; i < std::max<size_t>(1, event.places.size()); ++i) {
        FieldEvent fields = event.fields(i);
        HistogramSource source = source_at(event, i);
        FieldRead value = TRY(read_of_field(fields, name_of(options_.field), false));
        source.value = value.fetch;
        TRY(agree(is_signed_, value.fetch.is_signed != 0, event, options_.field));
        plan_.empty.is_signed = value.fetch.is_signed != 0;
        TRY(set_key(source, event, fields));
        source.tests = TRY(tests_for(fields));
        plan_.sources.push_back(std::move(source));
      }
    return {};
  }

  Result<> plan_pairs() {
    std::string from = options_.from, to = options_.to;
    std::vector<std::string> key = options_.key;
    if (from.empty()) {
      from = options_.event;
      to = from + "%return";
      bool in_kernel = search_.executable.empty();
      if (key.empty()) key = {"tid"};
      if (!in_kernel) key.emplace_back(kStackKey);
    } else if (key.empty()) {
      key = known_key(from, to);
    }
    if (key.size() > HISTOGRAM_PAIR_KEYS)
      return fail(ErrorCode::kUsage, "--key takes at most {} fields, not {}", HISTOGRAM_PAIR_KEYS,
                  key.size());
    std::vector<std::string> begin_fields = filter_fields(), end_fields;
    begin_fields.push_back(options_.by);
    for (const std::string& one : key) {
      begin_fields.emplace_back(paired_names(one).begin);
      end_fields.emplace_back(paired_names(one).end);
    }
    auto end_variables = variables_among(to, end_fields);
    auto ends = TRY(find_live_events(to, end_variables, search_, tracefs_));
    bool of_begin = true;
    for (const LiveEvent& event : ends)
      if (!options_.by.empty() && has_field(event.fields(), options_.by)) of_begin = false;
    for (const LiveEvent& event : ends) TRY(plan_side(event, key, HISTOGRAM_END, of_begin));
    auto begin_variables = variables_among(from, begin_fields);
    auto begins = TRY(find_live_events(from, begin_variables, search_, tracefs_));
    for (const LiveEvent& event : begins) {
      if (std::ranges::find(ends, event.name, &LiveEvent::name) != ends.end())
        return fail(ErrorCode::kUsage, "{}: the event is on both sides (--from, --to)", event.name);
      TRY(plan_side(event, key, HISTOGRAM_BEGIN, of_begin));
    }
    return {};
  }

  Result<> plan_side(const LiveEvent& event, const std::vector<std::string>& key,
                     histogram_role role, bool of_begin) {
    for (size_t i = 0; i < std::max<size_t>(1, event.places.size()); ++i) {
      FieldEvent fields = event.fields(i);
      HistogramSource source = source_at(event, i);
      source.role = role;
      source.by_of_begin = of_begin;
      for (size_t at = 0; at < key.size(); ++at) {
        PairedNames names = paired_names(key[at]);
        std::string name(role == HISTOGRAM_BEGIN ? names.begin : names.end);
        source.pair_keys[at] = TRY(read_of_pair_key(fields, name_of(name))).fetch;
      }
      if (of_begin == (role == HISTOGRAM_BEGIN)) TRY(set_key(source, event, fields));
      if (role == HISTOGRAM_BEGIN) source.tests = TRY(tests_for(fields));
      plan_.sources.push_back(std::move(source));
    }
    return {};
  }

  const HistogramOptions& options_;
  const EventSearch& search_;
  Tracefs& tracefs_;
  ProgramPlan plan_;
  std::vector<FilterTest> tests_;
  std::vector<std::string> names_;  // of the variables v0, v1 …
  std::optional<KeyStyle> key_style_;
  std::optional<bool> is_signed_;
};

}  // namespace

PairedNames paired_names(std::string_view key) {
  size_t equals = key.find('=');
  if (equals == std::string_view::npos) return {key, key};
  return {key.substr(0, equals), key.substr(equals + 1)};
}

Result<HistogramSet> named_set(const HistogramOptions& options) {
  HistogramSet set;
  set.are_times = options.are_pairs();
  set.key_name = options.by;
  if (!options.from.empty())
    set.title = fmt::format("time from {} to {}", options.from, options.to);
  else if (set.are_times)
    set.title = fmt::format("time in {}", options.event);
  else
    set.title = fmt::format("{} of {}", options.field, options.event);
  set.value_name = set.are_times ? "time" : options.field;
  if (!options.linear.empty()) set.scale = TRY(parse_linear(options.linear, set.are_times));
  return set;
}

Result<ProgramPlan> plan_programs(const HistogramOptions& options, const EventSearch& search,
                                  Tracefs& tracefs) {
  return ProgramPlanner(options, search, tracefs).plan();
}

}  // namespace sonde
