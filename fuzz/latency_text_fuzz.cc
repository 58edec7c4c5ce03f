// Arbitrary text of times and latencies: each point is in a cell or counted as outside.
#include <cstddef>
#include <cstdint>

#include "analysis/latencies/latency_text.h"
#include "base/check.h"
#include "export/pictures/heat_map_grid.h"
#include "fuzz/fuzz_target.h"

FUZZ_TARGET(latency_text)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<LatencyText> read = read_latency_text(text, "fuzz");
  if (!read) return 0;
  std::vector<HeatPoint> points;
  for (const LatencyText::Line& line : read->lines) points.push_back({line.time, line.latency});
  for (HeatScale scale : {HeatScale::kLinear, HeatScale::kLog, HeatScale::kAuto}) {
    Result<view::HeatMap> map = make_heat_map(points, {.scale = scale});
    if (!map) continue;
    uint64_t counted = 0;
    for (uint32_t count : map->counts) counted += count;
    CHECK(counted == map->inside);
    CHECK(map->inside + map->below + map->above + map->beyond == points.size());
  }
  return 0;
}
