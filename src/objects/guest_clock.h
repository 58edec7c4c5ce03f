// Times of a virtual machine's guest as times of its host.
//
// Both kernels convert the time stamp counter to nanoseconds, each by its own numbers, which its
// recording has in a TIME_CONV record. Between the two lies what the hypervisor does to the counter
// for the guest: guest's counter = host's counter * scale + offset (Intel SDM, volume 3, "Offset
// and Scale of the TSC"). A recording without TIME_CONV has times that are taken for counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "perfdata/read/recording.h"
#include "perfdata/records/user_records.h"

namespace sonde {

class GuestClock {
 public:
  /// `offset` in ticks, modulo 2^64; `scale` is more than 0.
  GuestClock(std::optional<TimeConvRecord> guest, std::optional<TimeConvRecord> host,
             uint64_t offset, double scale)
      : guest_(usable(guest)), host_(usable(host)), offset_(offset), scale_(scale) {}

  /// Nanoseconds of the guest's recording to nanoseconds of the host's.
  [[nodiscard]] uint64_t to_host(uint64_t guest_ns) const;

 private:
  static std::optional<TimeConvRecord> usable(std::optional<TimeConvRecord> conversion);

  std::optional<TimeConvRecord> guest_, host_;
  uint64_t offset_;
  double scale_;
};

/// The offset of a guest's time stamp counter, modulo 2^64: it is often negative.
std::optional<uint64_t> parse_tsc_offset(std::string_view text);

/// The recording's first TIME_CONV record.
std::optional<TimeConvRecord> time_conversion_of(const Recording& recording);

}  // namespace sonde
