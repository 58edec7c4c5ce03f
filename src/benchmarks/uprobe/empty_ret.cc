// uprobe empty_ret: a BPF program that does nothing, at the return of usleep().
#include "benchmarks/uprobe/usleep_loop.h"

namespace sonde {

std::unique_ptr<Benchmark> make_uprobe_empty_ret() {
  return make_usleep_loop(UsleepProbe{FunctionProbe::Program::kEmpty, true});
}

}  // namespace sonde
