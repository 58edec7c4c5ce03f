// The vendor's events as `list` shows them.
#pragma once

#include <vector>

#include "base/error.h"
#include "event/pmu/event_catalog.h"
#include "event/pmu/pmu.h"
#include "event/vendor/vendor_events.h"

namespace sonde {

struct VendorCatalogOptions {
  bool detailed = false;    // the longer descriptions
  bool deprecated = false;  // deprecated events too
  bool required = false;    // no directory, or nothing about this processor, is an error
};

/// Sorted by name, without those that cannot be used. Descriptions refer to `vendor`. Empty if no
/// directory is set. Errors as for VendorEvents::tables.
Result<std::vector<CatalogEvent>> vendor_catalog(VendorEvents& vendor, PmuCatalog& pmus,
                                                 const VendorCatalogOptions& options);

}  // namespace sonde
