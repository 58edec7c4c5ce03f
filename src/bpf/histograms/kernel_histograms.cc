#include "bpf/histograms/kernel_histograms.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "bpf/bpf_log.h"
#include "bpf/map_entries.h"
#include "bpf/skeletons/histogram.skel.h"

namespace sonde {
namespace {

constexpr BpfSubject kHistogramProgram{"the BPF program that adds up histograms",
                                       "'histogram -i' does it with a recording of the events"};

/// One copy of the program.
struct LoadedSource {
  explicit LoadedSource(histogram* opened) : skeleton(opened) {}
  LoadedSource(LoadedSource&& other) noexcept
      : skeleton(std::exchange(other.skeleton, nullptr)),
        program(other.program),
        link(std::exchange(other.link, nullptr)) {}
  LoadedSource& operator=(LoadedSource&&) = delete;
  ~LoadedSource() {
    if (link != nullptr) bpf_link__destroy(link);
    if (skeleton != nullptr) histogram__destroy(skeleton);
  }

  void set_up(const KernelHistograms::Options& options, const HistogramSource& source,
              bool follows);
  bool share_maps(const LoadedSource& first) const;
  void attach(const HistogramSource& source);
  [[nodiscard]] uint64_t missed() const;

  histogram* skeleton;
  bpf_program* program = nullptr;
  bpf_link* link = nullptr;
};

void LoadedSource::set_up(const KernelHistograms::Options& options, const HistogramSource& source,
                          bool follows) {
  auto& settings = *skeleton->rodata;
  set_followed(options.tasks, settings);
  settings.role = source.role;
  settings.some_cpus = !options.cpus.empty();
  settings.by_of_begin = source.by_of_begin;
  settings.value = source.value;
  settings.by = source.by;
  std::ranges::copy(source.pair_keys, settings.pair_keys);
  settings.test_count = static_cast<uint8_t>(source.tests.size());
  std::ranges::copy(source.tests, settings.tests);
  settings.bucket_size = options.bucket_size;
  settings.first_bucket_at = options.first_bucket_at;
  settings.last_bucket_end = options.last_bucket_end;
  auto& programs = skeleton->progs;
  bool is_probe = source.kind != HistogramSource::Kind::kTracepoint;
  program = is_probe ? programs.on_probe : programs.on_tracepoint;
  bpf_program__set_autoload(is_probe ? programs.on_tracepoint : programs.on_probe, false);
  if (follows) {
    bpf_map__set_max_entries(skeleton->maps.cells, options.most_cells);
    bpf_map__set_max_entries(skeleton->maps.begins, options.most_begins);
    bpf_map__set_max_entries(skeleton->maps.cpus,
                             std::max(1u, static_cast<uint32_t>(options.cpus.size())));
  }
  // One copy keeps track of the tasks, for all.
  for (bpf_program* one : {programs.on_fork, programs.on_exec, programs.on_task_exit})
    bpf_program__set_autoload(one, follows);
}

bool LoadedSource::share_maps(const LoadedSource& first) const {
  auto& own = skeleton->maps;
  auto& shared = first.skeleton->maps;
  return bpf_map__reuse_fd(own.cells, bpf_map__fd(shared.cells)) == 0 &&
         bpf_map__reuse_fd(own.begins, bpf_map__fd(shared.begins)) == 0 &&
         bpf_map__reuse_fd(own.cpus, bpf_map__fd(shared.cpus)) == 0 &&
         bpf_map__reuse_fd(own.tasks, bpf_map__fd(shared.tasks)) == 0 &&
         bpf_map__reuse_fd(own.bss, bpf_map__fd(shared.bss)) == 0;
}

/// `link` stays null if the kernel refuses; errno says why.
void LoadedSource::attach(const HistogramSource& source) {
  constexpr pid_t kEveryProcess = -1;
  if (source.kind == HistogramSource::Kind::kTracepoint) {
    link = bpf_program__attach_tracepoint(program, source.system.c_str(), source.name.c_str());
  } else if (source.kind == HistogramSource::Kind::kFunction) {
    bpf_uprobe_opts how{};
    how.sz = sizeof how;
    how.retprobe = source.at_return;
    how.ref_ctr_offset = source.semaphore;
    link = bpf_program__attach_uprobe_opts(program, kEveryProcess, source.object.c_str(),
                                           source.offset, &how);
  } else {
    bpf_kprobe_opts how{};
    how.sz = sizeof how;
    how.retprobe = source.at_return;
    how.offset = source.offset;
    link = bpf_program__attach_kprobe_opts(program, source.symbol.c_str(), &how);
  }
}

uint64_t LoadedSource::missed() const {
  bpf_prog_info info{};
  uint32_t size = sizeof info;
  if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0) return 0;
  return info.recursion_misses;
}

/// Without the PMU, libbpf would make an event in tracefs, which is left behind if we are killed.
Result<> check_probe_pmu(const HistogramSource& source) {
  if (source.kind == HistogramSource::Kind::kTracepoint) return {};
  bool in_kernel = source.kind == HistogramSource::Kind::kKernelFunction;
  std::string_view pmu = in_kernel ? "kprobe" : "uprobe";
  if (::access(fmt::format("/sys/bus/event_source/devices/{}/type", pmu).c_str(), F_OK) == 0)
    return {};
  return fail(ErrorCode::kUnsupported, "{}: this kernel has no {}s (CONFIG_{}); {} work",
              source.description(), pmu, in_kernel ? "KPROBE_EVENTS" : "UPROBE_EVENTS",
              in_kernel ? "tracepoints and functions of programs" : "tracepoints");
}

std::unexpected<Error> source_refused(const BpfLog& log, std::string_view action,
                                      const HistogramSource& source) {
  Error refused = bpf_refused(log, action, kHistogramProgram).error();
  return fail(refused.code, "{}: {}", source.description(), refused);
}

}  // namespace

std::string HistogramSource::description() const {
  if (kind == Kind::kTracepoint) return fmt::format("{}:{}", system, name);
  std::string_view side = at_return ? "the return of " : "";
  if (kind == Kind::kKernelFunction) return fmt::format("{}{} in the kernel", side, symbol);
  return fmt::format("{}{:#x} in {}", side, offset, object);
}

struct KernelHistograms::State {
  Result<> load(const Options& options);
  Result<> attach(const Options& options);
  [[nodiscard]] histogram& first() const { return *sources.front().skeleton; }

  std::vector<LoadedSource> sources;
};

Result<> KernelHistograms::State::load(const Options& options) {
  BpfLog log;
  for (const HistogramSource& source : options.sources) {
    bool is_first = sources.empty();
    LoadedSource& loaded = sources.emplace_back(histogram__open());
    if (loaded.skeleton == nullptr) return bpf_refused(log, "open", kHistogramProgram);
    loaded.set_up(options, source, is_first);
    bool is_ready = is_first || loaded.share_maps(sources.front());
    if (!is_ready || histogram__load(loaded.skeleton) != 0)
      return source_refused(log, "load", source);
  }
  return {};
}

Result<> KernelHistograms::State::attach(const Options& options) {
  BpfLog log;
  for (const HistogramSource& source : options.sources) TRY(check_probe_pmu(source));
  bool is_filled = follow_tasks(first(), options.tasks.tids);
  uint8_t yes = 1;
  for (uint32_t cpu : options.cpus)
    is_filled &= bpf_map_update_elem(bpf_map__fd(first().maps.cpus), &cpu, &yes, BPF_ANY) == 0;
  if (!is_filled) return bpf_refused(log, "fill the tables of", kHistogramProgram);
  if (histogram__attach(&first()) != 0) return bpf_refused(log, "attach", kHistogramProgram);
  // Ends first: every begin that is seen can have its end.
  for (bool is_end : {true, false})
    for (size_t i = 0; i < sources.size(); ++i) {
      const HistogramSource& source = options.sources[i];
      if ((source.role == HISTOGRAM_END) != is_end) continue;
      sources[i].attach(source);
      if (sources[i].link != nullptr) continue;
      return source_refused(log, "attach", source);
    }
  if (!follow_begun(first(), options.tasks))
    return bpf_refused(log, "fill the tables of", kHistogramProgram);
  return {};
}

KernelHistograms::KernelHistograms(std::unique_ptr<State> state) : state_(std::move(state)) {}
KernelHistograms::KernelHistograms(KernelHistograms&&) noexcept = default;
KernelHistograms& KernelHistograms::operator=(KernelHistograms&&) noexcept = default;
KernelHistograms::~KernelHistograms() = default;

Result<KernelHistograms> KernelHistograms::open(const Options& options) {
  auto state = std::make_unique<State>();
  state->sources.reserve(options.sources.size());
  TRY(state->load(options));
  TRY(state->attach(options));
  return KernelHistograms(std::move(state));
}

void KernelHistograms::set_enabled(bool enabled) {
  set_phase(state_->first(), enabled ? FollowPhase::kOn : FollowPhase::kOver);
}

std::vector<KernelHistograms::Cell> KernelHistograms::cells() const {
  std::vector<Cell> all;
  int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return all;
  std::vector<histogram_cell> by_cpu(static_cast<size_t>(cpus));
  for_each_entry<histogram_key>(state_->first().maps.cells, by_cpu.data(),
                                [&](const histogram_key& key) {
                                  Cell cell;
                                  std::ranges::copy(key.by, cell.by.begin());
                                  cell.bucket = key.bucket;
                                  for (const histogram_cell& one : by_cpu) {
                                    cell.count += one.count;
                                    cell.sum += one.sum;
                                  }
                                  all.push_back(cell);
                                });
  return all;
}

KernelHistograms::Counts KernelHistograms::counts() const {
  const auto& counters = *state_->first().bss;
  Counts counts{.lost_values = counters.lost_values,
                .lost_begins = counters.lost_begins,
                .lost_tasks = counters.tasks_not_followed,
                .unreadable = counters.unreadable,
                .replaced = counters.begins_replaced,
                .ends_alone = counters.ends_alone,
                .backward = counters.ends_backward};
  for (const LoadedSource& source : state_->sources) counts.missed += source.missed();
  struct Begin {
    uint64_t time_ns, by[HISTOGRAM_WORDS];
  };
  for_each_entry<std::array<uint64_t, HISTOGRAM_PAIR_KEYS>, Begin>(
      state_->first().maps.begins, [&](const auto&, const Begin&) { ++counts.still_open; });
  return counts;
}

}  // namespace sonde
