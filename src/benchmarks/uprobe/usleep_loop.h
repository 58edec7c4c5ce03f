// UsleepLoop: calls of the C library's usleep(1000), without a probe at that function, or with a
// BPF program at it. With one, the calls are first made without, for the difference.
#pragma once

#include <optional>

#include "benchmarks/benchmark.h"
#include "bpf/function_probe.h"

namespace sonde {

struct UsleepProbe {
  FunctionProbe::Program program;
  bool at_return;
};

std::unique_ptr<Benchmark> make_usleep_loop(std::optional<UsleepProbe> probe);

}  // namespace sonde
