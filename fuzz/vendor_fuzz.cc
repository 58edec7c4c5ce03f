// Vendors' files: JSON of events and metrics, formulas, and the map of processors.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/counts/formula.h"
#include "base/check.h"
#include "event/vendor/vendor_files.h"
#include "event/vendor/vendor_tables.h"
#include "fuzz/fuzz_target.h"

using namespace sonde;

namespace {

void evaluate_vendor_formula(std::string_view text) {
  Result<Formula> formula = Formula::parse(text);
  if (!formula) return;
  std::vector<double> values(formula->names().size(), 2.0);
  static_cast<void>(formula->value(values));
}

}  // namespace

FUZZ_TARGET(vendor)(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  CpuIdentity cpu = parse_cpu_identity(text);
  cpu.model = "GenuineIntel-6-55";
  if (Result<std::vector<VendorFile>> files = mapped_files(text, "d", cpu))
    for (const VendorFile& file : *files) CHECK(file.path.starts_with("d/"));
  evaluate_vendor_formula(text);
  Result<JsonValue> root = JsonValue::parse(text, "f.json");
  if (!root) return 0;
  static_cast<void>(is_about_part(*root, "0x41", "0xd40"));
  VendorTables tables;
  if (Result<> added = add_vendor_json(*root, "f.json", {}, tables); !added)
    CHECK(added.error().message.starts_with("f.json: "));
  for (const VendorEvent& event : tables.events) {
    CHECK(event.alias.name.find_first_of(",:/{} ") == std::string::npos);
    CHECK(event.alias.terms.starts_with("event="));
    CHECK(event.brief.find_first_of("\n\x1b") == std::string::npos);
  }
  for (const VendorMetric& metric : tables.metrics) evaluate_vendor_formula(metric.formula);
  return 0;
}
