#include "event/parser/event_pmu_terms.h"

#include <algorithm>

#include "base/text.h"
#include "event/parser/event_terms.h"
#include "event/pmu/event_name.h"
#include "event/pmu/trace_pmu.h"
#include "event/vendor/vendor_events.h"

namespace sonde {
namespace {

class PmuTerms {
 public:
  PmuTerms(const EventSyntax& syntax, const Pmu& pmu, const EventSources& sources,
           const EventErrors& errors, ParsedEvent& event)
      : syntax_(syntax), pmu_(pmu), sources_(sources), errors_(errors), event_(event) {}

  Result<> run() {
    set_pmu();
    // The user's terms take precedence over those of the predefined event, whatever their order.
    for (const TermSyntax& term : syntax_.terms)
      if (const PmuAlias* alias = alias_of(term)) TRY(apply_alias(*alias, term.name));
    for (const TermSyntax& term : syntax_.terms)
      if (const VendorEvent* vendor = TRY(vendor_event_of(term)))
        TRY(apply_vendor(*vendor, term.name));
    for (const TermSyntax& term : syntax_.terms)
      if (alias_of(term) == nullptr && TRY(vendor_event_of(term)) == nullptr)
        TRY(apply(term, term.name));
    return {};
  }

  Result<> run(const VendorEvent& vendor) {
    set_pmu();
    return apply_vendor(vendor, syntax_.head);
  }

 private:
  void set_pmu() {
    event_.attr.type = pmu_.type();
    event_.pmu = pmu_.name();
    if (auto config = default_trace_config(pmu_)) event_.attr.config = *config;
    event_.cpus = pmu_.cpus();
    event_.filters_addresses = pmu_.filters_addresses();
  }

  Result<> apply_vendor(const VendorEvent& vendor, std::string_view place) {
    if (!vendor.problem.empty())
      return errors_.fail(place, "the vendor's file does not say how to count this event",
                          vendor.problem);
    TRY(apply_alias(vendor.alias, place));
    // Like the kernel's own defaults, it gives way to -F and -c.
    if (!sources_.counting) event_.attr.sample_period = vendor.period;
    return {};
  }

  /// The vendor's event, if the term is nothing else.
  Result<const VendorEvent*> vendor_event_of(const TermSyntax& term) const {
    if (sources_.vendor == nullptr || term.value || alias_of(term) != nullptr) return nullptr;
    bool known = common_term_exists(term.name) || pmu_.format(term.name) != nullptr ||
                 raw_config(term.name) || find_generic_event(term.name) ||
                 parse_cache_event(term.name);
    if (known || !sources_.vendor->is_configured()) return nullptr;
    Result<std::vector<const VendorEvent*>> found = sources_.vendor->find(term.name);
    if (!found) return errors_.fail(term.name, "unknown term", found.error().message);
    for (const VendorEvent* event : *found)
      if (may_count(*event)) return event;
    return nullptr;
  }

  [[nodiscard]] bool may_count(const VendorEvent& event) const {
    std::vector<const Pmu*> pmus = vendor_pmus(event, sources_.pmus);
    return std::ranges::find(pmus, &pmu_) != pmus.end();
  }

  [[nodiscard]] const PmuAlias* alias_of(const TermSyntax& term) const {
    return term.value && *term.value != "1" ? nullptr : pmu_.alias(term.name);
  }

  Result<> apply_alias(const PmuAlias& alias, std::string_view place) {
    for (TermSyntax term : TRY(parse_term_list(alias.terms, errors_))) {
      // "chip=?": the user's own term of that name fills it in.
      if (term.value == "?") {
        auto given = std::ranges::find(syntax_.terms, term.name, &TermSyntax::name);
        if (given == syntax_.terms.end())
          return errors_.fail(place,
                              fmt::format("Required parameter '{}' not specified", term.name));
        continue;
      }
      TRY(apply(term, place));
    }
    if (!alias.unit.empty()) event_.unit = alias.unit;
    event_.scale = alias.scale;
    event_.per_package = alias.per_package;
    event_.snapshot = alias.snapshot;
    return {};
  }

  Result<> apply(const TermSyntax& term, std::string_view place) {
    if (TRY(apply_common_term(term, place, sources_.counting, errors_, event_))) return {};
    if (const PmuFormat* format = pmu_.format(term.name)) return apply_format(*format, term, place);
    if (!term.value && (apply_raw(term.name) || apply_generic(term.name))) return {};
    std::string valid = "valid terms: ";
    for (const PmuFormat& format : pmu_.formats()) valid += format.name + ',';
    return errors_.fail(place,
                        fmt::format("unknown term '{}' for pmu '{}'", term.name, pmu_.name()),
                        valid + common_term_names(sources_.counting));
  }

  Result<> apply_format(const PmuFormat& format, const TermSyntax& term, std::string_view place) {
    uint64_t value = 1;
    std::string_view value_place = place;
    if (term.value) {
      value_place = *term.value;
      std::optional<uint64_t> number = parse_number(*term.value);
      if (!number) return errors_.fail(value_place, "expected numeric value");
      value = *number;
    }
    if (value > format.max_value())
      return errors_.fail(
          value_place, fmt::format("value too big for format, maximum is {}", format.max_value()));
    uint64_t bits = format.spread(value);
    uint64_t kept = ~format.mask();
    switch (format.word) {
      case 0:
        event_.attr.config = (event_.attr.config & kept) | bits;
        break;
      case 1:
        event_.attr.bp_addr = (event_.attr.bp_addr & kept) | bits;
        break;
      case 2:
        event_.attr.bp_len = (event_.attr.bp_len & kept) | bits;
        break;
      default:
        event_.attr.config3 = (event_.attr.config3 & kept) | bits;
        break;
    }
    return {};
  }

  /// "cpu/r1a8/"
  bool apply_raw(std::string_view name) {
    std::optional<uint64_t> config = raw_config(name);
    if (config) event_.attr.config = *config;
    return config.has_value();
  }

  static std::optional<uint64_t> raw_config(std::string_view name) {
    if (!name.starts_with('r') || name.size() > 17 || name.substr(1).starts_with("0x"))
      return std::nullopt;
    return parse_hex(name.substr(1));
  }

  /// "cpu/cycles/", "software/cs/": generic events of the PMU that counts them.
  bool apply_generic(std::string_view name) {
    std::optional<GenericEvent> generic = find_generic_event(name);
    if (generic && generic->type == abi::kTypeSoftware) {
      if (pmu_.type() != abi::kTypeSoftware) return false;
      event_.attr.config = generic->config;
      return true;
    }
    std::vector<const Pmu*> cores = sources_.pmus.core();
    if (std::ranges::find(cores, &pmu_) == cores.end()) return false;
    std::optional<uint64_t> cache = generic ? std::nullopt : parse_cache_event(name);
    if (!generic && !cache) return false;
    event_.attr.type = generic ? abi::kTypeHardware : abi::kTypeHwCache;
    event_.attr.config = generic ? generic->config : *cache;
    // If several kinds of cores share the generic events, the upper half selects one.
    if (cores.size() > 1) event_.attr.config |= uint64_t{pmu_.type()} << 32;
    return true;
  }

  const EventSyntax& syntax_;
  const Pmu& pmu_;
  const EventSources& sources_;
  const EventErrors& errors_;
  ParsedEvent& event_;
};

}  // namespace

Result<> apply_pmu_terms(const EventSyntax& syntax, const Pmu& pmu, const EventSources& sources,
                         const EventErrors& errors, ParsedEvent& event) {
  return PmuTerms(syntax, pmu, sources, errors, event).run();
}

Result<> apply_vendor_event(const EventSyntax& syntax, const VendorEvent& vendor, const Pmu& pmu,
                            const EventSources& sources, const EventErrors& errors,
                            ParsedEvent& event) {
  return PmuTerms(syntax, pmu, sources, errors, event).run(vendor);
}

}  // namespace sonde
