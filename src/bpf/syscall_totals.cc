#include "bpf/syscall_totals.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "bpf/bpf_log.h"
#include "bpf/map_entries.h"
#include "bpf/map_text.h"
#include "bpf/programs/syscall_totals.h"
#include "bpf/skeletons/syscall_totals.skel.h"
#include "bpf/traced_programs.h"

namespace sonde {
namespace {

constexpr std::string_view kAdders = "the BPF program that adds up system calls";

using RowKey = std::tuple<uint64_t, bool, uint32_t, uint32_t>;
using RowTable = std::map<RowKey, SyscallTotals::Row>;

void add_row(const total_row& from, RowTable& to) {
  if (from.calls == 0) return;
  bool compat = from.compat != 0;
  auto [place, is_new] = to.try_emplace({from.who, compat, from.number, from.error});
  SyscallTotals::Row& row = place->second;
  if (is_new)
    row = {.who = from.who,
           .number = from.number,
           .compat = compat,
           .error = from.error,
           .min_ns = from.min_ns};
  row.calls += from.calls;
  row.total_ns += from.total_ns;
  row.min_ns = std::min<uint64_t>(row.min_ns, from.min_ns);
  row.max_ns = std::max<uint64_t>(row.max_ns, from.max_ns);
  row.squares_ns2 += static_cast<double>(from.squares_low) +
                     std::ldexp(static_cast<double>(from.squares_high), 64);
}

}  // namespace

struct SyscallTotals::State {
  explicit State(syscall_totals* opened) : skeleton(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    attached.links.clear();
    syscall_totals__destroy(skeleton);
  }
  syscall_totals* skeleton;
  CallLinks attached;
};

SyscallTotals::SyscallTotals(std::unique_ptr<State> state) : state_(std::move(state)) {}
SyscallTotals::SyscallTotals(SyscallTotals&&) noexcept = default;
SyscallTotals& SyscallTotals::operator=(SyscallTotals&&) noexcept = default;
SyscallTotals::~SyscallTotals() = default;

Result<SyscallTotals> SyscallTotals::open(const TracedCalls& calls, By by) {
  TRY(check_limits(calls));
  auto state = std::make_unique<State>(nullptr);
  {
    BpfLog log;
    syscall_totals* skeleton = state->skeleton = syscall_totals__open();
    if (skeleton == nullptr) return bpf_refused(log, "open", kAdders);
    put_settings(calls, *skeleton->rodata);
    skeleton->rodata->total_by = static_cast<uint32_t>(by);
    leave_out_unused(calls, *skeleton);
    if (syscall_totals__load(skeleton) != 0) return bpf_refused(log, "load", kAdders);
  }
  TRY(attach_traced(calls, *state->skeleton, kAdders, state->attached));
  return SyscallTotals(std::move(state));
}

void SyscallTotals::set_enabled(bool enabled) {
  put_enabled(*state_->skeleton, enabled);
}

void SyscallTotals::follow(std::span<const uint32_t> tids) {
  follow_tasks(*state_->skeleton, tids);
}

std::vector<SyscallTotals::Row> SyscallTotals::rows() const {
  RowTable table;
  int cpus = std::max(libbpf_num_possible_cpus(), 1);
  std::vector<total_cache> caches(static_cast<size_t>(cpus));
  uint32_t zero = 0;
  if (bpf_map_lookup_elem(bpf_map__fd(state_->skeleton->maps.caches), &zero, caches.data()) == 0)
    for (const total_cache& cache : caches)
      for (const total_row& row : cache.rows) add_row(row, table);
  for_each_entry<total_key, total_row>(
      state_->skeleton->maps.others,
      [&](const total_key&, const total_row& row) { add_row(row, table); });
  std::vector<Row> rows;
  rows.reserve(table.size());
  for (const auto& [key, row] : table) rows.push_back(row);
  return rows;
}

std::vector<SyscallTotals::Name> SyscallTotals::names() const {
  std::vector<Name> found;
  for_each_entry<uint32_t, total_name>(
      state_->skeleton->maps.names, [&](uint32_t tid, const total_name& name) {
        found.push_back({tid, name.pid, {name.comm, ::strnlen(name.comm, sizeof name.comm)}});
      });
  return found;
}

uint64_t SyscallTotals::lost() const {
  return __atomic_load_n(&state_->skeleton->bss->lost_count, __ATOMIC_RELAXED);
}

uint64_t SyscallTotals::tasks_not_followed() const {
  return __atomic_load_n(&state_->skeleton->bss->tasks_not_followed, __ATOMIC_RELAXED);
}

bool SyscallTotals::has_tasks() const {
  return has_threads(state_->skeleton->maps.tasks);
}

Result<bool> SyscallTotals::include_new_compat_programs() {
  return attach_to_new_compat(*state_->skeleton, kAdders, state_->attached);
}

Result<int> SyscallTotals::map(std::string_view name) const {
  return find_map(state_->skeleton->obj, name);
}

}  // namespace sonde
