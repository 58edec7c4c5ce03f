#include "analysis/timelines/switch_coverage.h"

#include <algorithm>

#include "capture/opening/cpu_map.h"
#include "perfdata/records/sideband.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

constexpr std::string_view kRemedy = "record with -e sched:sched_switch,sched:sched_waking -a";

/// Events of a command, of processes or of threads.
Error only_of_tasks(const std::string& path) {
  return {ErrorCode::kFailed,
          error_message("{}: it has the switches of some tasks only, which do not tell when these "
                        "came back to a CPU, nor what others did: {}",
                        path, kRemedy)};
}

/// The map of an event that is opened for CPUs has a single entry, -1.
bool is_of_tasks(const ThreadMapRecord& map) {
  return std::ranges::any_of(map.threads, [](const ThreadMapRecord::Entry& thread) {
    return static_cast<int32_t>(static_cast<uint32_t>(thread.tid)) != -1;
  });
}

class CoverageReader {
 public:
  explicit CoverageReader(const Session& session) : session_(session) {}

  Result<SwitchCoverage> read() && {
    for (const OtherRecord& other : session_.other_records()) TRY(take(other));
    std::ranges::stable_sort(coverage_.losses, {}, &SchedLoss::time_ns);
    choose_kind();
    return std::move(coverage_);
  }

 private:
  Result<> take(const OtherRecord& other) {
    if (other.view.type == abi::kRecordThreadMap) {
      auto map = decode_user<ThreadMapRecord>(other.view);
      if (map && is_of_tasks(*map))
        return std::unexpected(only_of_tasks(session_.recording().facts().path));
      names_threads_ = names_threads_ || (map && !map->threads.empty());
    } else if (other.view.type == abi::kRecordCpuMap) {
      if (auto map = decode_user<CpuMapRecord>(other.view))
        for (int cpu : map->cpus)
          if (cpu >= 0) cpus_.push_back(cpu);
    } else if (other.view.type == abi::kRecordLost && other.event.valid()) {
      SampleId id = decode_trailing_id(other.view, session_.events()[other.event].layout);
      coverage_.losses.push_back({.time_ns = other.time, .cpu = id.cpu});
    }
    return {};
  }

  void choose_kind() {
    std::ranges::sort(cpus_);
    cpus_.erase(std::ranges::unique(cpus_).begin(), cpus_.end());
    if (!names_threads_ || cpus_.empty()) return;
    coverage_.kind = SwitchCoverage::Kind::kEveryCpu;
    uint32_t online = session_.recording().features().cpus_online.value_or(0);
    if (cpus_.size() >= online) return;
    coverage_.kind = SwitchCoverage::Kind::kSomeCpus;
    bool is_one = cpus_.size() == 1;
    coverage_.partial = fmt::format("only {} {} of {} {} recorded", is_one ? "CPU" : "CPUs",
                                    cpu_list_text(cpus_), online, is_one ? "was" : "were");
  }

  const Session& session_;
  SwitchCoverage coverage_;
  bool names_threads_ = false;
  std::vector<int> cpus_;
};

}  // namespace

Result<SwitchCoverage> switch_coverage(const Session& session) {
  return CoverageReader(session).read();
}

Result<> need_each_time(const std::string& path, const EventDesc& event) {
  // The recorder leaves it to exec to enable events of a command, never those of CPUs.
  if (event.attr.enable_on_exec != 0) return std::unexpected(only_of_tasks(path));
  if (event.attr.freq != 0)
    return fail(ErrorCode::kFailed,
                "{}: {} was sampled (-F {}), which does not tell what threads did between the "
                "samples: {}, without -F",
                path, event.name, event.attr.sample_period, kRemedy);
  if (event.attr.sample_period > 1)
    return fail(ErrorCode::kFailed,
                "{}: only one in {} of {} was recorded (-c), which does not tell what threads did "
                "in between: {}, without -c",
                path, event.attr.sample_period, event.name, kRemedy);
  return {};
}

Result<> need_most_to_follow(const std::string& path, uint64_t contradictions, uint64_t pairs) {
  if (contradictions <= pairs / 2) return {};
  return fail(ErrorCode::kFailed,
              "{}: {} of {} switches do not follow from the one before on their CPU: it has only "
              "some of them (those of some tasks, or what a filter let through), which do not "
              "tell what threads did in between: {}, without --filter",
              path, contradictions, pairs, kRemedy);
}

}  // namespace sonde
