#include "bpf/traced_calls.h"

#include <algorithm>

namespace sonde {

Result<> check_limits(const TracedCalls& calls) {
  if (calls.cgroups.size() > TRACED_CGROUPS)
    return fail(ErrorCode::kUsage, "{} cgroups are more than can be traced at a time: {}",
                calls.cgroups.size(), TRACED_CGROUPS);
  auto is_beyond = [](int cpu) { return cpu < 0 || cpu >= TRACED_CPUS; };
  if (auto at = std::ranges::find_if(calls.cpus, is_beyond); at != calls.cpus.end())
    return fail(ErrorCode::kUsage, "no CPU {} can be traced: they are numbered below {}", *at,
                TRACED_CPUS);
  return {};
}

}  // namespace sonde
