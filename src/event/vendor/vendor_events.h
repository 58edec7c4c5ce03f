// VendorEvents: the events and metrics of this processor, from a directory of JSON files that its
// vendor publishes (the setting events.directory). Sonde contains none of them.
//
//   VendorEvents vendor(env);
//   for (const VendorEvent* event : TRY(vendor.find("MEM_LOAD_RETIRED.L3_MISS"))) …
//
// mapfile.csv in the directory says which files are about which processors, as in Intel's perfmon:
// a regular expression for vendor-family-model[-stepping] (family decimal, model and stepping
// hexadecimal), a version, a path below the directory, what the file contains, and for processors
// with several kinds of cores, which of them. Without it all *.json files of the directory apply,
// except Arm's specifications of other parts.
//
// Nothing is read before a name is looked up that nothing else knows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/error.h"
#include "event/vendor/vendor_tables.h"

namespace sonde {

class VendorEvents {
 public:
  explicit VendorEvents(const Env& env);
  /// `directory`: may be empty, then there are no events. `cpuinfo`: of the machine, as a file.
  explicit VendorEvents(std::string directory, std::string cpuinfo = "/proc/cpuinfo")
      : directory_(std::move(directory)), cpuinfo_(std::move(cpuinfo)) {}

  /// The events of that name, whatever its case: one for each PMU that has it. Errors as for
  /// `tables`.
  Result<std::vector<const VendorEvent*>> find(std::string_view name);
  /// Everything about this processor. Errors: kNotFound if the directory is missing or has nothing
  /// about it, kCorrupt and kIo for files that cannot be read; one line that names the file.
  Result<const VendorTables*> tables();
  /// Whether a directory is set.
  [[nodiscard]] bool is_configured() const { return !directory_.empty(); }

 private:
  std::string directory_, cpuinfo_;
  std::optional<Result<VendorTables>> tables_;
  std::multimap<std::string, size_t, std::less<>> by_name_;  // in lower case
};

/// The PMUs that count an event: those of the cores, or the units of an uncore PMU. Empty if this
/// machine has none.
[[nodiscard]] std::vector<const Pmu*> vendor_pmus(const VendorEvent& event, PmuCatalog& pmus);

}  // namespace sonde
