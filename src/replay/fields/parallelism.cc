#include "replay/fields/parallelism.h"

#include <tsl/robin_set.h>

#include <algorithm>
#include <optional>

#include "base/hashing/number_hash.h"
#include "machine/machine.h"

namespace sonde {
namespace {

/// The threads on CPUs at one moment.
class RunningThreads {
 public:
  void start(uint32_t tid) {
    if (tid != 0) running_.insert(tid);
  }
  void stop(uint32_t tid) { running_.erase(tid); }
  [[nodiscard]] size_t count() const { return running_.size(); }

 private:
  tsl::robin_set<uint32_t, NumberHash> running_;
};

/// A thread starts or stops running.
struct Change {
  uint64_t time;
  uint32_t tid;
  bool starts;
};

std::optional<Change> change_of(const OtherRecord& other, const SampleLayout& layout) {
  if (is_guest_mode(other.view.cpu_mode())) return std::nullopt;
  switch (other.view.type) {
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide: {
      SampleId id = decode_trailing_id(other.view, layout);
      bool out = (other.view.misc & abi::kMiscSwitchOut) != 0;
      return Change{other.time, id.tid, !out};
    }
    case abi::kRecordExit: {
      auto task = decode_as<TaskRecord>(other.view, layout);
      if (!task) return std::nullopt;
      return Change{other.time, task->tid, false};
    }
    default:
      return std::nullopt;
  }
}

std::vector<Change> changes_in_order(const Session& session) {
  SampleLayout none;
  std::vector<Change> changes;
  for (const OtherRecord& other : session.other_records()) {
    const SampleLayout& layout = other.event.valid() ? session.events()[other.event].layout : none;
    if (auto change = change_of(other, layout)) changes.push_back(*change);
  }
  std::ranges::stable_sort(changes, {}, &Change::time);
  return changes;
}

/// Samples of waits (record --off-cpu) are written when these end, and say nothing of who runs.
bool tells_who_runs(const EventDesc& event) {
  return event.attr.type != abi::kTypeSoftware || event.attr.config != abi::kSwBpfOutput;
}

}  // namespace

bool records_switches(const EventTable& events) {
  return std::ranges::any_of(events.all(),
                             [](const EventDesc& event) { return event.attr.context_switch != 0; });
}

std::vector<uint32_t> parallelism_of_samples(const Session& session) {
  const SampleColumns& samples = session.samples();
  const Features& features = session.recording().features();
  size_t most = features.cpus_online.value_or(0) == 0 ? UINT32_MAX : *features.cpus_online;
  std::vector<uint8_t> tells;
  for (const EventDesc& event : session.events().all())
    tells.push_back(tells_who_runs(event) ? 1 : 0);
  std::vector<Change> changes = changes_in_order(session);
  std::vector<uint32_t> levels(samples.size());
  RunningThreads running;
  auto next = changes.begin();
  for (uint32_t sample : session.time_order()) {
    for (; next != changes.end() && next->time <= samples.time[sample]; ++next)
      next->starts ? running.start(next->tid) : running.stop(next->tid);
    uint32_t event = samples.event[sample];
    if (event < tells.size() && tells[event] != 0) running.start(samples.tid[sample]);
    levels[sample] = static_cast<uint32_t>(std::clamp<size_t>(running.count(), 1, most));
  }
  return levels;
}

}  // namespace sonde
