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
};
inline constexpr size_t kTraceEventKinds = 7;

/// flags: PTWRITE and EXSTOP: 1 if the trace itself tells the address; CBR: the ratio, and 16 bits
/// higher the largest one without turbo. value: the packet's payload; CBR: the frequency in kHz;
/// PSB: its offset in the trace.
struct TraceEventData {
  uint32_t flags = 0;
  uint64_t value = 0;
};

/// As many words as perf has for this kind.
inline void append_trace_event(TraceEventKind kind, const TraceEventData& data, ByteBuilder& out) {
  out.u32(data.flags);
  if (kind != TraceEventKind::kExStop) out.u64(data.value);
}

/// Nothing if the data is too short for the kind.
[[nodiscard]] inline std::optional<TraceEventData> trace_event_of(TraceEventKind kind, Bytes raw,
                                                                  ByteOrder order) {
  bool has_value = kind != TraceEventKind::kExStop;
  if (raw.size() < (has_value ? 12u : 4u)) return std::nullopt;
  TraceEventData data;
  data.flags = load<uint32_t>(raw.data(), order);
  if (has_value) data.value = load<uint64_t>(raw.data() + 4, order);
  return data;
}

}  // namespace sonde
