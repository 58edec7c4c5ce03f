// Samples of the event offcpu-time (record --off-cpu): a thread left its CPU voluntarily, for as
// many ns as the period says. perf's recordings have the event too. Sonde's samples carry more in
// their raw data:
//
//   u32 state │ u64 number of waits that the sample stands for
//   [ │ u64 number of the waker's sample ]
//
// A wait that went on after the thread was woken, because it did not get a CPU yet, has a second
// sample for that part: state runnable, number 0.
//
// With --off-cpu-waker there is another event, offcpu-waker: one sample for each offcpu-time sample
// whose waker is known. It describes the waker: its thread, its call chain when it woke the other
// thread, and, as the period, the ns that the other thread had waited. Raw data:
//
//   u32 thread that waited │ u64 number by which the wait's sample refers to this one; from 1 on
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "perfdata/header/event_table.h"

namespace sonde {

inline constexpr std::string_view kOffCpuEventName = "offcpu-time";
inline constexpr std::string_view kWakerEventName = "offcpu-waker";

enum class OffCpuState : uint32_t { kSleeps = 0, kBlocked = 1, kWaitsForIo = 2, kRunnable = 3 };

struct OffCpuNote {
  OffCpuState state = OffCpuState::kSleeps;
  uint64_t count = 1;
  uint64_t waker = 0;  // number of its sample; 0: none
};

struct WakerNote {
  uint32_t tid = 0;  // of the thread that waited
  uint64_t number = 0;
};

[[nodiscard]] inline bool is_off_cpu_event(const abi::EventAttr& attr, std::string_view name) {
  return name == kOffCpuEventName && attr.type == abi::kTypeSoftware &&
         attr.config == abi::kSwBpfOutput;
}

[[nodiscard]] inline bool is_waker_event(const abi::EventAttr& attr, std::string_view name) {
  return name == kWakerEventName && attr.type == abi::kTypeSoftware &&
         attr.config == abi::kSwBpfOutput;
}

inline void encode(const OffCpuNote& note, ByteBuilder& raw) {
  raw.u32(static_cast<uint32_t>(note.state));
  raw.u64(note.count);
  if (note.waker != 0) raw.u64(note.waker);
}

inline void encode(const WakerNote& note, ByteBuilder& raw) {
  raw.u32(note.tid);
  raw.u64(note.number);
}

/// Returns nothing if the raw data is not an off-CPU note.
[[nodiscard]] inline std::optional<OffCpuNote> decode_off_cpu_note(Bytes raw, ByteOrder order) {
  ByteCursor in(raw, order);
  OffCpuNote note;
  uint32_t state = in.u32();
  note.count = in.u64();
  if (in.left() > 0) note.waker = in.u64();
  if (!in.ok() || in.left() != 0 || state > static_cast<uint32_t>(OffCpuState::kRunnable))
    return std::nullopt;
  note.state = static_cast<OffCpuState>(state);
  return note;
}

[[nodiscard]] inline std::optional<WakerNote> decode_waker_note(Bytes raw, ByteOrder order) {
  ByteCursor in(raw, order);
  WakerNote note;
  note.tid = in.u32();
  note.number = in.u64();
  if (!in.ok() || in.left() != 0) return std::nullopt;
  return note;
}

}  // namespace sonde
