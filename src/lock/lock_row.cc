#include "lock/lock_row.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace sonde {
namespace {

// 2^64 divided by the golden ratio: the kernel's hash of 64 bits, include/linux/hash.h.
constexpr uint64_t kGolden = 0x61C8864680B583EB;
constexpr uint32_t kSlotBits = 12;

constexpr std::array kColumns{
    LockColumn{"acquired", "acquired", 10, false, [](const LockRow& row) { return row.acquired; }},
    LockColumn{"contended", "contended", 10, false,
               [](const LockRow& row) { return row.contended; }},
    LockColumn{"avg_wait", "avg wait", 12, true,
               [](const LockRow& row) { return row.average_ns(); }},
    LockColumn{"wait_total", "total wait", 12, true,
               [](const LockRow& row) { return row.total_ns; }},
    LockColumn{"wait_max", "max wait", 12, true, [](const LockRow& row) { return row.longest_ns; }},
    LockColumn{"wait_min", "min wait", 12, true,
               [](const LockRow& row) { return row.shortest_or_0(); }},
};
constexpr const LockColumn *kAcquired = &kColumns[0], *kContended = &kColumns[1],
                           *kAverage = &kColumns[2], *kTotal = &kColumns[3], *kMax = &kColumns[4],
                           *kMin = &kColumns[5];

uint64_t slot_of(uint64_t key) {
  return key * kGolden >> (64 - kSlotBits);
}

}  // namespace

void LockRow::add_wait(uint64_t wait_ns) {
  total_ns += wait_ns;
  longest_ns = std::max(longest_ns, wait_ns);
  shortest_ns = std::min(shortest_ns, wait_ns);
}

void LockRow::add(const LockRow& other) {
  waits_are_contended = true;
  acquired += other.acquired;
  contended += other.contended;
  total_ns += other.total_ns;
  longest_ns = std::max(longest_ns, other.longest_ns);
  shortest_ns = std::min(shortest_ns, other.shortest_ns);
  is_broken |= other.is_broken;
}

LockColumns report_columns() {
  return {kAcquired, kContended, kAverage, kTotal, kMax, kMin};
}
LockColumns contention_columns() {
  return {kContended, kTotal, kMax, kMin, kAverage};
}

Result<LockColumns> choose_lock_columns(std::string_view names, const LockColumns& known) {
  LockColumns chosen;
  for (std::string_view raw : split(names, ',')) {
    std::string_view name = trim(raw);
    if (name.empty()) continue;
    auto found = std::ranges::find(known, name, &LockColumn::name);
    if (found == known.end())
      return fail(ErrorCode::kUsage, "Error: Unknown output field: {}", name);
    chosen.push_back(*found);
  }
  return chosen;
}

void show_lock_key(LockColumns& columns, const LockColumn* key) {
  if (std::ranges::find(columns, key) == columns.end()) columns.push_back(key);
}

Result<const LockColumn*> choose_lock_key(std::string_view name, const LockColumns& known) {
  auto found = std::ranges::find(known, name, &LockColumn::name);
  if (found == known.end()) return fail(ErrorCode::kUsage, "Error: Unknown compare key: {}", name);
  return *found;
}

void sort_lock_rows(std::vector<LockRow>& rows, const LockColumn& key) {
  std::ranges::stable_sort(
      rows, [&](const LockRow& a, const LockRow& b) { return key.value(a) > key.value(b); });
}

void combine_lock_rows(std::vector<LockRow>& rows) {
  std::map<std::string, size_t, std::less<>> by_name;
  std::vector<LockRow> combined;
  for (LockRow& row : rows) {
    auto [found, is_new] = by_name.try_emplace(row.name, combined.size());
    if (is_new)
      combined.push_back(std::move(row));
    else
      combined[found->second].add(row);
  }
  rows = std::move(combined);
}

void to_perf_order(std::vector<LockRow>& rows) {
  std::ranges::reverse(rows);
  std::ranges::stable_sort(
      rows, [](const LockRow& a, const LockRow& b) { return slot_of(a.key) < slot_of(b.key); });
}

uint64_t add_to_caller_key(uint64_t key, uint64_t address) {
  return key ^ static_cast<uint32_t>(address * kGolden);
}

}  // namespace sonde
