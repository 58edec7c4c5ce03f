// The raw data of samples that tell of events in an instruction trace (perf-intel-pt(1), "ptwrite",
// "power" events), in perf's layout: three little-endian words behind the sample's own size word.
// Of these events the trace's samples and those in recordings of `perf inject --itrace` are alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace sonde {

/// The `type` of their attrs; `config` is a TraceEventKind.
inline constexpr uint32_t kTypeTraceEvent = 0x80000000;

enum class TraceEventKind : uint8_t {
  kPtWrite,
  kMwait,
  kPwre,
  kExStop,
  kPwrx,
  kCbr,
  kPsb,
  kEvt,
  kInterruptFlag,
};
inline constexpr size_t kTraceEventKinds = 9;

/// flags: PTWRITE and EXSTOP: 1 if the trace itself tells the address; CBR: the ratio, and 16 bits
/// higher the largest one without turbo. value: the packet's payload; CBR: the frequency in kHz;
/// PSB: its offset in the trace. Event trace: EVT's flags are the type, 0x80 if the trace tells the
/// address, 8 bits higher the vector and 16 the number of its data, which follow (TraceEventDatum);
/// of the interrupt flag: its new value, 2 if a branch changes it, and where that goes.
struct TraceEventData {
  uint32_t flags = 0;
  uint64_t value = 0;
};

struct TraceEventDatum {
  uint8_t type = 0;
  uint64_t payload = 0;
};
inline constexpr size_t kTraceEventDatumSize = 16;

/// Behind the data of an EVT.
inline void append_trace_event_datum(const TraceEventDatum& datum, ByteBuilder& out) {
  out.u64(datum.type);
  out.u64(datum.payload);
}
/// Nothing if it isn't there.
[[nodiscard]] inline std::optional<TraceEventDatum> trace_event_datum_of(Bytes raw, size_t index,
                                                                         ByteOrder order) {
  constexpr size_t kFlags = 4;
  if (raw.size() < kFlags || index >= (raw.size() - kFlags) / kTraceEventDatumSize)
    return std::nullopt;
  const std::byte* at = raw.data() + kFlags + index * kTraceEventDatumSize;
  return TraceEventDatum{std::to_integer<uint8_t>(at[0]), load<uint64_t>(at + 8, order)};
}

[[nodiscard]] constexpr bool has_value(TraceEventKind kind) {
  return kind != TraceEventKind::kExStop && kind != TraceEventKind::kEvt;
}

/// As many words as perf has for this kind.
inline void append_trace_event(TraceEventKind kind, const TraceEventData& data, ByteBuilder& out) {
  out.u32(data.flags);
  if (has_value(kind)) out.u64(data.value);
}

/// Nothing if the data is too short for the kind.
[[nodiscard]] inline std::optional<TraceEventData> trace_event_of(TraceEventKind kind, Bytes raw,
                                                                  ByteOrder order) {
  if (raw.size() < (has_value(kind) ? 12u : 4u)) return std::nullopt;
  TraceEventData data;
  data.flags = load<uint32_t>(raw.data(), order);
  if (has_value(kind)) data.value = load<uint64_t>(raw.data() + 4, order);
  return data;
}

}  // namespace sonde
