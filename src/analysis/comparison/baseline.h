// Baselines: runs measured once and kept as JSON (`stat --save F`), to compare later runs of a
// command with (`stat --compare F`).
//
//   {"sonde_baseline":1,"tool":"0.1.0","host":"ci-7","machine":"x86_64","processor":"…","cpus":2,
//    "kernel":"6.18.1","command":["make","-s"],"inherit":true,"runs":20,"pace_ns":[…],
//    "metrics":[{"name":"task-clock","unit":"msec","status":"counted","fraction":true,
//                "pace":true,"values":[…]}, …]}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/counts/measured_runs.h"
#include "base/error.h"

namespace sonde {

struct Baseline {
  std::string tool;     // Sonde's version
  std::string host;     // the machine's name
  std::string machine;  // its architecture
  std::string processor, kernel;
  uint32_t cpus = 0;
  bool inherit = true;  // children are counted too
  MeasuredRuns runs;
  bool operator==(const Baseline&) const = default;
};

/// Whether a file that begins like this claims to be a baseline.
[[nodiscard]] bool looks_like_baseline(std::string_view beginning);
[[nodiscard]] std::string baseline_text(const Baseline& baseline);
/// Errors (kCorrupt; kUnsupported for a file of a later version) begin with `name`.
Result<Baseline> parse_baseline(std::string_view text, const std::string& name);

/// Notes on how the machine of the baseline differs from `now`. Fails if its numbers mean nothing
/// here.
Result<std::vector<std::string>> compare_origins(const Baseline& baseline, const Baseline& now,
                                                 const std::string& name);

}  // namespace sonde
