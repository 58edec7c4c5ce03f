#include "capture/rings/stream_threads.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/memory_shortage.h"
#include "base/text.h"
#include "capture/opening/cpu_map.h"
#include "capture/rings/drain_pace.h"
#include "capture/rings/poller.h"
#include "event/pmu/pmu.h"

namespace sonde {
namespace {

std::optional<std::vector<int>> list_in(const std::string& path) {
  Result<std::string> text = read_file(path);
  return text ? parse_cpu_list(trim(*text)) : std::nullopt;
}

/// The CPUs in the same unit as `cpu`.
std::vector<int> unit_of(std::string_view unit, int cpu) {
  std::string topology = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
  std::optional<std::vector<int>> cpus;
  if (unit == "core") cpus = list_in(topology + "thread_siblings_list");
  if (unit == "package") cpus = list_in(topology + "core_siblings_list");
  if (unit == "numa")
    for (int node = 0; !cpus; ++node) {
      std::optional<std::vector<int>> of_node =
          list_in(fmt::format("/sys/devices/system/node/node{}/cpulist", node));
      if (!of_node) break;
      if (std::ranges::find(*of_node, cpu) != of_node->end()) cpus = of_node;
    }
  return cpus ? *cpus : std::vector<int>{cpu};
}

std::vector<int> common(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> both;
  std::ranges::copy_if(a, std::back_inserter(both),
                       [&](int cpu) { return std::ranges::find(b, cpu) != b.end(); });
  return both;
}

std::vector<StreamThreads::Layout> by_unit(std::string_view unit, const std::vector<int>& cpus) {
  std::vector<StreamThreads::Layout> layouts;
  for (int cpu : cpus) {
    bool covered = std::ranges::any_of(layouts, [&](const StreamThreads::Layout& layout) {
      return std::ranges::find(layout.cpus, cpu) != layout.cpus.end();
    });
    if (covered) continue;
    std::vector<int> members = common(unit_of(unit, cpu), cpus);
    layouts.push_back({members, members});
  }
  return layouts;
}

Result<std::vector<StreamThreads::Layout>> by_masks(std::string_view spec,
                                                    const std::vector<int>& cpus) {
  std::vector<StreamThreads::Layout> layouts;
  for (std::string_view part : split(spec, ':')) {
    size_t slash = part.find('/');
    std::optional<std::vector<int>> maps = parse_cpu_list(part.substr(0, slash));
    std::optional<std::vector<int>> affinity =
        slash == std::string_view::npos ? std::nullopt : parse_cpu_list(part.substr(slash + 1));
    if (!maps || !affinity)
      return fail(ErrorCode::kUsage, "Invalid thread maps or affinity specs: '{}' in --threads={}",
                  part, spec);
    StreamThreads::Layout layout{common(*maps, cpus), common(*affinity, cpus)};
    if (layout.cpus.empty() || layout.affinity.empty())
      return fail(ErrorCode::kUsage, "--threads: none of the CPUs in '{}' is recorded", part);
    for (const StreamThreads::Layout& other : layouts)
      if (!common(other.cpus, layout.cpus).empty() ||
          !common(other.affinity, layout.affinity).empty())
        return fail(ErrorCode::kUsage, "--threads: masks overlap: '{}' in {}", part, spec);
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

}  // namespace

Result<std::vector<StreamThreads::Layout>> StreamThreads::plan(std::string_view spec,
                                                               const Capture& capture) {
  const std::vector<int>& cpus = capture.target.cpus;
  if (spec.empty()) spec = "cpu";
  bool is_unit = spec == "cpu" || spec == "core" || spec == "package" || spec == "numa";
  std::vector<Layout> layouts = TRY(is_unit ? by_unit(spec, cpus) : by_masks(spec, cpus));
  // CPUs that only the sideband comes from; nobody asked for threads there.
  for (const CaptureRing& ring : capture.rings->rings())
    if (std::ranges::find(cpus, ring.cpu) == cpus.end()) layouts.front().cpus.push_back(ring.cpu);
  return layouts;
}

StreamThreads::StreamThreads(std::vector<Layout> layouts, RingSet& rings, PerfDataWriter& writer,
                             RingDrain& drain)
    : layouts_(std::move(layouts)),
      rings_(rings),
      writer_(writer),
      drain_(drain),
      stop_event_(::eventfd(0, EFD_CLOEXEC)),
      failure_event_(::eventfd(0, EFD_CLOEXEC)) {}

StreamThreads::~StreamThreads() {
  (void)stop();
}

void StreamThreads::start() {
  for (size_t i = 0; i < layouts_.size(); ++i)
    threads_.emplace_back([this, i] {
      Result<> ended = within_memory("a thread of --threads", [&] { return run(i); });
      if (!ended) fail_with(std::move(ended).error());
    });
}

Result<> StreamThreads::stop() {
  uint64_t one = 1;
  // The event is never read, so it stays readable for every thread.
  [[maybe_unused]] ssize_t told = ::write(stop_event_.get(), &one, sizeof one);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (failure_) return std::unexpected(*failure_);
  return {};
}

Result<> StreamThreads::run(size_t index) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : layouts_[index].affinity) CPU_SET(static_cast<size_t>(cpu), &set);
  (void)::sched_setaffinity(0, sizeof set, &set);

  Poller poller = TRY(Poller::create());
  bool stopping = false;
  size_t ring_bytes = rings_.rings().front().buffer.data_size();
  poller.add(stop_event_.get(), [&](auto) { stopping = true; });
  for (const CaptureRing& ring : rings_.rings())
    if (std::ranges::find(layouts_[index].cpus, ring.cpu) != layouts_[index].cpus.end() &&
        !ring.buffer.is_backward())
      poller.add(ring.buffer.fd(), [&, fd = ring.buffer.fd()](Poller::Ready ready) {
        if (ready.hung_up) poller.remove(fd);
      });
  StreamWriter stream(writer_.stream(index), {});
  DrainPace pace(DrainPace::Clock::now());
  int wait_ms = DrainPace::kMostMs;
  while (!stopping) {
    poller.wait(wait_ms);
    size_t most = TRY(drain_rings(index, stream, stopping));
    wait_ms = pace.next_wait_ms(DrainPace::Clock::now(), most, ring_bytes);
    int settled_ms = TRY(stream.settle());
    wait_ms = sooner_ms(sooner_ms(wait_ms, settled_ms), DrainPace::kMostMs);
  }
  return {};
}

Result<size_t> StreamThreads::drain_rings(size_t index, StreamWriter& stream, bool all) {
  size_t most = 0;
  for (CaptureRing& ring : rings_.rings())
    if (std::ranges::find(layouts_[index].cpus, ring.cpu) != layouts_[index].cpus.end())
      most = std::max(most, TRY(drain_.forward(ring, stream, all)));
  return most;
}

void StreamThreads::fail_with(Error error) {
  {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(error);
  }
  uint64_t one = 1;
  [[maybe_unused]] ssize_t told = ::write(failure_event_.get(), &one, sizeof one);
}

}  // namespace sonde
