// Arbitrary bytes as a recording, its samples counted by place: whether deferred during the first
// walk over the file or read afterwards, the counts and losses are the same.
#include <unistd.h>

#include <map>
#include <tuple>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "replay/passes/sample_pass.h"
#include "store/expand.h"

namespace {

using namespace sonde;

struct Counted {
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, FrameLevel>, std::pair<uint64_t, uint64_t>>
      counts;
  uint64_t first_time = 0, last_time = 0;
  uint64_t records = 0;
  std::map<LossKind, uint64_t> losses;
  bool operator==(const Counted&) const = default;
};

std::optional<Counted> count(const std::string& path, DeferredSamples* deferred) {
  LossLedger losses;
  auto recording = Recording::open(path, {.force = true, .observer = deferred}, losses);
  // With more events, or counters in samples, nothing is counted by place.
  if (!recording || recording->events().size() > kMaxEventsByPlace) return std::nullopt;
  StringPool strings;
  Machine machine(strings);
  SidebandResult sideband = read_sideband(*recording, machine, losses);
  SamplePassOptions options;
  options.detail = SampleDetail::kPlaces;
  options.chains.reset();
  options.deferred = deferred;
  SamplePassResult result = read_samples(*recording, machine, sideband, options, 1, losses);
  Counted counted;
  for (size_t i = 0; i < result.samples.size(); ++i) {
    const Frame& frame = result.frames[result.samples.leaf[i]];
    auto& [samples, period] =
        counted.counts[{result.samples.event[i], frame.dso.value, frame.address, frame.level}];
    samples += result.samples.count_of(i);
    period += result.samples.period[i];
  }
  counted.first_time = result.first_time_ns;
  counted.last_time = result.last_time_ns;
  for (uint64_t of_type : recording->record_counts().by_type) counted.records += of_type;
  for (const LossLedger::Entry& entry : losses.entries()) counted.losses[entry.kind] = entry.count;
  return counted;
}

}  // namespace

FUZZ_TARGET(deferred_samples)(const uint8_t* data, size_t size) {
  auto file = memory_file("fuzz");
  CHECK(file && ::write(file->get(), data, size) == static_cast<ssize_t>(size));
  std::string path = "/proc/self/fd/" + std::to_string(file->get());
  DeferredSamples deferred;
  CHECK(count(path, &deferred) == count(path, nullptr));
  return 0;
}
