#include "bpf/function_times.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "bpf/bpf_log.h"
#include "bpf/programs/function_times.h"
#include "bpf/skeletons/function_times.skel.h"

namespace sonde {
namespace {

constexpr BpfSubject kProgram{"the BPF program that measures calls",
                              "'ftrace latency' without -b does without"};
constexpr std::string_view kTrampoline = "trampoline", kProbe = "kprobe", kEvents = "tracepoint";

}  // namespace

struct FunctionTimes::State {
  State(function_times* opened, std::string_view its_way) : skeleton(opened), way(its_way) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { function_times__destroy(skeleton); }

  /// The pair of programs for this way of attaching.
  [[nodiscard]] std::array<bpf_program*, 2> pair() const {
    auto& programs = skeleton->progs;
    if (way == kTrampoline) return {programs.on_entry, programs.after_return};
    if (way == kProbe) return {programs.on_probe, programs.after_probe};
    return {programs.on_first_event, programs.on_second_event};
  }
  void set_up(const Options& options) const;
  Result<> load(const Options& options, const BpfLog& log) const;
  Result<> attach(const Options& options, const BpfLog& log) const;

  function_times* skeleton;
  std::string_view way;
};

FunctionTimes::FunctionTimes(std::unique_ptr<State> state) : state_(std::move(state)) {}
FunctionTimes::FunctionTimes(FunctionTimes&&) noexcept = default;
FunctionTimes& FunctionTimes::operator=(FunctionTimes&&) noexcept = default;
FunctionTimes::~FunctionTimes() = default;

void FunctionTimes::State::set_up(const Options& options) const {
  set_followed(options.tasks, *skeleton->rodata);
  skeleton->rodata->some_cpus = !options.cpus.empty();
  skeleton->rodata->in_ns = options.nanoseconds;
  skeleton->rodata->bucket_range = options.even_buckets.range;
  skeleton->rodata->first_bucket_at = options.even_buckets.from;
  skeleton->rodata->last_bucket_at = options.even_buckets.to;
  skeleton->rodata->bucket_count = options.even_buckets.count;
  skeleton->rodata->every_return = way == kTrampoline;
  bpf_map__set_max_entries(skeleton->maps.cpus,
                           std::max(1u, static_cast<uint32_t>(options.cpus.size())));
  auto& programs = skeleton->progs;
  std::array<bpf_program*, 2> used = pair();
  for (bpf_program* one : {programs.on_entry, programs.after_return, programs.on_probe,
                           programs.after_probe, programs.on_first_event, programs.on_second_event})
    bpf_program__set_autoload(one, std::ranges::find(used, one) != used.end());
}

Result<> FunctionTimes::State::load(const Options& options, const BpfLog& log) const {
  if (way == kTrampoline)
    for (bpf_program* program : pair())
      if (bpf_program__set_attach_target(program, 0, options.function.c_str()) != 0)
        return bpf_refused(log, "find the function of", kProgram);
  if (function_times__load(skeleton) != 0) return bpf_refused(log, "load", kProgram);
  bool is_filled = follow_tasks(*skeleton, options.tasks.tids);
  uint8_t yes = 1;
  for (uint64_t cpu : options.cpus)
    is_filled &= bpf_map_update_elem(bpf_map__fd(skeleton->maps.cpus), &cpu, &yes, BPF_ANY) == 0;
  if (!is_filled) return bpf_refused(log, "fill the tables of", kProgram);
  return {};
}

Result<> FunctionTimes::State::attach(const Options& options, const BpfLog& log) const {
  // The trampoline's programs and those that follow tasks know what to attach to.
  if (function_times__attach(skeleton) != 0) return bpf_refused(log, "attach", kProgram);
  if (way == kTrampoline) return {};
  std::array<bpf_program*, 2> programs = pair();
  // The links are destroyed with the skeleton; nobody else needs them.
  for (bool is_second : {true, false}) {
    bpf_program* program = programs[is_second ? 1 : 0];
    bpf_link* link =
        way == kProbe
            ? bpf_program__attach_kprobe(program, is_second, options.function.c_str())
            : bpf_program__attach_raw_tracepoint(
                  program, (is_second ? options.second_event : options.first_event).c_str());
    if (link == nullptr) return bpf_refused(log, "attach", kProgram);
    (is_second ? skeleton->links.after_probe : skeleton->links.on_probe) = link;
  }
  return {};
}

Result<FunctionTimes> FunctionTimes::open_by(std::string_view way, const Options& options) {
  BpfLog log;
  auto state = std::make_unique<State>(function_times__open(), way);
  if (state->skeleton == nullptr) return bpf_refused(log, "open", kProgram);
  state->set_up(options);
  TRY(state->load(options, log));
  TRY(state->attach(options, log));
  if (!follow_begun(*state->skeleton, options.tasks))
    return bpf_refused(log, "fill the tables of", kProgram);
  return FunctionTimes(std::move(state));
}

Result<FunctionTimes> FunctionTimes::open(const Options& options) {
  static_assert(kBuckets == FUNCTION_TIME_BUCKETS);
  if (options.function.empty()) return open_by(kEvents, options);
  auto trampoline = open_by(kTrampoline, options);
  if (trampoline) return trampoline;
  auto probe = open_by(kProbe, options);
  if (probe) return probe;
  return fail(probe.error().code, "{}; and by kprobes: {}", trampoline.error(), probe.error());
}

void FunctionTimes::set_enabled(bool enabled) {
  set_phase(*state_->skeleton, enabled ? FollowPhase::kOn : FollowPhase::kOver);
}

FunctionTimes::Sums FunctionTimes::sums() const {
  Sums all;
  int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return all;
  std::vector<function_time_sums> by_cpu(static_cast<size_t>(cpus));
  uint32_t first = 0;
  if (bpf_map_lookup_elem(bpf_map__fd(state_->skeleton->maps.sums), &first, by_cpu.data()) != 0)
    return all;
  for (const function_time_sums& one : by_cpu) {
    if (one.calls == 0) continue;
    for (size_t i = 0; i < kBuckets; ++i) all.counts[i] += one.counts[i];
    all.calls += one.calls;
    all.total_ns += one.total_ns;
    all.longest_ns = std::max<uint64_t>(all.longest_ns, one.longest_ns);
    all.shortest_ns = std::min<uint64_t>(all.shortest_ns, one.shortest_ns);
  }
  return all;
}

FunctionTimes::Lost FunctionTimes::lost() const {
  const auto* counters = state_->skeleton->bss;
  return {counters->unended, counters->too_deep};
}

std::string_view FunctionTimes::way() const {
  return state_->way;
}

}  // namespace sonde
