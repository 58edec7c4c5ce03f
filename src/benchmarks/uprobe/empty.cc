// uprobe empty: a BPF program that does nothing, at the entry of usleep().
#include "benchmarks/uprobe/usleep_loop.h"

namespace sonde {

std::unique_ptr<Benchmark> make_uprobe_empty() {
  return make_usleep_loop(UsleepProbe{FunctionProbe::Program::kEmpty, false});
}

}  // namespace sonde
