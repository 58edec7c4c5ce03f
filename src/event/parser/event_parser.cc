#include "event/parser/event_parser.h"

#include <algorithm>

#include "base/text.h"
#include "event/parser/event_breakpoint.h"
#include "event/parser/event_error.h"
#include "event/parser/event_modifiers.h"
#include "event/parser/event_pmu_terms.h"
#include "event/parser/event_suggest.h"
#include "event/parser/event_syntax.h"
#include "event/parser/event_terms.h"
#include "event/pmu/event_name.h"
#include "event/vendor/vendor_events.h"

namespace sonde {
namespace {

struct ToolEventName {
  std::string_view name;
  ToolEvent tool;
};
constexpr ToolEventName kToolEvents[] = {{"duration_time", ToolEvent::kDurationTime},
                                         {"user_time", ToolEvent::kUserTime},
                                         {"system_time", ToolEvent::kSystemTime}};

/// The type and config of a word that is known without querying the machine.
struct KnownWord {
  uint32_t type;
  uint64_t config;
  ToolEvent tool = ToolEvent::kNone;
};

/// "r1a8"
std::optional<uint64_t> parse_raw_event(std::string_view word) {
  if (word.size() < 2 || word.size() > 17 || word.front() != 'r') return std::nullopt;
  if (word == "read") return std::nullopt;  // surely not meant as a number
  word.remove_prefix(1);
  if (word.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
    return std::nullopt;
  return parse_hex(word);
}

std::optional<KnownWord> find_word(std::string_view word) {
  if (std::optional<GenericEvent> generic = find_generic_event(word))
    return KnownWord{.type = generic->type, .config = generic->config};
  for (const ToolEventName& entry : kToolEvents)
    if (word == entry.name) return KnownWord{abi::kTypeSoftware, abi::kSwDummy, entry.tool};
  if (std::optional<uint64_t> cache = parse_cache_event(word))
    return KnownWord{.type = abi::kTypeHwCache, .config = *cache};
  if (std::optional<uint64_t> raw = parse_raw_event(word))
    return KnownWord{.type = abi::kTypeRaw, .config = *raw};
  return std::nullopt;
}

/// Turns one item of the syntax tree into events; globs and uncore PMUs expand to several.
class Resolver {
 public:
  Resolver(const EventErrors& errors, const EventSources& sources)
      : errors_(errors), sources_(sources) {}

  Result<std::vector<ParsedEvent>> run(const EventSyntax& syntax) {
    std::string_view head = syntax.head;
    if (head.starts_with("mem:")) {
      ParsedEvent event = new_event(syntax);
      TRY(parse_breakpoint(head, errors_, event));
      return one(std::move(event));
    }
    if (is_program_path(head)) return programs(syntax);
    if (is_usdt_name(head)) return usdt(syntax);
    size_t colon = head.find(':');
    std::string_view word = head.substr(0, colon);
    if (std::optional<KnownWord> known = find_word(word)) {
      // After a word that is an event by itself, the colon introduces modifiers.
      std::string_view modifiers =
          colon == std::string_view::npos ? syntax.modifiers : head.substr(colon + 1);
      return known_word(syntax, *known, modifiers);
    }
    if (colon != std::string_view::npos && modifiers_are_valid(head.substr(colon + 1)) &&
        is_pmu_event_name(word))
      return bare_pmu_event(syntax, word, head.substr(colon + 1));
    if (colon != std::string_view::npos && modifiers_are_valid(head.substr(colon + 1)))
      if (auto events = TRY(vendor_event(syntax, word, head.substr(colon + 1))); !events.empty())
        return events;
    if (colon != std::string_view::npos) return tracepoint(syntax);
    if (syntax.has_slashes) return pmu_event(syntax);
    return bare_pmu_event(syntax, word, {});
  }

 private:
  [[nodiscard]] ParsedEvent new_event(const EventSyntax& syntax) const {
    ParsedEvent event;
    event.name = syntax.text;
    event.attr.exclude_guest = 1;
    return event;
  }

  Result<> modify(std::string_view letters, std::string_view place, ParsedEvent& event) const {
    if (letters.empty() && place.empty()) return {};
    if (!modifiers_are_valid(letters))
      return errors_.fail(letters.empty() ? place : letters, "Bad modifier");
    apply_event_modifiers(letters, event);
    return {};
  }

  /// Terms of an event without a PMU.
  Result<> common_terms(const EventSyntax& syntax, ParsedEvent& event) const {
    for (const TermSyntax& term : syntax.terms)
      if (!TRY(apply_common_term(term, term.name, sources_.counting, errors_, event)))
        return errors_.fail(term.name, "unknown term",
                            "valid terms: " + common_term_names(sources_.counting));
    return {};
  }

  Result<std::vector<ParsedEvent>> known_word(const EventSyntax& syntax, const KnownWord& known,
                                              std::string_view modifiers) {
    ParsedEvent event = new_event(syntax);
    event.attr.type = known.type;
    event.attr.config = known.config;
    event.tool = known.tool;
    // perf shows cache events without their terms and modifiers.
    if (known.type == abi::kTypeHwCache) event.name = syntax.head.substr(0, syntax.head.find(':'));
    TRY(common_terms(syntax, event));
    TRY(modify(modifiers, syntax.head.ends_with(':') ? syntax.head : "", event));
    if (known.type == abi::kTypeHardware || known.type == abi::kTypeHwCache)
      return for_each_kind_of_core(syntax, std::move(event));
    return one(std::move(event));
  }

  /// On processors with two kinds of cores, a generic event is counted once per kind.
  std::vector<ParsedEvent> for_each_kind_of_core(const EventSyntax& syntax, ParsedEvent event) {
    const Pmu* big = sources_.pmus.find("cpu_core");
    const Pmu* little = big == nullptr ? nullptr : sources_.pmus.find("cpu_atom");
    if (little == nullptr) return one(std::move(event));
    std::vector<ParsedEvent> events;
    for (const Pmu* pmu : {big, little}) {
      ParsedEvent& own = events.emplace_back(event);
      own.attr.config |= uint64_t{pmu->type()} << 32;
      own.pmu = pmu->name();
      own.cpus = pmu->cpus();
      if (!own.name_given)
        own.name = syntax.has_slashes ? fmt::format("{}/{}", pmu->name(), syntax.text)
                                      : core_name(*pmu, syntax.text);
    }
    return events;
  }

  /// "cycles:u" as "cpu_core/cycles/u"
  static std::string core_name(const Pmu& pmu, std::string_view text) {
    size_t colon = text.find(':');
    std::string_view modifiers = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    return fmt::format("{}/{}/{}", pmu.name(), text.substr(0, colon), modifiers);
  }

  /// SYSTEM:EVENT[:MODIFIERS], either with globs
  Result<std::vector<ParsedEvent>> tracepoint(const EventSyntax& syntax) {
    std::vector<std::string_view> parts = split(syntax.head, ':');
    std::string_view modifiers = parts.size() > 2 ? parts[2] : syntax.modifiers;
    std::string_view extra = parts.size() > 3 ? parts[3] : std::string_view();
    if (parts[0].empty() || parts[1].empty() || extra.data() != nullptr)
      return errors_.fail(extra.data() != nullptr ? extra : syntax.head, "parser error");
    TracepointName pattern{std::string(parts[0]), std::string(parts[1])};
    std::vector<TracepointName> names{pattern};
    bool many = has_glob(pattern.system) || has_glob(pattern.name);
    if (many) {
      Result<std::vector<TracepointName>> matches =
          sources_.tracefs.match(pattern.system, pattern.name);
      if (!matches) return refused(syntax, pattern, matches.error());
      names = std::move(*matches);
      if (names.empty())
        return refused(
            syntax, pattern,
            {ErrorCode::kBadEvent, sources_.tracefs.explain(ENOENT, pattern.system, pattern.name)});
    }
    std::vector<ParsedEvent> events;
    for (TracepointName& name : names) {
      Result<uint64_t> id = sources_.tracefs.id(name);
      if (!id) {
        // Some entries of a system are not events that can be opened; an error only if named
        // explicitly.
        if (many && id.error().code != ErrorCode::kPermission) continue;
        return refused(syntax, name, id.error());
      }
      ParsedEvent event = new_event(syntax);
      event.attr.type = abi::kTypeTracepoint;
      event.attr.config = *id;
      event.name = name.system + ':' + name.name;
      event.tracepoint = std::move(name);
      TRY(common_terms(syntax, event));
      TRY(modify(modifiers, parts.size() > 2 ? syntax.head : "", event));
      events.push_back(std::move(event));
    }
    return events;
  }

  /// [%][sdt_]PROVIDER:EVENT[@OBJECT] — uses the tracefs event if there is one already (made
  /// earlier by `probe`); otherwise makes the probe.
  Result<std::vector<ParsedEvent>> usdt(const EventSyntax& syntax) {
    std::string_view text = syntax.head;
    if (text.starts_with('%')) text.remove_prefix(1);
    if (text.starts_with("sdt_")) text.remove_prefix(4);
    std::string_view object;
    if (size_t at = text.find("@/"); at != std::string_view::npos) {
      object = text.substr(at + 1);
      text = text.substr(0, at);
      // As `list` shows it: "@/usr/lib/libx.so(0123456789ab)"
      if (object.ends_with(')')) object = object.substr(0, object.rfind('('));
    }
    std::vector<std::string_view> parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3 || parts[0].empty() || parts[1].empty())
      return errors_.fail(syntax.head, "expected sdt_PROVIDER:NAME");
    std::string system = fmt::format("sdt_{}", parts[0]);
    if (object.empty()) {
      Result<std::vector<TracepointName>> there =
          sources_.tracefs.match(system, std::string(parts[1]));
      bool is_there = there && !there->empty();
      if ((is_there || sources_.maker == nullptr) && !syntax.head.starts_with('%'))
        return tracepoint(syntax);
    }
    if (sources_.maker == nullptr)
      return errors_.fail(syntax.head, "USDT probes cannot be made here");
    Result<std::vector<OwnedEvent>> made = sources_.maker->make_usdt(parts[0], parts[1], object);
    if (!made) {
      bool absent = made.error().code == ErrorCode::kNotFound;
      return errors_.fail(syntax.head,
                          absent ? "no such USDT probe" : "cannot make this USDT probe",
                          made.error().message);
    }
    return made_events(syntax, std::move(*made), parts.size() > 2 ? parts[2] : syntax.modifiers);
  }

  /// FILE.c, FILE.o: the events of a BPF program. Terms for its maps apply to the program, others
  /// to all its events.
  Result<std::vector<ParsedEvent>> programs(const EventSyntax& syntax) {
    if (sources_.maker == nullptr)
      return errors_.fail(syntax.head, "BPF programs cannot be loaded here");
    EventSyntax inside = syntax;
    std::vector<TermSyntax> settings;
    inside.terms.clear();
    for (const TermSyntax& term : syntax.terms)
      (term.name.starts_with("map:") ? settings : inside.terms).push_back(term);
    Result<std::vector<OwnedEvent>> made = sources_.maker->make_programs(syntax.head, settings);
    if (!made)
      return errors_.fail(syntax.head, "cannot load this BPF program", made.error().message);
    return made_events(inside, std::move(*made), syntax.modifiers);
  }

  Result<std::vector<ParsedEvent>> made_events(const EventSyntax& syntax,
                                               std::vector<OwnedEvent> made,
                                               std::string_view modifiers) {
    std::vector<ParsedEvent> events;
    for (OwnedEvent& one : made) {
      Result<uint64_t> id = sources_.tracefs.id(one.tracepoint);
      if (!id) return refused(syntax, one.tracepoint, id.error());
      ParsedEvent event = new_event(syntax);
      event.attr.type = abi::kTypeTracepoint;
      event.attr.config = *id;
      event.name = std::move(one.name);
      event.tracepoint = std::move(one.tracepoint);
      event.bpf_program = one.program;
      TRY(common_terms(syntax, event));
      TRY(modify(modifiers, "", event));
      events.push_back(std::move(event));
    }
    return events;
  }

  std::unexpected<Error> refused(const EventSyntax& syntax, const TracepointName& name,
                                 const Error& error) const {
    if (error.code == ErrorCode::kPermission)
      return errors_.fail(syntax.head, "can't access trace events", error.message + '\n');
    std::string help = error.message + '\n';
    std::string nearest = suggest_tracepoint(name.system, name.name, sources_);
    if (!nearest.empty()) help += '\n' + nearest;
    return errors_.fail(syntax.head, "unknown tracepoint", help);
  }

  /// PMU/TERMS/MODIFIERS
  Result<std::vector<ParsedEvent>> pmu_event(const EventSyntax& syntax) {
    std::vector<const Pmu*> pmus = sources_.pmus.matching(syntax.head);
    if (pmus.empty()) {
      std::string_view remedy =
          syntax.head == "intel_pt" ? " sonde_step// records the same, step by step." : "";
      return errors_.fail(
          syntax.head,
          fmt::format("Cannot find PMU `{}'. Missing kernel support?{}", syntax.head, remedy));
    }
    std::vector<ParsedEvent> events;
    for (const Pmu* pmu : pmus) {
      ParsedEvent event = new_event(syntax);
      TRY(apply_pmu_terms(syntax, *pmu, sources_, errors_, event));
      TRY(modify(syntax.modifiers, "", event));
      events.push_back(std::move(event));
    }
    return events;
  }

  [[nodiscard]] bool is_pmu_event_name(std::string_view word) const {
    return std::ranges::any_of(sources_.pmus.all(),
                               [&](const Pmu* pmu) { return pmu->alias(word) != nullptr; });
  }

  /// A PMU's predefined event without the PMU: "mem-loads" for cpu/mem-loads/.
  Result<std::vector<ParsedEvent>> bare_pmu_event(const EventSyntax& syntax, std::string_view word,
                                                  std::string_view modifiers) {
    std::vector<ParsedEvent> events;
    for (const Pmu* pmu : sources_.pmus.all()) {
      if (pmu->alias(word) == nullptr) continue;
      EventSyntax inside{.text = syntax.text,
                         .head = pmu->name(),
                         .has_slashes = true,
                         .terms = {{word, std::nullopt}},
                         .modifiers = modifiers};
      ParsedEvent event = new_event(syntax);
      TRY(apply_pmu_terms(inside, *pmu, sources_, errors_, event));
      TRY(modify(modifiers, "", event));
      events.push_back(std::move(event));
    }
    if (events.empty()) events = TRY(vendor_event(syntax, word, modifiers));
    if (events.empty()) return errors_.fail(syntax.head, "unknown event", help_for(word));
    return events;
  }

  [[nodiscard]] std::string help_for(std::string_view word) const {
    std::string help = suggest_event(word, sources_);
    bool lacks_files = sources_.vendor != nullptr && !sources_.vendor->is_configured();
    if (help.empty() && lacks_files && word.find('.') != std::string_view::npos)
      help = fmt::format(
          "Processor vendors' names need their files: '{} config events.directory=DIRECTORY'.",
          sources_.tool);
    return help;
  }

  /// An event by its vendor's name: "MEM_LOAD_RETIRED.L3_MISS". Nothing if there is no such name.
  Result<std::vector<ParsedEvent>> vendor_event(const EventSyntax& syntax, std::string_view word,
                                                std::string_view modifiers) {
    std::vector<ParsedEvent> events;
    if (sources_.vendor == nullptr) return events;
    Result<std::vector<const VendorEvent*>> found = sources_.vendor->find(word);
    if (!found) return errors_.fail(syntax.head, "unknown event", found.error().message);
    for (const VendorEvent* vendor : *found)
      for (const Pmu* pmu : vendor_pmus(*vendor, sources_.pmus)) {
        ParsedEvent event = new_event(syntax);
        TRY(apply_vendor_event(syntax, *vendor, *pmu, sources_, errors_, event));
        TRY(modify(modifiers, "", event));
        events.push_back(std::move(event));
      }
    if (events.empty() && !found->empty())
      return errors_.fail(
          syntax.head, "this machine has no PMU that counts this event",
          fmt::format("It is counted by {}.",
                      found->front()->pmu.empty() ? "the cores' PMU" : found->front()->pmu));
    return events;
  }

  static std::vector<ParsedEvent> one(ParsedEvent event) {
    std::vector<ParsedEvent> events;
    events.push_back(std::move(event));
    return events;
  }

  const EventErrors& errors_;
  const EventSources& sources_;
};

/// Makes the events from `first` on a group.
Result<> close_group(const GroupSyntax& group, size_t first, const EventErrors& errors,
                     std::vector<ParsedEvent>& events) {
  if (!group.modifiers.empty() && !modifiers_are_valid(group.modifiers))
    return errors.fail(group.modifiers, "Bad modifier");
  for (size_t i = first; i < events.size(); ++i) {
    events[i].leader = static_cast<uint32_t>(group.braces ? first : i);
    if (!apply_group_modifiers(group.modifiers, i == first, events[i]))
      return errors.fail(group.modifiers, "Bad modifier");
  }
  if (group.braces) events[first].group_name = group.name;
  return {};
}

}  // namespace

Result<std::vector<ParsedEvent>> parse_events(std::string_view text, const EventSources& sources) {
  EventErrors errors(text, sources.tool, sources.columns);
  Resolver resolver(errors, sources);
  std::vector<ParsedEvent> events;
  for (const GroupSyntax& group : TRY(parse_event_syntax(errors))) {
    size_t first = events.size();
    for (const EventSyntax& syntax : group.events)
      std::ranges::move(TRY(resolver.run(syntax)), std::back_inserter(events));
    bool only_programs = std::ranges::all_of(group.events, is_program_path, &EventSyntax::head);
    if (events.size() == first && !only_programs)
      return errors.fail(group.events.front().head, "unknown tracepoint");
    if (events.size() == first) continue;
    TRY(close_group(group, first, errors, events));
  }
  return events;
}

Result<> parse_events(std::string_view text, const EventSources& sources, EventList& list) {
  list.append(TRY(parse_events(text, sources)));
  return {};
}

}  // namespace sonde
