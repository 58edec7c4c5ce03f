// PCIe root ports that can be measured: `stat --iostat`, `iostat`.
//
// On Intel servers each stack of the integrated I/O has a PMU, uncore_iio_N, and a root port per
// die. The kernel shows which in uncore_iio_N/dieM, as "0000:3a", domain and bus
// (Documentation/ABI/testing/sysfs-devices-mapping). Four events per PMU count the traffic in units
// of four bytes, on the die's CPU of the PMU's cpumask.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct RootPort {
  uint32_t pmu = 0, die = 0;
  uint32_t domain = 0, bus = 0;

  /// "0000:3a"
  [[nodiscard]] std::string name() const { return fmt::format("{:04x}:{:02x}", domain, bus); }
  auto operator<=>(const RootPort&) const = default;
};

/// By PMU, then die. Fails (kBadEvent, perf's status) if there are none. `devices` has an entry per
/// PMU.
Result<std::vector<RootPort>> read_root_ports(const std::string& devices);

/// Whether this is a list of root ports: "0000:3a,0:5d".
bool names_root_ports(std::string_view text);
/// Those that `names` lists, each once and in that order; all for "". Errors are kBadEvent.
Result<std::vector<RootPort>> choose_root_ports(const std::vector<RootPort>& ports,
                                                std::string_view names);

/// A line each: "S0-uncore_iio_2<0000:3a>", where S is the die.
std::string root_port_list(std::span<const RootPort> ports);

inline constexpr size_t kRootPortMetrics = 4;
/// "Inbound Read(MB)": devices read the host's memory.
std::string_view root_port_title(size_t metric);
/// The events to count, in the syntax of -e: a group for each PMU in ascending order.
std::string root_port_events(std::span<const RootPort> ports);

}  // namespace sonde
