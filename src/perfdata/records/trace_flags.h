// What a sample made from an instruction trace says besides its fields: the kind of branch. It
// follows the sample's fields in the record, where readers that don't know it stop before it;
// recordings that `inject` writes don't have it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "perfdata/records/record.h"

namespace sonde {

// As in perf's flags.
inline constexpr uint32_t kTraceBranch = 1u << 0, kTraceCall = 1u << 1, kTraceReturn = 1u << 2,
                          kTraceConditional = 1u << 3, kTraceSyscall = 1u << 4,
                          kTraceAsync = 1u << 5, kTraceInterrupt = 1u << 6, kTraceAbort = 1u << 7,
                          kTraceBegin = 1u << 8, kTraceEnd = 1u << 9,
                          kTraceInTransaction = 1u << 10;

inline constexpr size_t kTraceFlagsSize = 8;
inline constexpr uint32_t kTraceFlagsMark = 0x74667073;

/// Appends the flags to the record that begins at `start` of `out`, and counts them into its size.
inline void append_trace_flags(uint32_t flags, size_t start, ByteBuilder& out) {
  out.u32(kTraceFlagsMark);
  out.u32(flags);
  constexpr size_t kSizeInHeader = 6;
  out.patch<uint16_t>(start + kSizeInHeader, static_cast<uint16_t>(out.size() - start));
}

[[nodiscard]] inline std::optional<uint32_t> trace_flags_of(const RecordView& record) {
  if (record.payload.size() < kTraceFlagsSize) return std::nullopt;
  const std::byte* tail = record.payload.data() + record.payload.size() - kTraceFlagsSize;
  if (load<uint32_t>(tail, record.order) != kTraceFlagsMark) return std::nullopt;
  return load<uint32_t>(tail + 4, record.order);
}

}  // namespace sonde
