// Where samples of an event were taken: their call chains as shown in a line,
//
//   " do_wait <- kernel_wait4 <- do_syscall_64"
//
// leaf first, without the functions that all of them contain. Each chain's text is built once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "replay/session.h"

namespace sonde {

/// Whose stacks to show, and which functions to leave out. What it points to outlives its users.
struct StackSubject {
  std::span<const std::string_view> events;
  std::span<const std::string_view> left_out;

  [[nodiscard]] bool has_event(std::string_view name) const;
  [[nodiscard]] bool leaves_out(std::string_view function) const;
};
/// sched_switch: where tasks left their CPU, without the scheduler's own functions.
[[nodiscard]] StackSubject switch_stacks();

/// The maximum number of frames a session must keep so that `wanted` remain without those.
[[nodiscard]] constexpr uint32_t frames_to_keep(uint32_t wanted) {
  constexpr uint32_t kLeftOut = 2;
  return wanted > UINT32_MAX - kLeftOut ? UINT32_MAX : wanted + kLeftOut;
}

class EventStacks {
 public:
  /// Whether one of the events was recorded with call chains.
  [[nodiscard]] static bool are_in(const EventTable& events, const StackSubject& subject);

  /// `session` must outlive this, and its samples must have call chains.
  EventStacks(const Session& session, const StackSubject& subject);

  /// The text for the sample whose record begins there; empty if it has no chain. Valid for the
  /// life of this object.
  [[nodiscard]] std::string_view text(const std::byte* record);

 private:
  [[nodiscard]] std::string spell(ChainId chain) const;

  const Session& session_;
  StackSubject subject_;
  tsl::robin_map<const std::byte*, uint32_t> chains_;  // ChainId by the record's header
  std::vector<std::string> texts_;                     // by ChainId
  std::vector<char> is_spelled_;
};

}  // namespace sonde
