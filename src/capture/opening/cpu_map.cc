#include "capture/opening/cpu_map.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "event/pmu/pmu.h"

namespace sonde {

Result<std::vector<int>> online_cpus() {
  std::string text = TRY(read_file("/sys/devices/system/cpu/online"));
  std::optional<std::vector<int>> cpus = parse_cpu_list(trim(text));
  if (!cpus || cpus->empty())
    return fail(ErrorCode::kCorrupt,
                "/sys/devices/system/cpu/online does not hold a list of CPUs: {}", trim(text));
  return *cpus;
}

uint32_t present_cpu_count() {
  Result<std::string> text = read_file("/sys/devices/system/cpu/present");
  if (!text) return 1;
  std::optional<std::vector<int>> cpus = parse_cpu_list(trim(*text));
  return cpus && !cpus->empty() ? static_cast<uint32_t>(cpus->back()) + 1 : 1;
}

Result<std::vector<int>> select_cpus(std::string_view list, const std::vector<int>& online) {
  std::optional<std::vector<int>> cpus = parse_cpu_list(list);
  if (!cpus || cpus->empty()) return fail(ErrorCode::kUsage, "Invalid CPU list (-C): {}", list);
  for (int cpu : *cpus)
    if (!std::ranges::binary_search(online, cpu))
      return fail(ErrorCode::kNotFound,
                  "CPU {} is not online: this machine has {} (/sys/devices/system/cpu/online)", cpu,
                  cpu_list_text(online));
  return *cpus;
}

std::string cpu_list_text(const std::vector<int>& cpus) {
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace sonde
