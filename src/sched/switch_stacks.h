// Where tasks left their CPU: the call chains of sched_switch samples as a line shows them,
//
//   " do_wait <- kernel_wait4 <- do_syscall_64"
//
// leaf first, without the scheduler's own functions in front. A text is made once per chain.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "replay/session.h"
#include "sched/sched_event.h"

namespace sonde {

/// Frames that a session must keep at most so that `wanted` are left without the scheduler's own.
[[nodiscard]] constexpr uint32_t frames_to_keep(uint32_t wanted) {
  constexpr uint32_t kOfScheduler = 2;
  return wanted > UINT32_MAX - kOfScheduler ? UINT32_MAX : wanted + kOfScheduler;
}

class SwitchStacks {
 public:
  /// Whether sched_switch was recorded with call chains.
  [[nodiscard]] static bool are_in(const EventTable& events);

  /// `session` must outlive this, and its samples must have call chains.
  explicit SwitchStacks(const Session& session);

  /// Empty where the sample has no chain. Valid for the life of this object.
  [[nodiscard]] std::string_view text(const SchedEvent& event);

 private:
  [[nodiscard]] std::string spell(ChainId chain) const;

  const Session& session_;
  tsl::robin_map<const std::byte*, uint32_t> chains_;  // ChainId by the record's header
  std::vector<std::string> texts_;                     // by ChainId
  std::vector<char> is_spelled_;
};

}  // namespace sonde
