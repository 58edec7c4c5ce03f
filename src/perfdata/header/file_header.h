// The header of a perf.data file or pipe and what it points to: attrs with their ids, old tables of
// tracepoint names, feature sections. Source: perf.data-file-format.txt in the kernel's tools.
//
//   file:  "PERFILE2" size=104 attr_size | attrs | data | event_types (sections) | feature bitmap
//   pipe:  "PERFILE2" size=16, then records
//
// Every offset and size is untrusted.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/loss.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/features.h"
#include "perfdata/read/setup_collector.h"

namespace sonde {

struct FileSection {
  uint64_t offset = 0, size = 0;
};

struct FileHeader {
  ByteOrder order = kHostOrder;
  uint32_t version = 2;  // 1: "PERFFILE", before Linux 2.6.34
  uint64_t size = 0;
  bool is_pipe = false;
  uint64_t attr_size = 0;  // of an entry of the attrs section: the attr and the section of its ids
  FileSection attrs, data, event_types;
  Bytes feature_bitmap;  // 32 bytes; empty in files that predate it
};

/// Reads magic and sizes; kCorrupt with an explanation if this is no perf.data.
Result<FileHeader> parse_file_header(Bytes file, const std::string& name);

/// The events of a file with their ids. Damaged entries are counted (bad_feature).
void read_attrs(const FileHeader& header, Bytes file, EventTable& events, LossLedger& losses);
void read_event_types(const FileHeader& header, Bytes file, SetupCollector& setup);

/// The bits of the bitmap, with the sections that the table at `table_offset` lists for them.
struct FeatureTable {
  struct Entry {
    uint32_t bit;
    FileSection section;
  };
  std::vector<Entry> entries;
  bool plausible = false;  // the table and all sections are inside the file
  uint64_t end = 0;        // of the table and of all sections
};
/// The bitmap's words have the word size of the recording machine: in big-endian files, four or
/// eight bytes. The reading that gives fewer unknown bits is chosen.
FeatureTable read_feature_table(const FileHeader& header, Bytes file, uint64_t table_offset);

}  // namespace sonde
