// Which files may contain a USDT probe when the user gives only provider and event: those that the
// build-id cache knows for it, the program about to run and its libraries, and what the recorded
// processes have mapped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

struct UsdtScope {
  std::string buildid_dir = {};
  std::string program = {};            // argv[0] of the command; looked up in `path`
  std::string path = {};               // $PATH
  std::vector<std::string> pids = {};  // as given with -p
};

/// Paths, each once, in that order. The caller must check whether they actually have the probe.
[[nodiscard]] std::vector<std::string> usdt_objects(std::string_view provider,
                                                    std::string_view name, const UsdtScope& scope);

/// The program, its libraries, and what the processes have mapped.
[[nodiscard]] std::vector<std::string> program_objects(const UsdtScope& scope);

}  // namespace sonde
