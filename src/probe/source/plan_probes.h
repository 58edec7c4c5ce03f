// plan_probes: from a probe as the user defines it to the probes that the kernel can make: one for
// each place that the definition selects, with the fetch argument for each variable.
//
//   "malloc size"   p:probe_libc/malloc /usr/lib/libc.so.6:0x9a0e0 size=%di:x64
//
// Places and variables come from debug information; functions without it from symbol tables; of the
// kernel's functions without it the parameters come from BTF.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "probe/name_filter.h"
#include "probe/probe_plan.h"
#include "probe/requested_probe.h"
#include "probe/source/probed_code.h"

namespace sonde {

/// In the order of the code's units and addresses; never empty. kNotFound: no such function, line
/// or variable; kUnsupported: there is one, but nothing can be recorded there. Probes of USDT notes
/// are not planned here (find_sdt_probes).
[[nodiscard]] Result<std::vector<ProbePlan>> plan_probes(const RequestedProbe& request,
                                                         const ProbedCode& code,
                                                         const PlanOptions& options);

}  // namespace sonde
