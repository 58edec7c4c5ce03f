// uprobe baseline: usleep(1000) without a probe.
#include "benchmarks/uprobe/usleep_loop.h"

namespace sonde {

std::unique_ptr<Benchmark> make_uprobe_baseline() {
  return make_usleep_loop(std::nullopt);
}

}  // namespace sonde
