// Samples of the event futex-wait (record --futex): a thread slept in futex(2) or a relative of it,
// at the sample's call chain, for as many ns as the period says. A sample stands for all waits that
// agree in this and in the following raw data:
//
//   u64 address of the futex in its process; 0: one of several
//   u32 operation: FUTEX_WAIT … without flags │ u32 the thread that may have had the lock, or 0
//   u32 how they ended │ u64 number of waits │ u64 longest │ u64 shortest, ns
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "perfdata/header/event_table.h"

namespace sonde {

inline constexpr std::string_view kFutexEventName = "futex-wait";

enum class FutexOutcome : uint32_t {
  kWoken = 0,
  kTimedOut = 1,
  kInterrupted = 2,  // by a signal
  kLasts = 3,        // still waiting when its thread, or the recording, ended
};

struct FutexNote {
  uint64_t word = 0;
  uint32_t operation = 0, owner = 0;
  FutexOutcome outcome = FutexOutcome::kWoken;
  uint64_t count = 1, longest_ns = 0, shortest_ns = 0;
  bool operator==(const FutexNote&) const = default;
};

[[nodiscard]] inline bool is_futex_event(const abi::EventAttr& attr, std::string_view name) {
  return name == kFutexEventName && attr.type == abi::kTypeSoftware &&
         attr.config == abi::kSwBpfOutput;
}

inline void encode(const FutexNote& note, ByteBuilder& raw) {
  raw.u64(note.word);
  raw.u32(note.operation);
  raw.u32(note.owner);
  raw.u32(static_cast<uint32_t>(note.outcome));
  raw.u64(note.count);
  raw.u64(note.longest_ns);
  raw.u64(note.shortest_ns);
}

/// Returns nothing if the raw data is not a futex note.
[[nodiscard]] inline std::optional<FutexNote> decode_futex_note(Bytes raw, ByteOrder order) {
  ByteCursor in(raw, order);
  FutexNote note;
  note.word = in.u64();
  note.operation = in.u32();
  note.owner = in.u32();
  uint32_t outcome = in.u32();
  note.count = in.u64();
  note.longest_ns = in.u64();
  note.shortest_ns = in.u64();
  if (!in.ok() || in.left() != 0 || outcome > static_cast<uint32_t>(FutexOutcome::kLasts))
    return std::nullopt;
  note.outcome = static_cast<FutexOutcome>(outcome);
  return note;
}

}  // namespace sonde
