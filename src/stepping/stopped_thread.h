// What ptrace and /proc say about a thread that this process traces and that stands still.
#pragma once

#ifdef __x86_64__

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sonde {

/// A word of its `struct user` (<sys/user.h>), at an offset in bytes; all ones if it cannot be
/// read.
uint64_t user_word(pid_t tid, size_t offset);
/// The address of its next instruction.
uint64_t ip_of(pid_t tid);
/// Of the signal that it stopped for; none if it stopped for another reason.
std::optional<siginfo_t> signal_info(pid_t tid);
/// Empty if the thread is gone.
std::string comm_of(pid_t tid);
/// A number of /proc/TID/status, such as "Tgid" or "PPid"; 0 if the thread is gone.
pid_t status_number(pid_t tid, std::string_view field);
/// Whether a SIGTRAP has been sent to it that it has not taken yet.
bool has_pending_trap(pid_t tid);
/// Whether all threads of a process stop for the signal.
bool is_group_stop(int signal);

/// Hardware breakpoints, where the thread stops when it runs, at most four; none: removes them.
void set_breakpoints(pid_t tid, std::span<const uint64_t> addresses);

}  // namespace sonde

#endif
