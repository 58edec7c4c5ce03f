#include "benchmarks/numa/convergence.h"

#include <unistd.h>

#include <algorithm>

namespace sonde {

Convergence Convergence::of(std::span<const TaskPlace> places, size_t threads, size_t nodes) {
  Convergence now;
  now.nodes_.resize(nodes);
  now.tasks_ = places.size();
  now.processes_ = threads > 0 ? places.size() / threads : 0;
  now.fewest_nodes_ = now.processes_ > 0 ? nodes : 0;
  for (size_t process = 0; process < now.processes_; ++process) {
    std::vector<bool> on(nodes);
    for (const TaskPlace& place : places.subspan(process * threads, threads)) {
      if (place.node < 0 || static_cast<size_t>(place.node) >= nodes) continue;
      auto node = static_cast<size_t>(place.node);
      ++now.seen_;
      ++now.nodes_[node].tasks;
      if (!on[node]) ++now.nodes_[node].processes;
      on[node] = true;
    }
    auto used = static_cast<size_t>(std::ranges::count(on, true));
    now.fewest_nodes_ = std::min(now.fewest_nodes_, used);
    now.most_nodes_ = std::max(now.most_nodes_, used);
  }
  if (places.empty()) return now;
  auto [fewest, most] = std::ranges::minmax(places, {}, &TaskPlace::loops);
  now.fewest_loops_ = fewest.loops;
  now.most_loops_ = most.loops;
  return now;
}

bool Convergence::has_converged() const {
  return seen_ == tasks_ && fewest_nodes_ == 1 && most_nodes_ == 1;
}

std::string Convergence::text() const {
  std::string text;
  size_t groups = 0;
  for (const Node& node : nodes_) {
    text += fmt::format(" {:>2}/{:<2}", node.tasks, node.processes);
    groups += node.processes;
  }
  text += fmt::format(" [{:>2}/{:<2}]", groups - std::min(groups, processes_), groups);
  if (!has_converged() && most_nodes_ > 0)
    text += fmt::format(" {{{}-{}}}", fewest_nodes_, most_nodes_);
  uint64_t apart = most_loops_ - fewest_loops_;
  double share =
      most_loops_ > 0 ? 100 * static_cast<double>(apart) / static_cast<double>(most_loops_) : 0;
  return text +
         fmt::format(" l:{}-{} ({:>3}) [{:4.1f}%]", fewest_loops_, most_loops_, apart, share);
}

int node_of_cpu(int cpu) {
  constexpr int kMaxNodes = 1024;
  std::string directory = fmt::format("/sys/devices/system/cpu/cpu{}/node", cpu);
  for (int node = 0; node < kMaxNodes; ++node)
    if (::access((directory + std::to_string(node)).c_str(), F_OK) == 0) return node;
  return 0;
}

}  // namespace sonde
