// The trace units of a CoreSight recording: for each CPU the registers of its ETM, which say how
// its trace is encoded. From PERF_RECORD_AUXTRACE_INFO; what the words mean is in perf's
// tools/perf/util/cs-etm.h, the registers in Arm's IHI 0064 (ETMv4) and DDI 0487 (ETE).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace sonde::etm {

struct TraceUnit {
  enum class Kind : uint8_t { kEtm4, kEte } kind = Kind::kEtm4;
  uint32_t cpu = 0;
  uint32_t config = 0;             // TRCCONFIGR
  uint8_t trace_id = 0;            // of its bytes in a formatted trace
  uint32_t id[3] = {};             // TRCIDR0 to 2
  uint32_t id8 = 0;                // TRCIDR8
  uint32_t architecture = 0;       // TRCDEVARCH; of an ETE
  bool has_virtual_times = false;  // its timestamps are those of the system counter
};

/// The traces of several units are mixed in frames of 16 bytes; some machines write each unit's
/// trace to a buffer of its own.
enum class Format : uint8_t { kFrames, kRaw };

struct TraceUnits {
  uint32_t pmu_type = 0;
  bool is_snapshot = false;
  std::vector<TraceUnit> units;
};

/// `words` is what follows the record's type. kUnsupported for ETMv3 and PTM; kCorrupt if words are
/// missing.
[[nodiscard]] Result<TraceUnits> parse_trace_units(std::span<const uint64_t> words);

}  // namespace sonde::etm
