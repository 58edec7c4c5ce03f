// Early sections: what a recorder knows when it begins stands in front of the records, so that a
// recording has names however its recorder ends. The table behind the records, which perf reads,
// points to them; it is written last. Until then, a table of our own, right behind the attrs, tells
// where they are:
//
//   header | ids | attrs | "SONDESEC", count, count × (bit, offset, size) | sections | records …
//
// Other readers look at nothing between the attrs and the records.
#pragma once

#include <span>

#include "perfdata/header/file_header.h"
#include "perfdata/header/file_layout.h"

namespace sonde {

/// Writes the table and the sections, which are to be at `offset` in the file, up to a multiple of
/// eight bytes; nothing if there are none. Sets their `stored_at`.
void encode_early_sections(std::span<EncodedSection> sections, uint64_t offset, ByteBuilder& out);

/// What the table of `file` lists: sections that lie in front of the records. Without a table, or
/// if it is damaged: nothing.
std::vector<FeatureTable::Entry> read_early_sections(const FileHeader& header, Bytes file);

}  // namespace sonde
