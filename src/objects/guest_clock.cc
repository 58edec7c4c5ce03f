#include "objects/guest_clock.h"

#include "base/text.h"

namespace sonde {
namespace {

// linux/perf_event.h, at cap_user_time_zero, has both conversions.

uint64_t ticks_of(uint64_t ns, const TimeConvRecord& by) {
  uint64_t since = ns - by.zero;
  uint64_t whole = since / by.multiplier, rest = since % by.multiplier;
  return (whole << by.shift) + (rest << by.shift) / by.multiplier;
}

uint64_t ns_of(uint64_t ticks, const TimeConvRecord& by) {
  if (by.has_cycles && by.cap_user_time_short != 0)
    ticks = by.cycles + ((ticks - by.cycles) & by.mask);
  uint64_t whole = ticks >> by.shift, rest = ticks & ((uint64_t{1} << by.shift) - 1);
  return by.zero + whole * by.multiplier + ((rest * by.multiplier) >> by.shift);
}

}  // namespace

std::optional<TimeConvRecord> GuestClock::usable(std::optional<TimeConvRecord> conversion) {
  constexpr uint64_t kMostShift = 63;
  if (!conversion || conversion->multiplier == 0 || conversion->shift > kMostShift)
    return std::nullopt;
  // Before Linux 5.10, recorders wrote the record only if it applied.
  if (conversion->has_cycles && conversion->cap_user_time_zero == 0) return std::nullopt;
  return conversion;
}

uint64_t GuestClock::to_host(uint64_t guest_ns) const {
  uint64_t ticks = guest_ ? ticks_of(guest_ns, *guest_) : guest_ns;
  ticks -= offset_;
  if (scale_ != 1) {
    // 64 bits of mantissa: no tick is lost.
    long double scaled = static_cast<long double>(ticks) / static_cast<long double>(scale_);
    constexpr long double kTooMuch = 0x1p64L;
    ticks = scaled < kTooMuch ? static_cast<uint64_t>(scaled) : UINT64_MAX;
  }
  return host_ ? ns_of(ticks, *host_) : ticks;
}

std::optional<uint64_t> parse_tsc_offset(std::string_view text) {
  bool negative = text.starts_with('-');
  auto number = parse_number(text.substr(negative ? 1 : 0));
  if (number && negative) return uint64_t{0} - *number;
  return number;
}

std::optional<TimeConvRecord> time_conversion_of(const Recording& recording) {
  if (recording.record_counts().by_type[abi::kRecordTimeConv] == 0) return std::nullopt;
  for (const RecordBlock& block : recording.blocks()) {
    RecordRange range(block, recording.byte_order());
    for (RecordView record; range.next(record);) {
      if (record.type != abi::kRecordTimeConv) continue;
      if (auto conversion = decode_user<TimeConvRecord>(record)) return conversion;
    }
  }
  return std::nullopt;
}

}  // namespace sonde
