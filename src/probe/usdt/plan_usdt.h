// Plans for USDT probes, and for probes that the build-id cache keeps: `%sdt_python:line`,
// `%libc:*`, `%mine`.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "probe/probe_plan.h"
#include "probe/requested_probe.h"

namespace sonde {

struct UsdtSearch {
  std::string object = {};       // -x: only this file
  std::string file = {};         // where we can read it, if not at `object`
  std::string buildid_dir = {};  // for names without -x, and for cached probes
};

/// kNotFound: no such probe there, with the names that are most similar.
[[nodiscard]] Result<std::vector<ProbePlan>> plan_usdt(const RequestedProbe& request,
                                                       const UsdtSearch& search);

}  // namespace sonde
