#include "cli/config_files.h"

namespace sonde {

std::vector<std::string> config_files(const Env& env) {
  if (auto only = env.variable("PERF_CONFIG")) return {*only};
  std::vector<std::string> files;
  if (!env.variable("PERF_CONFIG_NOSYSTEM")) files.emplace_back("/etc/perfconfig");
  auto home = env.variable("HOME");
  if (home && !env.variable("PERF_CONFIG_NOGLOBAL")) files.push_back(*home + "/.perfconfig");
  return files;
}

}  // namespace sonde
