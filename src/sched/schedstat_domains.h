// The scheduling domains that /proc/schedstat names, as a recording's header keeps them
// (CPU_DOMAIN_INFO): perf's SCHEDSTAT_DOMAIN records have only a domain's level.
#pragma once

#include "perfdata/header/features.h"
#include "sched/schedstat.h"

namespace sonde {

[[nodiscard]] SchedDomains domains_of(const Schedstat& stat);

/// Fills in the domains of `stat` that have neither a name nor CPUs with what `known` says of them.
void name_domains(Schedstat& stat, const SchedDomains& known);

}  // namespace sonde
