// What a thread waits for, as the functions say in which it does, and what it said of itself: names
// of the kernel's functions that begin a wait. What is known by its state alone stays that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "perfdata/off_cpu_sample.h"

namespace sonde {

enum class WaitReason : uint8_t {
  kRunnable,  // it was woken, and has no CPU
  kIo,        // disks
  kLock,      // mutexes, semaphores, futexes
  kSleep,     // for a time
  kPoll,      // for any of several files
  kData,      // pipes, sockets, terminals
  kChild,     // for a process
  kSignal,
  kBlocked,  // uninterruptibly, for something else
  kOther,
};

/// "I/O", "lock" …
[[nodiscard]] std::string_view wait_reason_name(WaitReason reason);

/// What a function's name says; nothing for most of them.
[[nodiscard]] std::optional<WaitReason> reason_in_function(std::string_view function);

/// `function_at(i)`: the function i frames from the innermost one, empty where it has no name;
/// nothing behind the last one. The innermost that says something decides.
using FunctionAt = std::function<std::optional<std::string_view>(size_t)>;
[[nodiscard]] WaitReason wait_reason(std::optional<OffCpuState> state,
                                     const FunctionAt& function_at);

}  // namespace sonde
