// Convergence of numa mem: whether the threads of each process have come together on one memory
// node, which is what the kernel's NUMA balancing works towards.
//
//   TaskPlace places[] = {{10, 0}, {12, 0}, {9, 1}, {9, 1}};   // two processes of two threads
//   Convergence now = Convergence::of(places, 2, 2);
//   now.has_converged()                      →  true
//   now.text()                               →  "  2/1   2/1  [ 0/2 ] l:9-12 (  3) [25.0%]"
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace sonde {

/// What a task shows of itself while it runs.
struct TaskPlace {
  uint64_t loops = 0;
  int node = -1;  // on which it was seen last; -1: not yet
};

class Convergence {
 public:
  /// `places`: process by process, `threads` of each. Nodes are numbered from 0, `nodes` of them;
  /// places elsewhere are not counted.
  static Convergence of(std::span<const TaskPlace> places, size_t threads, size_t nodes);

  /// Whether all tasks have been seen, and the threads of each process on one node.
  [[nodiscard]] bool has_converged() const;
  /// Tasks and processes on each node; how many processes are on several nodes, of the groups that
  /// nodes divide the processes into; the loops that tasks have made, and how far they differ.
  [[nodiscard]] std::string text() const;

 private:
  struct Node {
    size_t tasks = 0, processes = 0;
  };
  std::vector<Node> nodes_;
  size_t processes_ = 0, seen_ = 0, tasks_ = 0;
  size_t fewest_nodes_ = 0, most_nodes_ = 0;  // that a process is on
  uint64_t fewest_loops_ = 0, most_loops_ = 0;
};

/// The node of a CPU, by sysfs; 0 if it does not say.
[[nodiscard]] int node_of_cpu(int cpu);

}  // namespace sonde
