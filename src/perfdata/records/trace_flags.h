// What a sample made from an instruction trace says besides its fields: the kind of branch, how
// deep in calls it is, and cycles. It follows the sample's fields in the record, where readers that
// don't know it stop before it; recordings that `inject` writes don't have it.
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
/// Interrupts are masked; this changes here.
inline constexpr uint32_t kTraceMasked = 1u << 12, kTraceMaskChanges = 1u << 13;

struct TraceDetails {
  uint32_t flags = 0;
  uint32_t depth = 0;  // calls that the thread is in after a branch, as far as they were seen
  uint8_t length = 0;  // bytes of a branch instruction; 0 for what interrupted one
  /// Since the last sample of the event that had cycles; 0 cycles: not known.
  uint32_t instructions = 0, cycles = 0;

  /// Bytes in a record.
  [[nodiscard]] size_t size() const { return cycles == 0 ? 16 : 24; }
};

inline constexpr uint32_t kTraceFlagsMark = 0x74667073, kTraceCyclesMark = 0x74667074;

/// Appends the details to the record that begins at `start` of `out`, and counts them into its
/// size.
inline void append_trace_details(const TraceDetails& details, size_t start, ByteBuilder& out) {
  if (details.cycles != 0) {
    out.u32(details.instructions);
    out.u32(details.cycles);
  }
  out.u32(details.depth);
  out.u32(details.length);
  out.u32(details.cycles != 0 ? kTraceCyclesMark : kTraceFlagsMark);
  out.u32(details.flags);
  constexpr size_t kSizeInHeader = 6;
  out.patch<uint16_t>(start + kSizeInHeader, static_cast<uint16_t>(out.size() - start));
}

[[nodiscard]] inline std::optional<TraceDetails> trace_details_of(const RecordView& record) {
  size_t size = record.payload.size();
  TraceDetails details;
  if (size < details.size()) return std::nullopt;
  const std::byte* end = record.payload.data() + size;
  auto mark = load<uint32_t>(end - 8, record.order);
  if (mark != kTraceFlagsMark && mark != kTraceCyclesMark) return std::nullopt;
  details.flags = load<uint32_t>(end - 4, record.order);
  details.depth = load<uint32_t>(end - 16, record.order);
  details.length = static_cast<uint8_t>(load<uint32_t>(end - 12, record.order));
  if (mark == kTraceFlagsMark || size < 24) return details;
  details.instructions = load<uint32_t>(end - 24, record.order);
  details.cycles = load<uint32_t>(end - 20, record.order);
  return details;
}

[[nodiscard]] inline std::optional<uint32_t> trace_flags_of(const RecordView& record) {
  if (auto details = trace_details_of(record)) return details->flags;
  return std::nullopt;
}

}  // namespace sonde
