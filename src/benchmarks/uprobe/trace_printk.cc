// uprobe trace_printk: a BPF program that prints to the trace buffer, at the entry of usleep().
#include "benchmarks/uprobe/usleep_loop.h"

namespace sonde {

std::unique_ptr<Benchmark> make_uprobe_trace_printk() {
  return make_usleep_loop(UsleepProbe{FunctionProbe::Program::kTracePrintk, false});
}

}  // namespace sonde
