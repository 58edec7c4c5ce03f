// `kwork … -b`: the kernel's work measured by BPF programs, without a recording.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "cmd/cmd_kwork.h"

namespace sonde {

/// -b, and the command behind it.
struct KworkLive {
  bool use_bpf = false;

  void declare(FlagTable& flags);
  /// Of the whole machine, while `command` runs or until it is interrupted: an analysis as that of
  /// a recording, for `write`. kUsage where an option is about recordings alone.
  Result<int> measure(const KworkRequest& request, const KworkChoice& choice,
                      const WorkOptions& options, const std::vector<std::string>& command, Env& env,
                      const std::function<void(const WorkAnalysis&)>& write) const;
  /// kUsage where there is a command without -b.
  [[nodiscard]] Result<> check(const Arguments& arguments) const;
};

}  // namespace sonde
