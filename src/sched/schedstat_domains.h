// The scheduling domains that /proc/schedstat names, as the header of a recording keeps them
// (CPU_DOMAIN_INFO): perf's SCHEDSTAT_DOMAIN records say a domain's level only.
#pragma once

#include "perfdata/features.h"
#include "sched/schedstat.h"

namespace sonde {

[[nodiscard]] SchedDomains domains_of(const Schedstat& stat);

/// Gives domains of `stat` that have neither a name nor CPUs what `known` says of them.
void name_domains(Schedstat& stat, const SchedDomains& known);

}  // namespace sonde
