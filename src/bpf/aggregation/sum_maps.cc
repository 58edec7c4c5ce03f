#include "bpf/aggregation/sum_maps.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "bpf/map_entries.h"

namespace sonde {
namespace {

constexpr uint64_t kFirstContextMarker = static_cast<uint64_t>(-4095);  // PERF_CONTEXT_MAX
constexpr uint32_t kPartsPerRow = 2;

using Parts = std::unordered_map<uint64_t, chain_part>;

/// Until no BPF program that began before runs any more: they run in read-side sections of RCU.
void wait_for_running_programs() {
  constexpr useconds_t kLongerThanAnyProgram = 10'000;
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) ::usleep(kLongerThanAnyProgram);
}

/// Removes all entries that are in the map now.
template <typename Key>
void clear(const bpf_map* map) {
  int fd = bpf_map__fd(map);
  for (Key key{}; bpf_map_get_next_key(fd, nullptr, &key) == 0;)
    if (bpf_map_delete_elem(fd, &key) != 0) return;
}

std::vector<uint64_t> chain_of(const Parts& parts, uint64_t key) {
  std::vector<uint64_t> addresses;
  for (uint32_t i = 0; i < SUM_CHAIN_DEPTH / SUM_PART_ADDRESSES; ++i) {
    auto part = parts.find(key);
    if (part == parts.end()) break;
    auto count = std::min<uint64_t>(part->second.count, SUM_PART_ADDRESSES);
    for (uint64_t address : std::span(part->second.addresses).first(count))
      if (address != 0 && address < kFirstContextMarker) addresses.push_back(address);
    key = part->second.outer;
  }
  return addresses;
}

/// Rows with the same callers side by side: a compressor finds them there.
bool is_before(const StackSumRow& a, const StackSumRow& b) {
  if (std::tie(a.pid, a.tid, a.event) != std::tie(b.pid, b.tid, b.event))
    return std::tie(a.pid, a.tid, a.event) < std::tie(b.pid, b.tid, b.event);
  auto outer_first = [](const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
    return std::lexicographical_compare_three_way(x.rbegin(), x.rend(), y.rbegin(), y.rend());
  };
  if (auto order = outer_first(a.user_chain, b.user_chain); order != 0) return order < 0;
  if (auto order = outer_first(a.kernel_chain, b.kernel_chain); order != 0) return order < 0;
  return std::tie(a.ip, a.cpu, a.last_ns) < std::tie(b.ip, b.cpu, b.last_ns);
}

}  // namespace

void SumMaps::set_entries(uint32_t most) {
  most_rows_ = most;
  for (int i : {0, 1}) {
    bpf_map__set_max_entries(maps_.sums[i], most);
    bpf_map__set_max_entries(maps_.parts[i], most * kPartsPerRow);
  }
}

bool SumMaps::is_nearly_full() const {
  uint32_t now = state_->window & 1;
  uint64_t rows = __atomic_load_n(&state_->sums[now], __ATOMIC_RELAXED);
  uint64_t parts = __atomic_load_n(&state_->parts[now], __ATOMIC_RELAXED);
  return std::max(rows, parts / kPartsPerRow) >= most_rows_ / 4 * 3;
}

StackSumWindow SumMaps::take() {
  uint32_t ended = state_->window, which = ended & 1;
  __atomic_store_n(&state_->window, ended + 1, __ATOMIC_RELEASE);
  wait_for_running_programs();

  Parts parts;
  for_each_entry<uint64_t, chain_part>(
      maps_.parts[which], [&](uint64_t key, const chain_part& part) { parts.emplace(key, part); });
  StackSumWindow window;
  for_each_entry<stack_sum_key, stack_sum>(
      maps_.sums[which], [&](const stack_sum_key& key, const stack_sum& sum) {
        window.rows.push_back({.pid = key.pid,
                               .tid = key.tid,
                               .cpu = key.cpu,
                               .event = key.event,
                               .end = key.end,
                               .object = sum.object,
                               .ip = key.ip,
                               .count = sum.count,
                               .period = sum.period,
                               .last_ns = sum.last_ns,
                               .kernel_chain = chain_of(parts, key.kernel_chain),
                               .user_chain = chain_of(parts, key.user_chain)});
      });
  clear<stack_sum_key>(maps_.sums[which]);
  clear<uint64_t>(maps_.parts[which]);
  state_->sums[which] = state_->parts[which] = 0;
  uint64_t written = __atomic_load_n(&state_->written, __ATOMIC_RELAXED);
  window.written = written - std::exchange(written_, written);
  std::ranges::sort(window.rows, is_before);
  return window;
}

}  // namespace sonde
