// `list`: the events that -e takes on this machine.
#include <algorithm>
#include <functional>

#include "base/text.h"
#include "cmd/command.h"
#include "event/event_catalog.h"
#include "symbol/object_finder.h"

namespace sonde {
namespace {

/// A word of the command line: which classes it opens, or what names it looks for.
struct Selection {
  std::vector<EventClass> classes;
  std::string pattern = "*";    // a glob over names and aliases
  bool without_system = false;  // over what stands behind a tracepoint's system
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
      {"raw", {kRaw}},
      {"breakpoint", {kBreakpoint}},
      {"tracepoint", {kTracepoint}},
      {"sdt", {kSdt}},
  };
  return words;
}

std::vector<EventClass> all_classes() {
  using enum EventClass;
  return {kHardware, kSoftware, kTool, kCache, kPmu, kRaw, kBreakpoint, kTracepoint, kSdt};
}

/// What a word that is no class searches: the descriptors of raw events and breakpoints are no
/// names.
std::vector<EventClass> named_classes() {
  using enum EventClass;
  return {kHardware, kSoftware, kTool, kCache, kPmu, kTracepoint, kSdt};
}

/// A word with a colon is a tracepoint or SDT probe in full; one with a wildcard a name in full;
/// any other a part of a name.
Selection select(std::string_view word) {
  for (const ClassWord& known : class_words())
    if (known.word == word) return {.classes = known.classes};
  if (word.find(':') != std::string_view::npos)
    return {{EventClass::kTracepoint, EventClass::kSdt}, std::string(word), false};
  if (has_glob(word)) return {named_classes(), std::string(word), false};
  return {named_classes(), fmt::format("*{}*", word), true};
}

bool matches(const CatalogEvent& event, const Selection& selection) {
  if (selection.pattern == "*") return true;
  std::string_view name = event.name;
  if (selection.without_system && event.kind == EventClass::kTracepoint)
    name.remove_prefix(name.find(':') + 1);
  if (glob_match(selection.pattern, name)) return true;
  return !event.alias.empty() && glob_match(selection.pattern, event.alias);
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

class ListCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [hw|sw|cache|pmu|raw|tracepoint|sdt|event_glob]");
    flags.description(
        R"(Lists the events that this machine can count and that -e takes, by class. Words choose: a class (hw, sw, tool, cache, pmu, raw, breakpoint, tracepoint, sdt), a glob over names ('sched:*', '*fault*'), or a part of a name (page).)");
    flags.boolean('j', "json", json_, "JSON encode events");
    flags.boolean('d', "desc", describe_,
                  "Print what generic events count; the kernel describes no others. --no-desc to "
                  "not print.");
    flags.boolean('v', "long-desc", describe_, "The same: there are no longer descriptions.");
    flags.boolean(0, "details", details_,
                  "Print how the events of PMUs are encoded: their terms, scales and units.");
    flags.boolean(0, "deprecated", deprecated_,
                  "Print deprecated events too; the kernel's own lists have none.");
    flags.text(0, "unit", unit_, "PMU name", "Print the events of this PMU only");
    flags.text(0, "cputype", unit_, "hybrid cpu type",
               "Print the events of this type of core only (e.g. cpu_core or cpu_atom)");
  }

  [[nodiscard]] bool paged() const override { return !json_; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    PmuCatalog pmus;
    Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
    std::vector<Selection> selections;
    for (const std::string& word : arguments.words) selections.push_back(select(word));
    if (selections.empty()) selections.push_back({.classes = all_classes()});
    bool first = true;
    if (json_) env.out.write("[\n");
    for (const Selection& selection : selections)
      for (EventClass kind : selection.classes)
        for (const CatalogEvent& event : events_of(kind, env, pmus, tracefs)) {
          if (!matches(event, selection) || (!unit_.empty() && event.pmu != unit_)) continue;
          if (json_)
            print_json(env.out, event, first);
          else
            print(env.out, event);
          first = false;
        }
    if (json_) env.out.write(first ? "]\n" : "\n]\n");
    return 0;
  }

 private:
  static std::vector<CatalogEvent> events_of(EventClass kind, Env& env, PmuCatalog& pmus,
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
      case EventClass::kRaw:
        return raw_catalog();
      case EventClass::kBreakpoint:
        return breakpoint_catalog();
      case EventClass::kTracepoint:
        return tracepoint_catalog(tracefs);
      case EventClass::kSdt:
        return sdt_catalog(default_buildid_dir("", env.variable("PERF_BUILDID_DIR").value_or(""),
                                               env.variable("HOME").value_or("")));
    }
    return {};
  }

  void print(Sink& out, const CatalogEvent& event) const {
    constexpr size_t kNameColumn = 50;
    std::string name = event.name;
    if (!event.alias.empty()) name += " OR " + event.alias;
    out.print("  {:<{}} [{}]\n", name, kNameColumn, class_name(event.kind));
    if (describe_ && !event.description.empty()) out.print("       [{}]\n", event.description);
    if (!details_ || event.encoding.empty()) return;
    out.print("        {}{}{}\n", event.encoding, event.scale_unit.empty() ? "" : "  scale ",
              event.scale_unit);
  }

  /// The names of the fields, and their order, are those of newer perfs.
  static void print_json(Sink& out, const CatalogEvent& event, bool first) {
    std::vector<std::pair<std::string_view, std::string>> fields = {{"Unit", event.pmu},
                                                                    {"EventName", event.name}};
    if (!event.alias.empty()) fields.emplace_back("EventAlias", event.alias);
    if (!event.scale_unit.empty()) fields.emplace_back("ScaleUnit", event.scale_unit);
    fields.emplace_back("EventType", class_name(event.kind));
    if (!event.description.empty()) fields.emplace_back("BriefDescription", event.description);
    if (!event.encoding.empty()) fields.emplace_back("Encoding", event.encoding);
    out.write(first ? "{\n" : ",\n{\n");
    for (size_t i = 0; i < fields.size(); ++i)
      out.print("\t\"{}\": {}{}\n", fields[i].first, json_text(fields[i].second),
                i + 1 < fields.size() ? "," : "");
    out.write("}");
  }

  bool json_ = false;
  bool describe_ = false;
  bool details_ = false;
  bool deprecated_ = false;
  std::string unit_;
};

}  // namespace

std::unique_ptr<Command> make_list() {
  return std::make_unique<ListCommand>();
}

}  // namespace sonde
