#include "event/vendor/vendor_tables.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"

namespace sonde {
namespace {

/// Descriptions are shown on terminals: no control characters, no broken characters, one line.
std::string printable(std::string_view text) {
  std::string line = to_utf8(text);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return std::string(trim(line));
}

std::string text_of(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  if (value == nullptr) return {};
  if (value->is_number()) return fmt::format("{}", value->number());
  if (value->is_bool()) return value->boolean() ? "1" : "0";
  return printable(value->text());
}

bool is_set(const JsonValue& object, std::string_view name) {
  std::string text = text_of(object, name);
  return !text.empty() && text != "0" && text != "0x00";
}

/// What `-e` can contain without being taken for modifiers, terms or separators.
bool is_usable_name(std::string_view name) {
  constexpr size_t kLongestName = 200;
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
    char lower = to_ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || is_ascii_digit(c) || c == '_' || c == '.' || c == '-';
  });
}

/// "OFFCORE_RESPONSE:request=DEMAND_RFO:response=L3_MISS" of old lists would be taken for
/// modifiers: "OFFCORE_RESPONSE.DEMAND_RFO.L3_MISS".
std::string usable_name(std::string name) {
  for (std::string_view separator : {":request=", ":response="})
    if (size_t at = name.find(separator); at != std::string::npos)
      name.replace(at, separator.size(), ".");
  return name;
}

/// The numbers and terms of one event of perfmon.
class PerfmonEvent {
 public:
  PerfmonEvent(const JsonValue& object, VendorEvent& event) : object_(object), event_(event) {}

  void run() {
    bool uncore = event_.pmu.starts_with("uncore_");
    uint64_t code = number("EventCode") | number("ExtSel") << 8;
    uint64_t mask = (number("UMask") & 0xff) | number("UMaskExt") << 8;
    if (number("UMask") > 0xff) mask |= number("UMask");
    if (!uncore) select_fixed(code, mask);
    event_.alias.terms = fmt::format("event={:#x}", code);
    add("umask", mask);
    add("cmask", number("CounterMask"));
    add("inv", number("Invert"));
    add("edge", number("EdgeDetect"));
    add("any", number("AnyThread"));
    if (uncore) {
      add("ch_mask", number("PortMask"));
      add("fc_mask", number("FCMask"));
    }
    add_msr(number("MSRIndex"), number("MSRValue"));
    event_.period = number("SampleAfterValue");
  }

 private:
  /// Fixed counters have codes of their own in the lists. The kernel takes the numbers of the
  /// architectural events that they count (Intel SDM volume 3, "Fixed-function performance
  /// counters"); only the reference cycles, the slots and the precise variant of the first have
  /// pseudo-codes.
  void select_fixed(uint64_t& code, uint64_t& mask) const {
    if (code != 0) return;
    if (mask == 1 && lower_case_of(event_.alias.name) == "inst_retired.any") {
      code = 0xc0;
      mask = 0;
    } else if (mask == 2) {
      code = 0x3c;
      mask = 0;
    }
  }

  void add_msr(uint64_t index, uint64_t value) {
    constexpr uint64_t kOffcore0 = 0x1a6, kOffcore1 = 0x1a7, kLatency = 0x3f6, kFrontend = 0x3f7;
    if (index == 0) return;
    if (index == kOffcore0 || index == kOffcore1)
      add("offcore_rsp", value);
    else if (index == kLatency)
      add("ldlat", value);
    else if (index == kFrontend)
      add("frontend", value);
    else if (event_.problem.empty())
      event_.problem = fmt::format("it needs MSR {:#x}, which no PMU has a term for", index);
  }

  void add(std::string_view term, uint64_t value) {
    if (value != 0) event_.alias.terms += fmt::format(",{}={:#x}", term, value);
  }

  /// The first of the numbers; 0 if there is none.
  uint64_t number(std::string_view name) {
    std::string text = text_of(object_, name);
    std::string_view first = trim(std::string_view(text).substr(0, text.find(',')));
    if (first.empty()) return 0;
    std::string lower = lower_case_of(first);
    std::optional<uint64_t> value = parse_number(lower);
    if (!value && event_.problem.empty())
      event_.problem = fmt::format("its {} is '{}', not a number", name, first);
    return value.value_or(0);
  }

  const JsonValue& object_;
  VendorEvent& event_;
};

void add_perfmon_event(const JsonValue& object, const VendorFileScope& scope,
                       VendorTables& tables) {
  VendorEvent event;
  event.alias.name = usable_name(text_of(object, "EventName"));
  if (!is_usable_name(event.alias.name)) return;
  std::string unit = text_of(object, "Unit");
  event.pmu = unit.empty() ? scope.pmu : pmu_of_unit(unit);
  event.brief = text_of(object, "BriefDescription");
  event.detailed = text_of(object, "PublicDescription");
  if (event.detailed == event.brief) event.detailed.clear();
  event.deprecated = is_set(object, "Deprecated");
  event.alias.per_package = is_set(object, "PerPkg");
  PerfmonEvent(object, event).run();
  // PEBS 2: the event counts right only in a precise sample.
  if (text_of(object, "PEBS") == "2")
    for (std::string* text : {&event.brief, &event.detailed})
      if (!text->empty()) *text += " (must be precise: append :pp to sample it)";
  tables.events.push_back(std::move(event));
}

std::vector<VendorMetric::Name> names_of(const JsonValue& object, std::string_view member) {
  std::vector<VendorMetric::Name> names;
  const JsonValue* list = object.find(member);
  if (list == nullptr) return names;
  for (const JsonValue& entry : list->array())
    names.push_back({.alias = text_of(entry, "Alias"), .event = text_of(entry, "Name")});
  return names;
}

void add_perfmon_metric(const JsonValue& object, VendorTables& tables) {
  VendorMetric metric;
  metric.name = text_of(object, "MetricName");
  metric.formula = text_of(object, "Formula");
  if (!is_usable_name(metric.name) || metric.formula.empty()) return;
  metric.unit = text_of(object, "UnitOfMeasure");
  metric.brief = text_of(object, "BriefDescription");
  metric.events = names_of(object, "Events");
  metric.constants = names_of(object, "Constants");
  std::string groups = text_of(object, "MetricGroup");
  std::ranges::replace(groups, ',', ';');
  for (std::string_view group : split(groups, ';'))
    if (is_usable_name(trim(group))) metric.groups.emplace_back(trim(group));
  // The methodology's metrics are best known by the names that perf gives them.
  if (text_of(object, "Category") == "TMA" && !lower_case_of(metric.name).starts_with("tma_"))
    metric.name = "tma_" + lower_case_of(metric.name);
  tables.metrics.push_back(std::move(metric));
}

void add_arm_event(const std::string& name, const JsonValue& object, const VendorFileScope& scope,
                   VendorTables& tables) {
  VendorEvent event;
  event.alias.name = name;
  event.pmu = scope.pmu;
  event.brief = text_of(object, "title");
  event.detailed = text_of(object, "description");
  std::string code = lower_case_of(text_of(object, "code"));
  std::optional<uint64_t> number = parse_number(code);
  if (!number) event.problem = fmt::format("its code is '{}', not a number", code);
  event.alias.terms = fmt::format("event={:#x}", number.value_or(0));
  tables.events.push_back(std::move(event));
}

void add_arm_metric(const std::string& name, const JsonValue& object, VendorTables& tables) {
  VendorMetric metric;
  metric.name = name;
  metric.formula = text_of(object, "formula");
  if (metric.formula.empty()) return;
  metric.unit = text_of(object, "units");
  metric.brief = text_of(object, "title");
  tables.metrics.push_back(std::move(metric));
}

/// "groups" has kinds of groups, those the groups by name, and those their members.
void add_arm_groups(const JsonValue& kinds, size_t first, VendorTables& tables) {
  for (const auto& [kind, groups] : kinds.object())
    for (const auto& [name, group] : groups.object()) {
      const JsonValue* members = group.find("metrics");
      if (members == nullptr || !is_usable_name(name)) continue;
      for (const JsonValue& member : members->array())
        for (size_t i = first; i < tables.metrics.size(); ++i)
          if (tables.metrics[i].name == member.text()) tables.metrics[i].groups.push_back(name);
    }
}

void add_arm(const JsonValue& root, const VendorFileScope& scope, VendorTables& tables) {
  size_t first = tables.metrics.size();
  if (const JsonValue* events = root.find("events"))
    for (const auto& [name, object] : events->object())
      if (is_usable_name(name)) add_arm_event(name, object, scope, tables);
  if (const JsonValue* metrics = root.find("metrics"))
    for (const auto& [name, object] : metrics->object())
      if (is_usable_name(name)) add_arm_metric(name, object, tables);
  if (const JsonValue* groups = root.find("groups")) add_arm_groups(*groups, first, tables);
}

bool has_object(const JsonValue& root, std::string_view name) {
  const JsonValue* value = root.find(name);
  return value != nullptr && value->is_object();
}

/// "0x41" and 65 are the same number.
bool same_number(std::string_view a, std::string_view b) {
  std::optional<uint64_t> left = parse_number(lower_case_of(a));
  return left && left == parse_number(lower_case_of(b));
}

}  // namespace

Result<> add_vendor_json(const JsonValue& root, const std::string& file,
                         const VendorFileScope& scope, VendorTables& tables) {
  const JsonValue* events = root.is_array() ? &root : root.find("Events");
  const JsonValue* metrics = root.is_array() ? &root : root.find("Metrics");
  bool perfmon =
      (events != nullptr && events->is_array()) || (metrics != nullptr && metrics->is_array());
  if (perfmon) {
    // A bare array may be of either kind; entries without a name are ignored.
    if (events != nullptr)
      for (const JsonValue& object : events->array()) add_perfmon_event(object, scope, tables);
    if (metrics != nullptr)
      for (const JsonValue& object : metrics->array()) add_perfmon_metric(object, tables);
    return {};
  }
  if (has_object(root, "events") || has_object(root, "metrics")) {
    add_arm(root, scope, tables);
    return {};
  }
  return fail(ErrorCode::kCorrupt,
              "{}: neither Intel's nor Arm's JSON of events; remove it from events.directory",
              file);
}

bool is_about_part(const JsonValue& root, std::string_view implementer, std::string_view part) {
  const JsonValue* product = root.find("product_configuration");
  if (product == nullptr) return true;
  std::string number = text_of(*product, "part_num");
  if (number.empty()) return true;
  std::string maker = text_of(*product, "implementer");
  return same_number(number, part) && (maker.empty() || same_number(maker, implementer));
}

std::string pmu_of_unit(std::string_view unit) {
  struct Unit {
    std::string_view unit, pmu;
  };
  // Where the driver's name is not the unit's (arch/x86/events/intel/uncore*.c).
  constexpr Unit kUnits[] = {{"cbo", "uncore_cbox"},
                             {"sbo", "uncore_sbox"},
                             {"qpi ll", "uncore_qpi"},
                             {"upi ll", "uncore_upi"},
                             {"r3qpi", "uncore_r3qpi"},
                             {"imph-u", "uncore_arb"},
                             {"ncu", "uncore_clock"},
                             {"core", ""},
                             {"cpu", ""}};
  std::string name = lower_case_of(unit);
  const auto* known = std::ranges::find(kUnits, std::string_view(name), &Unit::unit);
  if (known != std::end(kUnits)) return std::string(known->pmu);
  if (name.starts_with("cpu_") || name.starts_with("uncore_")) return name;
  std::ranges::replace(name, ' ', '_');
  return "uncore_" + name;
}

std::string lower_case_of(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_ascii_lower(c);
  return lower;
}

}  // namespace sonde
