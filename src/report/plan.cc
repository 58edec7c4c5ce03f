#include "report/plan.h"

#include <strings.h>

#include <algorithm>

#include "base/text.h"
#include "replay/fields/parallelism.h"

namespace sonde::report {
namespace {

struct WeightName {
  std::string_view name;
  Weight weight;
  bool abbreviates = true;
};
constexpr auto kWeightNames = std::to_array<WeightName>({
    {"overhead", Weight::kOverhead},
    {"overhead_sys", Weight::kSystem},
    {"overhead_us", Weight::kUser},
    {"overhead_guest_sys", Weight::kGuestSystem},
    {"overhead_guest_us", Weight::kGuestUser},
    {"overhead_children", Weight::kChildren},
    {"sample", Weight::kSamples},
    {"period", Weight::kPeriod},
    // Not known to perf, where "co" is comm.
    {"confidence", Weight::kOverheadInterval, false},
    {"confidence_children", Weight::kChildrenInterval, false},
    {"latency", Weight::kLatency, false},
    {"latency_children", Weight::kLatencyChildren, false},
});

std::optional<Weight> find_weight(std::string_view word) {
  for (const WeightName& known : kWeightNames)
    if ((known.abbreviates ? word.size() <= known.name.size() : word.size() == known.name.size()) &&
        strncasecmp(word.data(), known.name.data(), word.size()) == 0)
      return known.weight;
  return std::nullopt;
}

/// The aspect of memory accesses that an output field names; fields can be abbreviated.
std::optional<abi::MemoryAspect> find_aspect(std::string_view word) {
  for (size_t i = 0; i < abi::kMemoryAspects; ++i) {
    auto aspect = static_cast<abi::MemoryAspect>(i);
    std::string_view name = abi::memory_aspect_text(aspect).field;
    if (word.size() <= name.size() && strncasecmp(word.data(), name.data(), word.size()) == 0)
      return aspect;
  }
  return std::nullopt;
}

/// "; did you mean `symbol'?" if some name is close.
std::string nearest(std::string_view word) {
  std::string_view best;
  size_t distance = 3;
  auto consider = [&](std::string_view name) {
    if (size_t d = edit_distance(word, name); d < distance) {
      distance = d;
      best = name;
    }
  };
  // What other tools and people call them.
  constexpr std::pair<std::string_view, std::string_view> kOtherWords[] = {
      {"function", "symbol"}, {"object", "dso"},   {"library", "dso"},  {"process", "pid"},
      {"thread", "tid"},      {"command", "comm"}, {"line", "srcline"}, {"file", "srcfile"}};
  for (auto [other, name] : kOtherWords)
    if (word == other) return fmt::format("; did you mean `{}'?", name);
  for (const SortKeyInfo& key : sort_key_list()) consider(key.name);
  for (const WeightName& known : kWeightNames) consider(known.name);
  return best.empty() ? "" : fmt::format("; did you mean `{}'?", best);
}

/// The event that a word refers to: by its name, by the part after the colon, or as %N.
EventId find_event(const EventTable& events, std::string_view word) {
  if (word.starts_with('%')) {
    auto number = parse_number(word.substr(1));
    return number && *number >= 1 && *number <= events.size()
               ? EventId(static_cast<size_t>(*number - 1))
               : EventId();
  }
  bool full = word.find(':') != std::string_view::npos;
  for (size_t i = 0; i < events.size(); ++i) {
    std::string_view name = events[EventId(i)].name;
    if (full ? name == word : name.find(word) != std::string_view::npos) return EventId(i);
  }
  return {};
}

class Planner {
 public:
  Planner(const ReportOptions& options, const Session& session, const TraceTexts& traces)
      : options_(options), session_(session), traces_(traces) {}

  Result<Plan> make() {
    choose_rows();
    strict_fields_ = options_.fields && !options_.fields->starts_with('+');
    TRY(add_sort_keys());
    TRY(add_columns());
    connect();
    finish();
    TRY(check_latency());
    return std::move(plan_);
  }

 private:
  [[nodiscard]] uint64_t all_sample_bits() const {
    uint64_t bits = 0;
    for (const EventDesc& event : session_.events().all()) bits |= event.attr.sample_type;
    return bits;
  }

  [[nodiscard]] bool samples(uint64_t bit) const { return (all_sample_bits() & bit) != 0; }

  void choose_rows() {
    bool has_branches = session_.recording().features().branch_stack;
    bool has_chains = samples(abi::kSampleCallchain);
    if (options_.memory_mode)
      plan_.rows = RowsOf::kMemory;
    else if (!options_.branch_history && options_.branch_stack.value_or(has_branches))
      plan_.rows = RowsOf::kBranches;
    plan_.children = options_.children && plan_.rows == RowsOf::kSamples && !options_.hierarchy;
    wants_children_ = plan_.children;
    plan_.children = plan_.children && has_chains;
    bool has_paths = has_chains || (options_.branch_history && samples(abi::kSampleBranchStack));
    view::GraphStyle style = options_.call_graph.style;
    bool is_tree = style == view::GraphStyle::kAbsolute || style == view::GraphStyle::kRelative;
    plan_.branch_counts = options_.branch_history && has_branches && is_tree;
    plan_.call_graph = has_paths && options_.call_graph.style != view::GraphStyle::kNone;
    plan_.caller_order =
        options_.call_graph.caller_order || options_.inverted ||
        (options_.children && plan_.rows != RowsOf::kBranches && !options_.call_graph.order_given);
  }

  /// Whether latencies are shown without being asked for: where there are context switches, as in
  /// perf since 6.15.
  [[nodiscard]] bool shows_latency() const {
    return options_.latency || (plan_.rows == RowsOf::kSamples && !options_.only_rows &&
                                records_switches(session_.events()));
  }

  [[nodiscard]] Result<> check_latency() const {
    if (!plan_.needs_parallelism) return {};
    if (!records_switches(session_.events()))
      return fail(
          ErrorCode::kFailed,
          "latency and parallelism are told from context switches, which were not recorded; "
          "use record --latency");
    if (plan_.needs_latency && plan_.rows != RowsOf::kSamples)
      return fail(ErrorCode::kUsage,
                  "latency: only of samples, not of branches or memory accesses");
    return {};
  }

  [[nodiscard]] std::string default_keys() const {
    if (plan_.rows == RowsOf::kBranches) return "comm,dso_from,symbol_from,symbol_to,cycles";
    if (plan_.rows == RowsOf::kMemory)
      return "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_"
             "lat,"
             "local_p_stage_cyc";
    bool all_tracepoints = session_.events().size() > 0;
    for (const EventDesc& event : session_.events().all())
      all_tracepoints = all_tracepoints && event.attr.type == abi::kTypeTracepoint;
    if (all_tracepoints) return options_.raw_trace ? "trace_fields" : "trace";
    return "comm,dso,symbol";
  }

  [[nodiscard]] Result<std::string> sort_words() const {
    std::string words = options_.sort.value_or(options_.branch_history ? "srcline,symbol,dso" : "");
    if (options_.ipc_beside_symbol && words.find("symbol") != std::string::npos)
      words += plan_.rows == RowsOf::kBranches ? ",ipc_lbr" : ",ipc_null";
    if (words.starts_with('+')) {
      if (words.size() == 1) return fail(ErrorCode::kUsage, "Invalid --sort key: `+'");
      words = default_keys() + "," + words.substr(1);
    }
    if (words.empty() && !strict_fields_) words = default_keys();
    return words;
  }

  Result<> add_sort_keys() {
    std::string words = TRY(sort_words());
    plan_.sort_words = words.empty() ? default_keys() : words;
    if (words.empty()) return {};
    std::vector<OrderTerm> terms;
    for (std::string_view word : words_of(words)) TRY(add_sort_key(word, terms));
    plan_.latency_first = options_.latency || names_latency_first(words);
    if (!strict_fields_) {
      std::string_view name = plan_.latency_first ? "latency" : "overhead";
      put_first(terms, share(), words.find(name) != std::string::npos);
      if (wants_children_)
        put_first(terms, share_with_children(),
                  words.find(fmt::format("{}_children", name)) != std::string::npos);
    }
    if (options_.parent) TRY(add_sort_key("parent", terms));
    plan_.order = std::move(terms);
    return {};
  }

  /// -s latency,…: as with --latency.
  static bool names_latency_first(std::string_view words) {
    size_t latency = words.find("latency");
    return latency != std::string_view::npos && latency < words.find("overhead");
  }
  [[nodiscard]] Weight share() const {
    return plan_.latency_first ? Weight::kLatency : Weight::kOverhead;
  }
  [[nodiscard]] Weight share_with_children() const {
    return plan_.latency_first ? Weight::kLatencyChildren : Weight::kChildren;
  }

  static void put_first(std::vector<OrderTerm>& terms, Weight weight, bool is_there) {
    if (!is_there) terms.insert(terms.begin(), OrderTerm::of(weight));
  }

  static std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
      size_t end = text.find_first_of(", {}");
      if (end != 0) words.push_back(text.substr(0, end));
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
    return words;
  }

  static void add(std::vector<OrderTerm>& terms, const OrderTerm& term) {
    if (std::ranges::find(terms, term) == terms.end()) terms.push_back(term);
  }

  OrderTerm key_term(const KeySelection& choice) {
    auto found = std::ranges::find(plan_.keys, choice);
    auto index = static_cast<size_t>(found - plan_.keys.begin());
    if (found == plan_.keys.end()) plan_.keys.push_back(choice);
    return OrderTerm::of_key(index);
  }

  Result<> add_sort_key(std::string_view word, std::vector<OrderTerm>& terms) {
    if (const SortKeyInfo* key = find_sort_key(word); key != nullptr)
      return add_key(*key, word, "--sort", terms);
    if (auto weight = find_weight(word)) {
      add(terms, OrderTerm::of(*weight));
      return {};
    }
    return add_fields(word, "--sort", terms);
  }

  Result<> add_field(std::string_view word, std::vector<OrderTerm>& terms) {
    if (auto weight = find_weight(word)) {
      add(terms, OrderTerm::of(*weight));
      return {};
    }
    // As fields, `mem` and `snoop` are these and not the sort keys, as in perf since 6.16.
    if (auto aspect = find_aspect(word); aspect && plan_.rows == RowsOf::kMemory) {
      add(terms, OrderTerm::of(weight_by(*aspect)));
      return {};
    }
    if (const SortKeyInfo* key = find_sort_key(word); key != nullptr)
      return add_key(*key, word, "--fields", terms);
    return add_fields(word, "--fields", terms);
  }

  Result<> add_key(const SortKeyInfo& key, std::string_view word, std::string_view flag,
                   std::vector<OrderTerm>& terms) {
    bool fits = key.family == KeyFamily::kAny ||
                (key.family == KeyFamily::kBranch && plan_.rows == RowsOf::kBranches) ||
                (key.family == KeyFamily::kMemory && plan_.rows == RowsOf::kMemory);
    if (!fits) return fail(ErrorCode::kUsage, "Invalid {} key: `{}'", flag, word);
    // Only PowerPC records pipeline stages.
    bool is_stage = key.name.ends_with("p_stage_cyc");
    if (is_stage && !session_.recording().features().arch.value_or("").starts_with("ppc64"))
      return {};
    KeySelection choice;
    choice.info = &key;
    add(terms, key_term(choice));
    return {};
  }

  // [event.]field[/raw], with * and trace_fields for all fields.
  Result<> add_fields(std::string_view word, std::string_view flag, std::vector<OrderTerm>& terms) {
    auto unknown = [&](ErrorCode code = ErrorCode::kUsage) {
      return fail(code, "Unknown {} key: `{}'{}", flag, word, nearest(word));
    };
    std::string_view rest = word;
    bool raw = options_.raw_trace;
    if (size_t slash = rest.find('/'); slash != std::string_view::npos) {
      if (rest.substr(slash + 1) != "raw")
        return fail(ErrorCode::kUsage, "Invalid {} key: `{}'", flag, word);
      raw = true;
      rest = rest.substr(0, slash);
    }
    size_t dot = rest.find('.');
    bool every_event = dot == std::string_view::npos;
    std::string_view field = every_event ? rest : rest.substr(dot + 1);
    EventId only = every_event ? EventId() : find_event(session_.events(), rest.substr(0, dot));
    if (!every_event && !only.valid())
      return fail(ErrorCode::kUsage, "Cannot find event: {}", rest.substr(0, dot));
    bool all = field == "trace_fields" || (field == "*" && !every_event);
    size_t before = terms.size();
    for (size_t i = 0; i < session_.events().size(); ++i) {
      EventId event(i);
      if (only.valid() && only != event) continue;
      const TracepointFormat* format = traces_.format(event);
      if (format == nullptr) continue;
      add_fields_of(event, *format, field, all, raw, terms);
    }
    if (terms.size() == before) return unknown();
    return {};
  }

  void add_fields_of(EventId event, const TracepointFormat& format, std::string_view field,
                     bool all, bool raw, std::vector<OrderTerm>& terms) {
    for (const TracepointField& candidate : all ? format.fields() : format.all_fields())
      if (all || candidate.name == field) add(terms, key_term({nullptr, event, &candidate, raw}));
  }

  Result<> add_columns() {
    std::vector<OrderTerm> columns;
    if (!strict_fields_) {
      if (wants_children_) add_shares(columns, Weight::kChildren, Weight::kLatencyChildren);
      add_shares(columns, Weight::kOverhead, Weight::kLatency);
      if (options_.show_modes) {
        columns.push_back(OrderTerm::of(Weight::kSystem));
        columns.push_back(OrderTerm::of(Weight::kUser));
        if (options_.shows_guests.value_or(false)) {
          columns.push_back(OrderTerm::of(Weight::kGuestSystem));
          columns.push_back(OrderTerm::of(Weight::kGuestUser));
        }
      }
      if (options_.show_samples) columns.push_back(OrderTerm::of(Weight::kSamples));
      if (options_.show_period) columns.push_back(OrderTerm::of(Weight::kPeriod));
    }
    if (options_.fields) {
      std::string_view words = *options_.fields;
      if (words == "+") return fail(ErrorCode::kUsage, "Invalid --fields key: `+'");
      if (!strict_fields_) words.remove_prefix(1);
      for (std::string_view word : words_of(words)) TRY(add_field(word, columns));
    }
    if (options_.show_intervals) add_intervals(columns);
    plan_.columns = std::move(columns);
    return {};
  }

  void add_shares(std::vector<OrderTerm>& columns, Weight of_period, Weight of_latency) const {
    if (plan_.latency_first) columns.push_back(OrderTerm::of(of_latency));
    columns.push_back(OrderTerm::of(of_period));
    if (shows_latency()) add(columns, OrderTerm::of(of_latency));
  }

  /// --confidence: beside each share.
  static void add_intervals(std::vector<OrderTerm>& columns) {
    for (auto [share, interval] : {std::pair(Weight::kChildren, Weight::kChildrenInterval),
                                   std::pair(Weight::kOverhead, Weight::kOverheadInterval)}) {
      if (std::ranges::find(columns, OrderTerm::of(share)) == columns.end()) continue;
      std::erase(columns, OrderTerm::of(interval));
      columns.insert(std::ranges::find(columns, OrderTerm::of(share)) + 1, OrderTerm::of(interval));
    }
  }

  void connect() {
    for (const OrderTerm& term : std::vector(plan_.order)) add(plan_.columns, term);
    for (const OrderTerm& term : plan_.columns) add(plan_.order, term);
    if (plan_.children) return;
    for (Weight weight : {Weight::kChildren, Weight::kChildrenInterval, Weight::kLatencyChildren}) {
      if (!strict_fields_) std::erase(plan_.columns, OrderTerm::of(weight));
      std::erase(plan_.order, OrderTerm::of(weight));
    }
  }

  void finish() {
    elide();
    plan_.self_title = plan_.children && !strict_fields_;
    for (const OrderTerm& term : plan_.columns) {
      if (term.is_key) {
        const SortKeyInfo* info = plan_.keys[term.key].info;
        std::string_view name = info == nullptr ? std::string_view() : info->name;
        plan_.has_parent = plan_.has_parent || name == "parent";
        plan_.needs_parallelism = plan_.needs_parallelism || name == "parallelism";
        continue;
      }
      plan_.needs_latency = plan_.needs_latency || is_latency(term.weight);
      plan_.needs_sources = plan_.needs_sources || is_breakdown(term.weight);
      plan_.needs_modes = plan_.needs_modes ||
                          (term.weight >= Weight::kSystem && term.weight <= Weight::kGuestUser);
    }
    plan_.needs_parallelism =
        plan_.needs_parallelism || plan_.needs_latency || !options_.parallelism.empty();
    plan_.skip_first_call = !options_.fields && options_.sort && options_.sort->starts_with("sym");
  }

  /// Drops a key's column if a filter leaves only one name for it, unless no key would be left.
  void elide() {
    std::vector<OrderTerm> kept;
    size_t keys_left = 0;
    for (const OrderTerm& term : plan_.columns) {
      const SortKeyInfo* info = term.is_key ? plan_.keys[term.key].info : nullptr;
      const std::vector<std::string>* list = info == nullptr ? nullptr : filter_of(info->name);
      bool drop = list != nullptr && list->size() == 1;
      if (drop) plan_.elided.push_back(fmt::format("{}: {}", info->name, list->front()));
      if (!drop) kept.push_back(term);
      if (!drop && term.is_key) ++keys_left;
    }
    if (plan_.elided.empty() || keys_left == 0) return;
    std::erase_if(plan_.order, [&](const OrderTerm& term) {
      return term.is_key && std::ranges::find(kept, term) == kept.end();
    });
    plan_.columns = std::move(kept);
  }
  [[nodiscard]] const std::vector<std::string>* filter_of(std::string_view key) const {
    if (key == "comm") return &options_.comms;
    if (key == "dso") return &options_.dsos;
    return key == "symbol" ? &options_.symbols : nullptr;
  }

  const ReportOptions& options_;
  const Session& session_;
  const TraceTexts& traces_;
  Plan plan_;
  bool strict_fields_ = false;
  bool wants_children_ = false;
};

}  // namespace

Result<Plan> make_plan(const ReportOptions& options, const Session& session,
                       const TraceTexts& traces) {
  return Planner(options, session, traces).make();
}

}  // namespace sonde::report
