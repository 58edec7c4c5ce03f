#include "event/vendor/vendor_catalog.h"

#include <algorithm>

namespace sonde {

Result<std::vector<CatalogEvent>> vendor_catalog(VendorEvents& vendor, PmuCatalog& pmus,
                                                 const VendorCatalogOptions& options) {
  std::vector<CatalogEvent> found;
  if (options.required && !vendor.is_configured())
    return fail(ErrorCode::kNotFound,
                "vendor: no files of the processor's vendor; name their directory with `config "
                "events.directory=DIRECTORY`");
  Result<const VendorTables*> tables = vendor.tables();
  // One configuration may serve several machines.
  if (!tables && tables.error().code == ErrorCode::kNotFound && !options.required) return found;
  const std::vector<const Pmu*> core = pmus.core();
  for (const VendorEvent& event : TRY(std::move(tables))->events) {
    if (!event.problem.empty() || (event.deprecated && !options.deprecated)) continue;
    std::string pmu = event.pmu;
    if (pmu.empty()) pmu = core.empty() ? "cpu" : core.front()->name();
    bool longer = options.detailed && !event.detailed.empty();
    found.push_back({.kind = EventClass::kVendor,
                     .name = event.alias.name,
                     .pmu = pmu,
                     .encoding = fmt::format("{}/{}/", pmu, event.alias.terms),
                     .description = longer ? event.detailed : event.brief});
  }
  std::ranges::stable_sort(found, {}, &CatalogEvent::name);
  return found;
}

}  // namespace sonde
