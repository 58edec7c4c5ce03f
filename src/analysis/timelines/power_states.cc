#include "analysis/timelines/power_states.h"

#include <algorithm>
#include <array>

#include <tsl/robin_map.h>

#include "replay/passes/tracepoint_pipeline.h"

namespace sonde {
namespace {

enum PowerKind : uint8_t { kIdleState, kFrequency };

constexpr std::array kPowerEvents{
    TracepointRequest{"power:cpu_idle", kIdleState, {"state", "cpu_id"}},
    TracepointRequest{"power:cpu_frequency", kFrequency, {"state", "cpu_id"}},
};
constexpr uint32_t kAwake = UINT32_MAX;  // PWR_EVENT_EXIT

class PowerBuilder {
 public:
  explicit PowerBuilder(view::Timeline& timeline) : timeline_(timeline) {
    for (size_t i = 0; i < timeline.cpus.size(); ++i) place_of_[timeline.cpus[i].cpu] = i;
    is_empty_ = timeline.cpus.empty() && timeline.threads.empty();
  }

  void take(const TracepointItem& item) {
    auto number = static_cast<uint32_t>(item.values[1]);
    if (number >= TracepointPipeline::kMaxCpus) return;
    note_time(item.time);
    size_t place = place_for(number);
    view::TimelineCpu& cpu = timeline_.cpus[place];
    auto state = static_cast<uint32_t>(item.values[0]);
    if (item.kind == kFrequency) {
      cpu.frequencies.push_back({item.time, state});
      return;
    }
    end_idle(place, item.time);
    if (state != kAwake) asleep_[place] = {true, state, item.time};
  }
  void finish() {
    for (size_t i = 0; i < asleep_.size(); ++i) end_idle(i, timeline_.end_ns);
    std::ranges::sort(timeline_.cpus, {}, &view::TimelineCpu::cpu);
  }

 private:
  struct Asleep {
    bool is_so = false;
    uint32_t state = 0;
    uint64_t since_ns = 0;
  };
  void note_time(uint64_t time) {
    if (std::exchange(is_empty_, false)) timeline_.start_ns = timeline_.end_ns = time;
    timeline_.start_ns = std::min(timeline_.start_ns, time);
    timeline_.end_ns = std::max(timeline_.end_ns, time);
  }
  size_t place_for(uint32_t number) {
    auto [found, is_new] = place_of_.try_emplace(number, timeline_.cpus.size());
    if (is_new) timeline_.cpus.emplace_back().cpu = number;
    if (asleep_.size() < timeline_.cpus.size()) asleep_.resize(timeline_.cpus.size());
    return found->second;
  }
  void end_idle(size_t place, uint64_t time) {
    Asleep& asleep = asleep_[place];
    if (asleep.is_so && time > asleep.since_ns)
      timeline_.cpus[place].idles.push_back({asleep.since_ns, time, asleep.state});
    asleep.is_so = false;
  }

  view::Timeline& timeline_;
  tsl::robin_map<uint32_t, size_t> place_of_;
  std::vector<Asleep> asleep_;  // parallel to timeline_.cpus
  bool is_empty_ = false;
};

}  // namespace

bool has_power_states(const EventTable& events) {
  return std::ranges::any_of(events.all(), [](const EventDesc& event) {
    return std::ranges::find(kPowerEvents, event.name, &TracepointRequest::name) !=
           kPowerEvents.end();
  });
}

void add_power_states(view::Timeline& timeline, FileScan& scan, LossLedger& losses) {
  TracepointPipeline pipeline(scan, kPowerEvents, losses);
  PowerBuilder builder(timeline);
  pipeline.run([&](std::span<const TracepointItem> items) {
    for (const TracepointItem& item : items) builder.take(item);
  });
  builder.finish();
}

}  // namespace sonde
