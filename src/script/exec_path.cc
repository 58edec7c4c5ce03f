#include "script/exec_path.h"

#include <array>
#include <filesystem>

namespace sonde {

std::string find_exec_path(const Env& env) {
  constexpr std::array kUsualPaths = {"/usr/lib/perf-core", "/usr/libexec/perf-core"};
  if (auto chosen = env.variable("PERF_EXEC_PATH")) return *chosen;
  std::error_code ignored;
  for (const char* path : kUsualPaths)
    if (std::filesystem::is_directory(path, ignored)) return path;
  return kUsualPaths.back();
}

}  // namespace sonde
