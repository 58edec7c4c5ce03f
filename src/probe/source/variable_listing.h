// -V: the variables that a probe could record at a place.
//
//   Available variables at leaf
//           @<leaf+0>
//                   int     k
//                   struct node*    n
#pragma once

#include <string>

#include "base/error.h"
#include "probe/name_filter.h"
#include "probe/requested_probe.h"
#include "probe/source/probed_code.h"

namespace sonde {

/// Sorted by type; the filter applies to the variables' names. Of a function of the kernel without
/// debug information the parameters, from BTF. Errors as plan_probes().
[[nodiscard]] Result<std::string> list_variables(const RequestedProbe& request,
                                                 const ProbedCode& code, const PlanOptions& options,
                                                 const NameFilter& filter);

}  // namespace sonde
