// Zooming: what a browser filters out of its tables, step by step, expressed as options of
// `report`: each zoomed table is the one that --stdio shows with those options.
//
//   all › dso libc.so.6 › tid 4711 › cpu 0-1
#pragma once

#include <string>
#include <vector>

#include "report/options.h"

namespace sonde::report {

struct ZoomStep {
  enum class Kind : uint8_t { kDso, kComm, kPid, kTid, kSymbol, kCpu, kTime, kSocket };
  Kind kind = Kind::kDso;
  std::string value;  // as the option accepts it
  bool operator==(const ZoomStep&) const = default;
};

/// "dso libc.so.6".
[[nodiscard]] std::string zoom_text(const ZoomStep& step);
/// Narrows the options. Fails if the value is invalid (for CPUs and sockets; times are parsed with
/// the table).
Result<> apply_zoom(const ZoomStep& step, ReportOptions& options);

}  // namespace sonde::report
