// /proc/schedstat: what the scheduler counted on each CPU and in each of its scheduling domains
// since the machine started (Documentation/scheduler/sched-stats.rst of the kernel), in versions
// 15 to 17.
//
//   version 17
//   timestamp 4295107465                      jiffies
//   cpu0 0 0 402267 147161 …                  nine counters
//   domain0 SMT 00000000,00000003 136 131 …   its name (17), its CPUs as a mask, counters
//
// Counters only grow, so what is of interest are differences between two moments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct SchedstatDomain {
  uint32_t level = 0;
  std::string name;       // "MC"; empty before version 17, which has none
  std::string cpus;       // "0,64", "0-3"
  std::string mask = {};  // "00000000,00000003"; empty where a recording does not say
  std::vector<uint64_t> values = {};
  friend bool operator==(const SchedstatDomain&, const SchedstatDomain&) = default;
};
struct SchedstatCpu {
  uint32_t cpu = 0;
  std::vector<uint64_t> values;
  std::vector<SchedstatDomain> domains;
  friend bool operator==(const SchedstatCpu&, const SchedstatCpu&) = default;
};
/// CPUs and their domains are in the order of their numbers.
/// The counters at a moment, or what was counted between two.
struct Schedstat {
  uint32_t version = 0;
  uint64_t jiffies = 0;
  std::vector<SchedstatCpu> cpus;
  friend bool operator==(const Schedstat&, const Schedstat&) = default;
};

inline constexpr uint32_t kFirstSchedstat = 15, kLastSchedstat = 17;
inline constexpr size_t kSchedstatCpuValues = 9;
/// Of these the kernel counts in 32 bits; they may have begun anew.
inline constexpr size_t kNarrowCpuValues = 6;
[[nodiscard]] size_t schedstat_domain_values(uint32_t version);

/// kUnsupported for other versions, kCorrupt where a line has another number of counters.
Result<Schedstat> parse_schedstat(std::string_view text, std::string_view name);

/// What was counted from `before` to `after`, on the CPUs and in the domains that both have.
/// kFailed where their versions differ.
Result<Schedstat> schedstat_between(const Schedstat& before, const Schedstat& after);

/// The average CPU, without a number; domains are those of the first CPU.
[[nodiscard]] SchedstatCpu schedstat_average(const Schedstat& counted);

// --- what the counters are

struct SchedstatCpuField {
  std::string_view name, description;
  int percent_of = -1;  // the field that it is a part of; -1: none
};
[[nodiscard]] std::span<const SchedstatCpuField> schedstat_cpu_fields();

struct SchedstatDomainField {
  enum class Kind : uint8_t {
    kSum,
    kEvent,      // worth saying how often it happened
    kSuccesses,  // made of others: attempts without the balanced and failed ones
    kPulled,     // tasks per success
  };
  std::string name, description;
  std::string_view category;  // which begins with it; empty: the one before goes on
  Kind kind = Kind::kSum;
  size_t index = 0;   // of its value; of what is made of others, that of the attempts
  size_t gained = 0;  // kPulled: index of the pulled tasks
};
[[nodiscard]] std::vector<SchedstatDomainField> schedstat_domain_fields(uint32_t version);

}  // namespace sonde
