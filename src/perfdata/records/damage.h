// Damaged records, named and counted as losses.
#pragma once

#include <string>
#include <string_view>

#include "base/loss.h"
#include "perfdata/records/record.h"

namespace sonde {

inline constexpr std::string_view kShortSample = "shorter than the layout of its event";
inline constexpr std::string_view kShortRecord = "its fields extend past its end";

/// "PERF_RECORD_SAMPLE at file offset 0x1f0: shorter than …".
[[nodiscard]] std::string damage_text(uint32_t type, uint64_t file_offset, std::string_view reason);

/// Counts a record that could not be decoded. Its bytes count as not read.
void add_damaged(const RecordView& record, std::string_view reason, LossLedger& losses);

/// Why no record can be read at the start of `rest`, the last bytes of a stream of records:
/// "PERF_RECORD_MMAP2 at file offset 0x1f0: claims 65000 bytes, 312 remain".
[[nodiscard]] std::string end_text(Bytes rest, uint64_t file_offset, ByteOrder order);

}  // namespace sonde
