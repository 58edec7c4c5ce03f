#include "bpf/traced_calls.h"

#include <algorithm>

namespace sonde {

Result<> check_limits(const TracedCalls& calls) {
  if (calls.cgroups.size() > TRACED_CGROUPS)
    return fail(ErrorCode::kUsage, "{} cgroups cannot be traced at once: the limit is {}",
                calls.cgroups.size(), TRACED_CGROUPS);
  auto is_beyond = [](int cpu) { return cpu < 0 || cpu >= TRACED_CPUS; };
  if (auto at = std::ranges::find_if(calls.cpus, is_beyond); at != calls.cpus.end())
    return fail(ErrorCode::kUsage, "CPU {} cannot be traced: only CPUs below {} can", *at,
                TRACED_CPUS);
  return {};
}

}  // namespace sonde
