// What commands do while BPF programs or the kernel count for them: wait.
#pragma once

#include <functional>
#include <optional>

#include "base/error.h"
#include "capture/signal_queue.h"
#include "capture/workload.h"

namespace sonde {

/// Waits for the command and gives its exit status as a shell does, or, where there is none, until
/// it is interrupted. The command gets the signals that interrupt.
Result<int> wait_for_command(SignalQueue& signals, std::optional<Workload>& workload);

/// The same; meanwhile `turn` is called every `period_ms`.
Result<int> wait_for_command(SignalQueue& signals, std::optional<Workload>& workload, int period_ms,
                             const std::function<void()>& turn);

}  // namespace sonde
