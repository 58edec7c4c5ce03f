// Events by class, as `list` shows them: what this machine can count, found by querying it.
//
//   for (const CatalogEvent& event : hardware_catalog(sys)) …   // "cpu-cycles", alias "cycles"
//
// Generic events are listed if the kernel opens them; those of PMUs, tracepoints and SDT probes if
// sysfs, tracefs and the build-id cache name them. Within a class they are sorted by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/sys.h"
#include "event/pmu/pmu.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {

enum class EventClass : uint8_t {
  kHardware,
  kSoftware,
  kTool,
  kCache,
  kPmu,
  kVendor,
  kRaw,
  kBreakpoint,
  kTracepoint,
  kSdt,
  kPfm,
};

/// "Software event", "Tracepoint event" …
[[nodiscard]] std::string_view class_name(EventClass kind);

struct CatalogEvent {
  EventClass kind;
  std::string name;                   // as -e accepts it
  std::string alias = {};             // a second name; may be empty
  std::string pmu = {};               // the PMU or class: "software", "msr", "tracepoint"
  std::string encoding = {};          // for PMU events: "msr/event=0x00/"
  std::string scale_unit = {};        // "2.3283064365386962e-10Joules"; may be empty
  std::string_view description = {};  // for generic events: what is counted
};

[[nodiscard]] std::vector<CatalogEvent> hardware_catalog(Sys& sys);
[[nodiscard]] std::vector<CatalogEvent> software_catalog(Sys& sys);
[[nodiscard]] std::vector<CatalogEvent> tool_catalog();
[[nodiscard]] std::vector<CatalogEvent> cache_catalog(Sys& sys);
[[nodiscard]] std::vector<CatalogEvent> pmu_catalog(PmuCatalog& pmus);
/// How events without a name are written: raw event descriptors, breakpoints.
[[nodiscard]] std::vector<CatalogEvent> raw_catalog();
[[nodiscard]] std::vector<CatalogEvent> breakpoint_catalog();
/// All of them; empty if tracefs cannot be read.
[[nodiscard]] std::vector<CatalogEvent> tracepoint_catalog(Tracefs& tracefs);

}  // namespace sonde
