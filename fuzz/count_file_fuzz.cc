// Arbitrary bytes as a file of `stat record`, read as by `stat report`: counts of any round are
// summed for the machine and per CPU. No crash, no write outside the counters that the maps
// declared.
#include "analysis/counts/count_file.h"

#include "analysis/counts/count_series.h"
#include "base/check.h"
#include "fuzz/fuzz_target.h"

namespace {

using namespace sonde;

CountSeries series_of(const CountFile& file, view::CountGrouping grouping) {
  CountUnits units(grouping, file.cpus(), file.threads(), CpuLocations());
  CountUnits cores(view::CountGrouping::kCore, file.cpus(), file.threads(), CpuLocations());
  return {file.events(), units, cores, CpuLocations(), CountSettings{.scale = file.config().scale}};
}

}  // namespace

FUZZ_TARGET(count_file)(const uint8_t* data, size_t size) {
  // The sums per round are as large as the maps declare: a few rounds are enough.
  constexpr size_t kRounds = 8, kMaxCpuCount = 256;
  LossLedger losses;
  Bytes input(reinterpret_cast<const std::byte*>(data), size);
  auto recording = Recording::open_bytes(input, "fuzz", losses);
  if (!recording) return 0;
  CountFile file(*recording, losses);
  CountDeltas deltas;
  size_t rounds = 0;
  file.read([&](const CountFile::Round& round) {
    CHECK(file.readings().size() == file.events().size());
    for (const EventReadings& readings : file.readings())
      CHECK(readings.values.size() == readings.cpus.size() * file.threads().size());
    if (++rounds > kRounds || file.cpus().size() > kMaxCpuCount) return;
    std::vector<EventReadings> added = deltas.take(file.readings(), file.events());
    for (view::CountGrouping grouping : {view::CountGrouping::kAll, view::CountGrouping::kCpu}) {
      CountSeries series = series_of(file, grouping);
      series.add(added, round.time_ns);
      CHECK(series.page().events.size() == file.events().size());
    }
  });
  return 0;
}
