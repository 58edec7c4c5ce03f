// Events and metrics as processor vendors publish them: what their JSON says, in terms of a PMU's
// format files.
//
// Two formats are read. Intel's perfmon lists are arrays of objects, or such an array as member
// "Events" or "Metrics"; numbers are texts ("0xD1"), and where several counters or MSRs could be
// used they are separated by commas. Arm's telemetry specifications are one object with members
// "events", "metrics" and "groups", keyed by name. Both are untrusted: what is malformed in one
// event makes only that event unusable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_value.h"
#include "event/pmu/pmu.h"

namespace sonde {

struct VendorEvent {
  PmuAlias alias;        // its name as published, and its terms: "event=0xd1,umask=0x20"
  std::string pmu;       // "uncore_cha", "cpu_atom"; empty: the PMU of the cores
  uint64_t period = 0;   // that the vendor proposes for sampling; 0: none
  std::string problem;   // why it cannot be used; empty if it can
  std::string brief;     // description
  std::string detailed;  // longer description; may be empty
  bool deprecated = false;
};

struct VendorMetric {
  struct Name {
    std::string alias;  // in the formula
    std::string event;  // "INST_RETIRED.ANY"; for constants their name
  };
  std::string name;
  std::string unit;
  std::string formula;
  std::vector<Name> events;  // empty: the formula contains the events' names
  std::vector<Name> constants;
  std::vector<std::string> groups;
  std::string brief;
};

struct VendorTables {
  std::vector<VendorEvent> events;
  std::vector<VendorMetric> metrics;
};

/// Which cores a file is about, on processors with several kinds of them; empty: all.
struct VendorFileScope {
  std::string pmu;
};

/// Adds what the file contains. Error kCorrupt if it is neither of the formats; the message names
/// `file`.
Result<> add_vendor_json(const JsonValue& root, const std::string& file,
                         const VendorFileScope& scope, VendorTables& tables);

/// Whether an Arm specification is about the processor part `part` ("0xd40") of `implementer`.
/// Files that don't say are about any.
[[nodiscard]] bool is_about_part(const JsonValue& root, std::string_view implementer,
                                 std::string_view part);

/// The PMU, without the number of a unit, that perfmon's "Unit" means: "CHA" → "uncore_cha".
[[nodiscard]] std::string pmu_of_unit(std::string_view unit);

[[nodiscard]] std::string lower_case_of(std::string_view text);

}  // namespace sonde
