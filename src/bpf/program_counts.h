// ProgramCounts: any events, counted while other BPF programs run (`stat -b ID`): the CPUs'
// counters are read at each entry and exit of these programs.
//
//   ProgramCounts counts = TRY(ProgramCounts::open({42}, maps));
//   counts.set_enabled(true);
//   std::vector<CpuCount> by_cpu = counts.by_cpu(0);   // the first event
//
// The counters must be enabled; the maps that hold them (bpf/shared_counters.h), one per event, may
// be closed afterwards. The kernel must have fentry probes
// (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS), and the programs must have type information (BTF).
// Nothing remains when the object or the process is gone.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "bpf/cpu_counters.h"

namespace sonde {

class ProgramCounts {
 public:
  static constexpr size_t kMaxEvents = 64;

  /// Errors name the program that does not exist or cannot be watched, and why.
  static Result<ProgramCounts> open(const std::vector<uint32_t>& program_ids,
                                    std::span<const Fd> counter_maps);
  ProgramCounts(ProgramCounts&&) noexcept;
  ProgramCounts& operator=(ProgramCounts&&) noexcept;
  ~ProgramCounts();

  void set_enabled(bool enabled);
  /// Counts so far, by CPU, summed over all programs.
  [[nodiscard]] std::vector<CpuCount> by_cpu(uint32_t event) const;

 private:
  struct Watched;
  explicit ProgramCounts(std::vector<std::unique_ptr<Watched>> watched);
  std::vector<std::unique_ptr<Watched>> watched_;
};

}  // namespace sonde
