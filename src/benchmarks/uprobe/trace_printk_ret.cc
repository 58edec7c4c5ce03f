// uprobe trace_printk_ret: a BPF program that prints to the trace buffer, at the return of
// usleep().
#include "benchmarks/uprobe/usleep_loop.h"

namespace sonde {

std::unique_ptr<Benchmark> make_uprobe_trace_printk_ret() {
  return make_usleep_loop(UsleepProbe{FunctionProbe::Program::kTracePrintk, true});
}

}  // namespace sonde
