// /proc/schedstat: what the scheduler counted on each CPU and in each of its scheduling domains
// since boot (the kernel's Documentation/scheduler/sched-stats.rst), in versions 15 to 17.
//
//   version 17
//   timestamp 4295107465                      jiffies
//   cpu0 0 0 402267 147161 …                  nine counters
//   domain0 SMT 00000000,00000003 136 131 …   its name (17), its CPUs as a mask, counters
//
// Counters only grow, so what matters are differences between two snapshots.
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
  std::string name;       // "MC"; empty before version 17, which introduced names
  std::string cpus;       // "0,64", "0-3"
  std::string mask = {};  // "00000000,00000003"; empty if a recording has none
  std::vector<uint64_t> values = {};
  friend bool operator==(const SchedstatDomain&, const SchedstatDomain&) = default;
};
struct SchedstatCpu {
  uint32_t cpu = 0;
  std::vector<uint64_t> values;
  std::vector<SchedstatDomain> domains;
  friend bool operator==(const SchedstatCpu&, const SchedstatCpu&) = default;
};
/// The counters at one moment, or what was counted between two. CPUs and their domains are in order
/// of their numbers.
struct Schedstat {
  uint32_t version = 0;
  uint64_t jiffies = 0;
  std::vector<SchedstatCpu> cpus;
  friend bool operator==(const Schedstat&, const Schedstat&) = default;
};

inline constexpr uint32_t kFirstSchedstat = 15, kLastSchedstat = 17;
inline constexpr size_t kSchedstatCpuValues = 9;
/// The kernel counts these in 32 bits; they may have wrapped.
inline constexpr size_t kNarrowCpuValues = 6;
[[nodiscard]] size_t schedstat_domain_values(uint32_t version);

/// Fails with kUnsupported for other versions, with kCorrupt if a line has the wrong number of
/// counters.
Result<Schedstat> parse_schedstat(std::string_view text, std::string_view name);

/// What was counted from `before` to `after`, on the CPUs and in the domains that both have. Fails
/// with kFailed if their versions differ.
Result<Schedstat> schedstat_between(const Schedstat& before, const Schedstat& after);

/// The average CPU, without a number; its domains are those of the first CPU.
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
    kEvent,      // worth showing how often it happened
    kSuccesses,  // derived: attempts without the balanced and failed ones
    kPulled,     // tasks per success
  };
  std::string name, description;
  std::string_view category;  // that begins with it; empty: the previous one continues
  Kind kind = Kind::kSum;
  size_t index = 0;   // of its value; if derived, that of the attempts
  size_t gained = 0;  // kPulled: index of the pulled tasks
};
[[nodiscard]] std::vector<SchedstatDomainField> schedstat_domain_fields(uint32_t version);

}  // namespace sonde
