// The first scan over the records of a plain file, by several threads.
//
// The file is cut into segments of some megabytes, each starting at what looks like a chain of
// records. The guess is confirmed if the scan over the previous segment ends exactly there;
// otherwise its result is discarded and that scan goes on. All segments but the first stop at
// records that describe the recording or lead to other data: those are left to a scan in file
// order.
//
// A SampleObserver gets the samples on the way. For it the file is read through small windows that
// stay in a core's cache: mapping its pages, waiting for each sample's memory and unmapping them
// again takes twice as long. The blocks still refer to the mapped file as in any scan; only its
// non-sample records are touched later. Without an observer the samples will be read where they
// are mapped, and so are the headers: each thread has the kernel map its segments at once.
#pragma once

#include <vector>

#include "perfdata/header/event_table.h"
#include "perfdata/read/block_splitter.h"
#include "perfdata/read/file_opening.h"

namespace sonde {

struct ScannedFile {
  int fd = -1;   // only for an observer
  Bytes mapped;  // the whole file
  FileData data;
};

struct ParallelScanResult {
  std::vector<RecordBlock> blocks;
  RecordCounts counts;
  BlockSplitter::Outcome outcome;  // as of one split() over all records
};

/// `observer` may be null; otherwise its begin() must have been called, and the file's descriptor
/// is read from.
ParallelScanResult scan_in_parallel(const ScannedFile& file, ByteOrder order,
                                    const EventTable& events, SetupCollector& setup,
                                    StreamExpander& expander, SampleObserver* observer,
                                    LossLedger& losses);

}  // namespace sonde
