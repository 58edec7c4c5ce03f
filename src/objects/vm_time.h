// `inject --vm-time-correlation`: the times that a trace of Intel PT took in guests, as the host's
// (pt/vm_time.h), in the recording's own file.
#pragma once

#include <string>
#include <string_view>

#include "base/env.h"
#include "base/error.h"
#include "pt/vm_time.h"

namespace sonde {

struct VmTimeOptions {
  bool dry_run = false;  // only say what is found
  pt::TscOffsets offsets;
};

/// "[dry-run] [OFFSET[:VMCS[,VMCS]…]]…": offsets of guests' time stamp counters, each for some
/// virtual machine control structures, or for all others.
Result<VmTimeOptions> parse_vm_time(std::string_view text);

/// Changes the file at `path`. What is found out about guests goes to `env.err`.
Result<> correct_vm_times(const std::string& path, const VmTimeOptions& options, bool force,
                          Env& env);

}  // namespace sonde
