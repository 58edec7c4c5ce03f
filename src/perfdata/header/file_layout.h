// The parts of a perf.data file around its records: header, ids and attrs before them, features
// after them. Used by the writer, which streams, and by the assembler, which works in memory.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/features.h"

namespace sonde {

/// "PERFILE2" as a little-endian machine stores it; a big-endian one stores the bytes reversed.
inline constexpr uint64_t kFileMagic = 0x32454c4946524550;
inline constexpr uint64_t kFileHeaderSize = 104;
inline constexpr uint64_t kPipeHeaderSize = 16;
inline constexpr uint64_t kSectionSize = 16;     // offset, size
inline constexpr uint64_t kDataSizeOffset = 48;  // of the size of the records

struct FileLayout {
  uint32_t attr_size = 128;  // bytes stored per attr
  uint64_t attrs_offset = 0, attrs_size = 0;
  uint64_t data_offset = 0, data_size = 0;
  std::vector<uint32_t> features;
};
void encode_file_header(const FileLayout& header, ByteBuilder& out);
void encode_pipe_header(ByteBuilder& out);

/// The number of bytes that every attr of `events` is stored with: 128 (VER7, what perf 6.1
/// accepts) unless one of them uses a field beyond that.
uint32_t stored_attr_size(std::span<const EventDesc> events);

struct EncodedSection {
  uint32_t bit;
  ByteBuilder content;
  uint64_t stored_at = 0;  // where it is in the file already; 0: nowhere
};

/// Writes everything before the first record (header with data size 0, ids, attrs, and the sections
/// that are known by now: early_sections.h) into `out`, which must be empty. Returns the header
/// that was written, to be completed.
FileLayout encode_prologue(std::span<const EventDesc> events, uint32_t attr_size, ByteBuilder& out,
                           std::span<EncodedSection> early = {});

/// Encodes the sections listed in `features.present`, as far as possible.
std::vector<EncodedSection> encode_sections(const Features& features,
                                            std::span<const EventDesc> events, uint32_t attr_size,
                                            ByteOrder order);
/// Writes everything after the last record: the section table, which must be sorted by bit, and
/// those sections that are not in the file yet. `offset` is the epilogue's position in the file.
void encode_epilogue(std::span<const EncodedSection> sections, uint64_t offset, ByteBuilder& out);

/// The records that open a pipe: ATTR per event, FEATURE per section that belongs in a pipe with
/// the end mark, INTERPRETED_FILES, and TRACING_DATA if there is any. False if an event has too
/// many ids for one record.
bool encode_pipe_prologue(const Features& features, std::span<const EventDesc> events,
                          ByteBuilder& out);

/// EVENT_UPDATE records with units and scales and, in a pipe (`with_names`), the names.
void encode_event_updates(std::span<const EventDesc> events, bool with_names, ByteBuilder& out);

}  // namespace sonde
