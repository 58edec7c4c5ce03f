// PMUs that write instruction traces to AUX areas: what they are set up with unless the user says
// otherwise, and which settings the processor accepts. From perf-intel-pt(1), "config terms".
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "event/pmu/pmu.h"

namespace sonde {

inline constexpr std::string_view kIntelPtPmu = "intel_pt", kIntelBtsPmu = "intel_bts",
                                  kCoreSightPmu = "cs_etm";
/// SPE has a PMU for each kind of core: arm_spe_0 …
inline constexpr std::string_view kArmSpePmus = "arm_spe_";

/// The config of an event without terms: with times (tsc, and mtc where the processor has it) and
/// branches. Nothing for PMUs other than intel_pt.
[[nodiscard]] std::optional<uint64_t> default_trace_config(const Pmu& pmu);

/// Error: a value of psb_period, mtc_period or cyc_thresh that caps/ does not list.
Result<> check_trace_config(const Pmu& pmu, uint64_t config);

}  // namespace sonde
