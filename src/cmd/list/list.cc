// `list`: the events that -e accepts on this machine.
#include <algorithm>
#include <functional>
#include <set>

#include "analysis/counts/metric_list.h"
#include "analysis/counts/vendor_metrics.h"
#include "base/foreign/plain_name.h"
#include "base/output_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "event/parser/event_syntax.h"
#include "event/pmu/event_catalog.h"
#include "event/pmu/pfm.h"
#include "event/vendor/vendor_catalog.h"
#include "probe/probe_definition.h"
#include "probe/usdt/sdt_cache.h"
#include "store/build_id_cache.h"

namespace sonde {
namespace {

/// A word of the command line: the classes it selects, or the names it searches for.
struct Selection {
  enum class Metrics : uint8_t { kNone, kAll, kGroups, kGrouped };
  std::vector<EventClass> classes;
  std::string pattern = "*";    // a glob over names and aliases
  bool without_system = false;  // match what follows a tracepoint's system
  Metrics metrics = Metrics::kNone;
  std::string object = {};  // for USDT probes: look into this file
};

struct ClassWord {
  std::string_view word;
  std::vector<EventClass> classes;
};

const std::vector<ClassWord>& class_words() {
  using enum EventClass;
  static const std::vector<ClassWord> words = {
      {"hw", {kHardware}},
      {"hardware", {kHardware}},
      {"sw", {kSoftware, kTool}},
      {"software", {kSoftware, kTool}},
      {"tool", {kTool}},
      {"cache", {kCache}},
      {"hwcache", {kCache}},
      {"pmu", {kPmu}},
      {"vendor", {kVendor}},
      {"raw", {kRaw}},
      {"breakpoint", {kBreakpoint}},
      {"tracepoint", {kTracepoint}},
      {"sdt", {kSdt}},
      {"pfm", {kPfm}},
  };
  return words;
}

std::vector<EventClass> all_classes() {
  using enum EventClass;
  return {kHardware, kSoftware, kTool, kCache, kPmu, kVendor, kRaw, kBreakpoint, kTracepoint, kSdt};
}

/// What a word that is not a class searches: the descriptors of raw events and breakpoints are not
/// names.
std::vector<EventClass> named_classes() {
  using enum EventClass;
  return {kHardware, kSoftware, kTool, kCache, kPmu, kVendor, kTracepoint, kSdt};
}

/// A word with a colon is the full name of a tracepoint or SDT probe; one with a wildcard a full
/// name; any other part of a name.
Selection select(std::string_view word) {
  using enum Selection::Metrics;
  for (const ClassWord& known : class_words())
    if (known.word == word) return {.classes = known.classes};
  if (word == "metric" || word == "metrics") return {.classes = {}, .metrics = kAll};
  if (word == "metricgroup" || word == "metricgroups") return {.classes = {}, .metrics = kGroups};
  if (size_t at = word.find("@/"); is_usdt_name(word) && at != std::string_view::npos) {
    std::string_view name = word.substr(0, at);
    if (name.starts_with('%')) name.remove_prefix(1);
    if (name.starts_with("sdt_")) name.remove_prefix(4);
    return {.classes = {EventClass::kSdt},
            .pattern = fmt::format("sdt_{}", name),
            .object = std::string(word.substr(at + 1))};
  }
  if (word.find(':') != std::string_view::npos)
    return {{EventClass::kTracepoint, EventClass::kSdt}, std::string(word), false};
  bool is_glob = has_glob(word);
  return {.classes = named_classes(),
          .pattern = is_glob ? std::string(word) : fmt::format("*{}*", word),
          .without_system = !is_glob,
          .metrics = kAll};
}

bool matches(const CatalogEvent& event, const Selection& selection) {
  if (selection.pattern == "*") return true;
  std::string_view name = event.name;
  if (selection.without_system && event.kind == EventClass::kTracepoint)
    name.remove_prefix(name.find(':') + 1);
  if (glob_match(selection.pattern, name)) return true;
  // Vendors write theirs in capitals, most people don't.
  if (event.kind == EventClass::kVendor)
    return glob_match(lower_case_of(selection.pattern), lower_case_of(name));
  return !event.alias.empty() && glob_match(selection.pattern, event.alias);
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

class ListCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage(
        "[<options>] "
        "[hw|sw|cache|pmu|vendor|raw|tracepoint|sdt|pfm|metric|metricgroup|event_glob]");
    flags.description(
        R"(Lists the events that this machine can count and that -e accepts, by class. Arguments select: a class (hw, sw, tool, cache, pmu, vendor, raw, breakpoint, tracepoint, sdt, pfm, metric, metricgroup), a glob over names ('sched:*', '*fault*'), or part of a name (page). Vendor events are those of the processor vendor's JSON files in the directory that the setting events.directory names.)");
    flags.boolean('j', "json", json_, "write a list in JSON");
    flags.text('o', "output", output_, "file", "file to write; - is standard output (the default)");
    flags
        .act(0, "debug", "no effect: `record -vv` shows what an event becomes",
             [] { return Result<>(); })
        .without_effect("there is nothing to debug: `record -vv` shows what an event becomes");
    flags.boolean(0, "raw-dump", raw_dump_, "only the names of events, for completion").hidden();
    flags.boolean('d', "desc", describe_,
                  "say what events and metrics count, if known (default: only of metrics)");
    flags.boolean('v', "long-desc", long_,
                  "like -d, with the longer descriptions of vendor events");
    flags.boolean(0, "details", details_,
                  "show how PMU events are encoded: their terms, scales and units");
    flags.boolean(
        0, "deprecated", deprecated_,
        "also vendor events that are marked as deprecated; the kernel's own lists have none");
    flags.text(0, "unit", unit_, "PMU name", "only the events of this PMU");
    flags.text(0, "cputype", unit_, "hybrid cpu type",
               "only the events of this type of core, cpu_core or cpu_atom");
  }

  [[nodiscard]] bool paged() const override { return !json_ && !raw_dump_ && output_.empty(); }

  Result<int> run(Env& env, const Arguments& arguments) override {
    PmuCatalog pmus;
    VendorEvents vendor(env);
    Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
    std::vector<Selection> selections;
    for (const std::string& word : arguments.words) selections.push_back(select(word));
    if (selections.empty())
      selections.push_back({.classes = all_classes(), .metrics = Selection::Metrics::kGrouped});
    bool first = true;
    OutputFile output = TRY(OutputFile::open(output_, env));
    Sink& out = output.sink();
    if (json_) out.write("[\n");
    // A heading is for readers, not for pipes.
    bool headed = env.variable("PERF_PAGER_IN_USE").has_value() && !json_ && !raw_dump_;
    if (headed) out.write("\nEvents for -e, and metrics for -M:\n\n");
    for (const Selection& selection : selections) {
      for (EventClass kind : selection.classes)
        for (const CatalogEvent& event :
             TRY(kind == EventClass::kVendor
                     ? vendor_catalog(vendor, pmus,
                                      {long_, deprecated_, selection.classes.size() == 1})
                 : selection.object.empty() ? events_of(kind, env, pmus, tracefs)
                                            : usdt_of(selection.object, for_machines()))) {
          if (!matches(event, selection) || (!unit_.empty() && event.pmu != unit_)) continue;
          if (json_)
            print_json(out, event, first);
          else if (raw_dump_)
            print_name(out, event);
          else
            print(out, event);
          first = false;
        }
      if (unit_.empty()) first = metrics_of(selection, first, out);
      if (unit_.empty()) first = TRY(vendor_metrics_of(selection, vendor, first, out));
    }
    if (json_) out.write_lines(first ? "]\n" : "\n]\n");
    if (raw_dump_) out.put('\n');
    TRY(output.finish());
    return 0;
  }

 private:
  /// Returns whether still nothing has been printed; `first`: nothing was before.
  bool metrics_of(const Selection& selection, bool first, Sink& out) const {
    using enum Selection::Metrics;
    bool describe = describe_.value_or(true);
    if (selection.metrics == kNone) return first;
    if (json_) return list_metrics_as_json(out, selection.pattern, first);
    if (raw_dump_) return first;
    if (selection.metrics == kAll) list_metrics(out, selection.pattern, describe, details_);
    if (selection.metrics == kGroups) list_metric_groups(out);
    if (selection.metrics == kGrouped) list_grouped_metrics(out, describe, details_);
    return first;
  }

  /// The same for those of the vendor's files.
  Result<bool> vendor_metrics_of(const Selection& selection, VendorEvents& vendor, bool first,
                                 Sink& out) const {
    using enum Selection::Metrics;
    if (selection.metrics == kNone || (raw_dump_ && !json_)) return first;
    if (json_) return list_vendor_metrics_as_json(out, vendor, selection.pattern, first);
    if (selection.metrics == kGroups)
      TRY(list_vendor_metric_groups(out, vendor));
    else
      TRY(list_vendor_metrics(out, vendor, selection.pattern, describe_.value_or(true), details_));
    return first;
  }

  static std::vector<CatalogEvent> catalog_of(std::vector<PfmEvent> events) {
    std::vector<CatalogEvent> catalog;
    for (PfmEvent& event : events)
      catalog.push_back({.kind = EventClass::kPfm,
                         .name = std::move(event.name),
                         .pmu = std::string(event.pmu),
                         .description = event.description});
    return catalog;
  }

  [[nodiscard]] bool for_machines() const { return json_ || raw_dump_; }

  /// The USDT probes of a file, whether the build-id cache knows it or not. The file may call them
  /// anything: lists for machines leave out what no event is called.
  static Result<std::vector<CatalogEvent>> usdt_of(const std::string& object, bool for_machines) {
    ElfFile file = TRY(ElfFile::open(object));
    std::set<std::string> names;
    for (const SdtProbe& probe : find_sdt_probes(file, object, "*", "*"))
      if (probe.has_plain_name() || !for_machines) names.insert(printable_name(probe.event_name()));
    std::vector<CatalogEvent> catalog;
    for (const std::string& name : names)
      catalog.push_back({.kind = EventClass::kSdt, .name = name, .pmu = "sdt"});
    return catalog;
  }

  static std::vector<SdtCacheEntry> cached_probes(const Env& env) {
    std::vector<SdtCacheEntry> probes = read_sdt_cache(build_id_directory(env));
    std::erase_if(probes, [](const SdtCacheEntry& probe) { return !is_still_there(probe); });
    return probes;
  }

  static Result<std::vector<CatalogEvent>> events_of(EventClass kind, Env& env, PmuCatalog& pmus,
                                                     Tracefs& tracefs) {
    switch (kind) {
      case EventClass::kHardware:
        return hardware_catalog(env.sys);
      case EventClass::kSoftware:
        return software_catalog(env.sys);
      case EventClass::kTool:
        return tool_catalog();
      case EventClass::kCache:
        return cache_catalog(env.sys);
      case EventClass::kPmu:
        return pmu_catalog(pmus);
      case EventClass::kVendor:
        break;  // needs the options
      case EventClass::kRaw:
        return raw_catalog();
      case EventClass::kBreakpoint:
        return breakpoint_catalog();
      case EventClass::kTracepoint:
        return tracepoint_catalog(tracefs);
      case EventClass::kSdt:
        return sdt_catalog(cached_probes(env));
      case EventClass::kPfm:
        return catalog_of(TRY(pfm_catalog()));
    }
    return std::vector<CatalogEvent>{};
  }

  /// For --raw-dump: what -e accepts, separated by blanks. Shells evaluate it, so it has no other
  /// characters than names need.
  static void print_name(Sink& out, const CatalogEvent& event) {
    if (event.kind == EventClass::kRaw || event.kind == EventClass::kBreakpoint) return;
    std::string word;
    append_completion_word(word, std::string_view(event.name).substr(0, event.name.find('@')));
    out.write(word);
  }

  void print(Sink& out, const CatalogEvent& event) const {
    constexpr size_t kNameColumn = 50;
    std::string name = event.name;
    if (!event.alias.empty()) name += " OR " + event.alias;
    out.print("  {:<{}} [{}]\n", name, kNameColumn, class_name(event.kind));
    if (describe_.value_or(long_) && !event.description.empty())
      out.print("       [{}]\n", event.description);
    if (!details_ || event.encoding.empty()) return;
    out.print("        {}{}{}\n", event.encoding, event.scale_unit.empty() ? "" : "  scale ",
              event.scale_unit);
  }

  /// The field names and their order are those of newer perfs.
  static void print_json(Sink& out, const CatalogEvent& event, bool first) {
    std::vector<std::pair<std::string_view, std::string>> fields = {{"Unit", event.pmu},
                                                                    {"EventName", event.name}};
    if (!event.alias.empty()) fields.emplace_back("EventAlias", event.alias);
    if (!event.scale_unit.empty()) fields.emplace_back("ScaleUnit", event.scale_unit);
    fields.emplace_back("EventType", class_name(event.kind));
    if (!event.description.empty()) fields.emplace_back("BriefDescription", event.description);
    if (!event.encoding.empty()) fields.emplace_back("Encoding", event.encoding);
    out.write_lines(first ? "{\n" : ",\n{\n");
    for (size_t i = 0; i < fields.size(); ++i)
      out.print("\t\"{}\": {}{}\n", fields[i].first, json_text(fields[i].second),
                i + 1 < fields.size() ? "," : "");
    out.write("}");
  }

  bool json_ = false;
  std::optional<bool> describe_;  // unset: for metrics only
  bool long_ = false;
  bool details_ = false;
  bool raw_dump_ = false;
  bool deprecated_ = false;
  std::string output_, unit_;
};

}  // namespace

std::unique_ptr<Command> make_list() {
  return std::make_unique<ListCommand>();
}

}  // namespace sonde
