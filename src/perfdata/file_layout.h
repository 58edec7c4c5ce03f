// The parts of a perf.data file that frame its records: header, ids and attrs before, features
// behind. Used by the writer, which streams, and by the assembler, which works in memory.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "perfdata/event_table.h"
#include "perfdata/features.h"

namespace sonde {

/// "PERFILE2" as a little-endian machine stores it; on a big-endian one the bytes lie mirrored.
inline constexpr uint64_t kFileMagic = 0x32454c4946524550;
inline constexpr uint64_t kFileHeaderSize = 104;
inline constexpr uint64_t kPipeHeaderSize = 16;
inline constexpr uint64_t kSectionSize = 16;  // offset, size

struct FileLayout {
  uint32_t attr_size = 128;  // stored bytes of each attr
  uint64_t attrs_offset = 0, attrs_size = 0;
  uint64_t data_offset = 0, data_size = 0;
  std::vector<uint32_t> features;
};
void encode_file_header(const FileLayout& header, ByteBuilder& out);
void encode_pipe_header(ByteBuilder& out);

/// Bytes that every attr of `events` is stored with: 128 (VER7, what perf 6.1 accepts) unless one
/// uses a field beyond that.
uint32_t stored_attr_size(std::span<const EventDesc> events);

/// Header (data size still 0), ids and attrs, into an empty `out`: what stands before the first
/// record. The header that was written is returned, to be completed.
FileLayout encode_prologue(std::span<const EventDesc> events, uint32_t attr_size, ByteBuilder& out);

struct EncodedSection {
  uint32_t bit;
  ByteBuilder content;
};
/// The sections that `features.present` lists, as far as they can be encoded.
std::vector<EncodedSection> encode_sections(const Features& features,
                                            std::span<const EventDesc> events, uint32_t attr_size,
                                            ByteOrder order);
/// What stands behind the last record: the table of sections and the sections, which must be sorted
/// by bit. `offset` is where it will lie in the file.
void encode_epilogue(std::span<const EncodedSection> sections, uint64_t offset, ByteBuilder& out);

/// The records that open a pipe: ATTR per event, FEATURE per section that goes into a pipe and the
/// end mark, TRACING_DATA where there is some. False where an event has too many ids for a record.
bool encode_pipe_prologue(const Features& features, std::span<const EventDesc> events,
                          ByteBuilder& out);

/// EVENT_UPDATE records that tell units and scales, and in a pipe (`with_names`) the names.
void encode_event_updates(std::span<const EventDesc> events, bool with_names, ByteBuilder& out);

}  // namespace sonde
