#include "sched/schedstat_domains.h"

#include <algorithm>
#include <map>

namespace sonde {

SchedDomains domains_of(const Schedstat& stat) {
  SchedDomains all{.version = stat.version, .most_levels = 0, .cpus = {}};
  for (const SchedstatCpu& cpu : stat.cpus) {
    if (cpu.domains.empty()) continue;
    SchedDomains::Cpu& its = all.cpus.emplace_back();
    its.cpu = cpu.cpu;
    for (const SchedstatDomain& domain : cpu.domains)
      its.domains.push_back({domain.level, domain.name, domain.mask, domain.cpus});
    all.most_levels = std::max(all.most_levels, cpu.domains.back().level + 1);
  }
  return all;
}

void name_domains(Schedstat& stat, const SchedDomains& known) {
  std::map<std::pair<uint32_t, uint32_t>, const SchedDomains::Domain*> by_place;
  for (const SchedDomains::Cpu& cpu : known.cpus)
    for (const SchedDomains::Domain& domain : cpu.domains)
      by_place.try_emplace({cpu.cpu, domain.level}, &domain);
  for (SchedstatCpu& cpu : stat.cpus)
    for (SchedstatDomain& domain : cpu.domains) {
      auto found = by_place.find({cpu.cpu, domain.level});
      if (found == by_place.end() || !domain.name.empty() || !domain.cpus.empty()) continue;
      domain.name = found->second->name;
      domain.cpus = found->second->cpus;
      domain.mask = found->second->mask;
    }
}

}  // namespace sonde
