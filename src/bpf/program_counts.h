// ProgramCounts: any events, counted while other BPF programs run (`stat -b ID`): the CPUs'
// counters are read at each entry and exit of these programs.
//
//   ProgramCounts counts = TRY(ProgramCounts::open({42}, 1, counters));
//   counts.set_enabled(true);
//   std::vector<CpuCount> by_cpu = counts.by_cpu(0);   // the first event
//
// The counters belong to the caller, and are switched on. The kernel must have fentry probes
// (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS), and the programs type information (BTF). Nothing stays
// behind when the object goes, or the process.
#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "bpf/cpu_counters.h"

namespace sonde {

class ProgramCounts {
 public:
  static constexpr size_t kMostEvents = 64;

  /// Errors name the program that is not there, or that cannot be watched, and why.
  static Result<ProgramCounts> open(const std::vector<uint32_t>& program_ids, size_t events,
                                    const std::vector<CpuCounter>& counters);
  ProgramCounts(ProgramCounts&&) noexcept;
  ProgramCounts& operator=(ProgramCounts&&) noexcept;
  ~ProgramCounts();

  void set_enabled(bool enabled);
  /// So far, by CPU, of all programs together.
  [[nodiscard]] std::vector<CpuCount> by_cpu(uint32_t event) const;

 private:
  struct Watched;
  explicit ProgramCounts(std::vector<std::unique_ptr<Watched>> watched);
  std::vector<std::unique_ptr<Watched>> watched_;
};

}  // namespace sonde
