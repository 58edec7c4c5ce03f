#include "sched/wall_clock_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace sonde {

std::vector<TaskLife> lives_of(const std::vector<SchedSum>& sums, bool by_name) {
  std::vector<TaskLife> lives;
  std::map<std::string, size_t> places;
  for (const SchedSum& sum : sums) {
    std::array<uint64_t, 4> phases = {sum.running_ns, sum.runnable_ns, sum.sleeping_ns,
                                      sum.blocked_ns};
    auto [place, is_new] =
        by_name ? places.try_emplace(sum.comm, lives.size()) : std::pair(places.end(), true);
    if (is_new) {
      lives.push_back({.tid = sum.tid, .name = sum.comm, .phases_ns = phases});
      continue;
    }
    TaskLife& life = lives[place->second];
    ++life.merged;
    for (size_t i = 0; i < phases.size(); ++i) life.phases_ns[i] += phases[i];
  }
  std::ranges::sort(lives, [](const TaskLife& a, const TaskLife& b) {
    if (a.phases_ns[0] != b.phases_ns[0]) return a.phases_ns[0] > b.phases_ns[0];
    return std::tie(a.name, a.tid) < std::tie(b.name, b.tid);
  });
  return lives;
}

std::array<uint64_t, 4> shares_of_1000(const std::array<uint64_t, 4>& parts) {
  constexpr uint64_t kWhole = 1000;
  uint64_t total = std::accumulate(parts.begin(), parts.end(), uint64_t{0});
  std::array<uint64_t, 4> shares = {};
  if (total == 0) return shares;
  std::array<uint64_t, 4> rests = {};
  uint64_t given = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    auto scaled = static_cast<unsigned __int128>(parts[i]) * kWhole;
    shares[i] = static_cast<uint64_t>(scaled / total);
    rests[i] = static_cast<uint64_t>(scaled % total);
    given += shares[i];
  }
  for (; given < kWhole; ++given) {
    auto most = std::ranges::max_element(rests);
    ++shares[static_cast<size_t>(most - rests.begin())];
    *most = 0;
  }
  return shares;
}

void write_wall_clock(Sink& out, const std::vector<TaskLife>& lives) {
  constexpr double kNsPerMs = 1e6;
  constexpr size_t kWidth = 83;
  out.put('\n');
  out.print("  {:<24}|{:^15}|{:^9}|{:^10}|{:^10}|{:^9}|\n", "Task", "Life ms", "On CPU", "Runnable",
            "Sleeping", "Blocked");
  out.print(" {}\n", std::string(kWidth, '-'));
  for (const TaskLife& life : lives) {
    std::string name = life.merged > 1 ? fmt::format("{}:({})", life.name, life.merged)
                                       : fmt::format("{}:{}", life.name, life.tid);
    auto share = [shares = shares_of_1000(life.phases_ns)](size_t i) {
      return fmt::format("{}.{} %", shares.at(i) / 10, shares.at(i) % 10);
    };
    out.print("  {:<24}|{:>14.3f} |{:>8} |{:>9} |{:>9} |{:>8} |\n", name,
              static_cast<double>(life.total_ns()) / kNsPerMs, share(0), share(1), share(2),
              share(3));
  }
  out.put('\n');
}

}  // namespace sonde
