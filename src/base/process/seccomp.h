// Whether a seccomp filter stands between this process and the kernel's observability: container
// engines and service managers forbid perf_event_open(2) and bpf(2) by default, with an errno that
// looks like missing privilege. No setting of the kernel and no capability inside helps then.
//
// The kernel itself is asked: a call that it refuses for its arguments, before it looks at anything
// else, is refused for another reason if it never got there.
#pragma once

#include <string>

#include "base/sys.h"

namespace sonde {

/// A fake `sys` is in no sandbox.
[[nodiscard]] bool seccomp_refuses_events(Sys& sys);
/// For processes with the capabilities that bpf(2) needs: older kernels look at those first.
[[nodiscard]] bool seccomp_refuses_bpf(Sys& sys);

/// "a seccomp filter keeps this process from perf_event_open(2), as the default profiles of
/// containers do; …": the cause, and what would help. `call` is the call's name.
[[nodiscard]] std::string seccomp_advice(const char* call);

}  // namespace sonde
