#include "profile/keys/wait_reason.h"

#include <array>
#include <utility>

namespace sonde {
namespace {

using enum WaitReason;

constexpr std::array<std::string_view, 10> kReasonNames = {
    "runnable", "I/O", "lock", "sleep", "poll", "data", "child", "signal", "blocked", "other"};

/// Substrings of kernel function names, and of C library names for when only its frames are
/// available. The first match wins: functions that begin a wait come before those that implement
/// it.
constexpr auto kParts = std::to_array<std::pair<std::string_view, WaitReason>>({
    {"futex", kLock},
    {"mutex", kLock},
    {"rwsem", kLock},
    {"percpu_down", kLock},
    {"__down", kLock},
    {"lll_lock", kLock},
    {"pthread_cond", kLock},
    {"flock_lock", kLock},
    {"nanosleep", kSleep},
    {"usleep", kSleep},
    {"msleep", kSleep},
    {"io_schedule", kIo},
    {"folio_wait", kIo},
    {"wait_on_page", kIo},
    {"wait_on_buffer", kIo},
    {"blk_", kIo},
    {"jbd2_", kIo},
    {"read_events", kIo},
    {"io_cqring_wait", kIo},
    {"ep_poll", kPoll},
    {"epoll_wait", kPoll},
    {"poll_schedule", kPoll},
    {"do_select", kPoll},
    {"do_poll", kPoll},
    {"pipe", kData},
    {"skb_", kData},
    {"sk_wait", kData},
    {"sock_", kData},
    {"inet_csk_", kData},
    {"unix_", kData},
    {"n_tty_", kData},
    {"eventfd_", kData},
    {"signalfd_", kData},
    {"inotify_read", kData},
    {"do_wait", kChild},
    {"wait4", kChild},
    {"sigtimedwait", kSignal},
    {"sigsuspend", kSignal},
    {"sys_pause", kSignal},
});

}  // namespace

std::string_view wait_reason_name(WaitReason reason) {
  return kReasonNames.at(static_cast<size_t>(reason));
}

std::optional<WaitReason> reason_in_function(std::string_view function) {
  for (const auto& [part, reason] : kParts)
    if (function.contains(part)) return reason;
  return std::nullopt;
}

WaitReason wait_reason(std::optional<OffCpuState> state, const FunctionAt& function_at) {
  // Further out, functions only match by accident.
  constexpr size_t kFrames = 12;
  if (state == OffCpuState::kRunnable) return kRunnable;
  if (state == OffCpuState::kWaitsForIo) return kIo;
  for (size_t i = 0; i < kFrames; ++i) {
    auto function = function_at(i);
    if (!function) break;
    if (auto reason = reason_in_function(*function)) return *reason;
  }
  return state == OffCpuState::kBlocked ? kBlocked : kOther;
}

}  // namespace sonde
