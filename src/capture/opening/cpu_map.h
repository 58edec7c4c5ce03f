// CPUs of this machine, as sets of numbers and as kernel CPU lists ("0-3,8").
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace sonde {

/// CPUs that are online (/sys/devices/system/cpu/online).
Result<std::vector<int>> online_cpus();
/// How many CPUs the machine can have (…/present), at least 1.
uint32_t present_cpu_count();

/// The CPUs of `-C LIST`. Errors: kUsage if it is not a list, kNotFound for a CPU that isn't
/// online.
Result<std::vector<int>> select_cpus(std::string_view list, const std::vector<int>& online);

/// {0,1,2,3,8} as "0-3,8"; the numbers must be ascending.
std::string cpu_list_text(const std::vector<int>& cpus);

}  // namespace sonde
