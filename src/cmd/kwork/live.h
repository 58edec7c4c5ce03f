// `kwork … -b`: the kernel's work measured by BPF programs, without a recording.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "cmd/kwork/kwork.h"

namespace sonde {

/// -b, and the command after it.
struct KworkLive {
  bool use_bpf = false;

  void declare(FlagTable& flags);
  /// Measures the whole machine while `command` runs or until interrupted, and passes `write` an
  /// analysis like that of a recording. kUsage if an option applies to recordings only.
  Result<int> measure(const KworkRequest& request, const KworkFilter& choice,
                      const WorkOptions& options, const std::vector<std::string>& command, Env& env,
                      const std::function<void(const WorkAnalysis&)>& write) const;
  /// kUsage if there is a command without -b.
  [[nodiscard]] Result<> check(const Arguments& arguments) const;
};

}  // namespace sonde
