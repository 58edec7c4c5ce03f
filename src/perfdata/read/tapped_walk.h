// The first walk over the records of a plain file for a SampleTap, by several threads.
//
// The file is read through small windows that stay in a core's cache: mapping its pages, waiting
// for each sample's memory and unmapping them again takes twice as long. The blocks still refer to
// the mapped file as in any walk; only its non-sample records are touched later.
//
// The file is cut into segments of some megabytes, each starting at what looks like a chain of
// records. The guess is confirmed if the walk over the previous segment ends exactly there;
// otherwise its result is discarded and that walk goes on. All segments but the first stop at
// records that describe the recording or lead to other data: those are left to a walk in file
// order.
#pragma once

#include <vector>

#include "perfdata/header/event_table.h"
#include "perfdata/read/block_cutter.h"
#include "perfdata/read/file_opening.h"

namespace sonde {

struct TappedFile {
  int fd = -1;
  Bytes mapped;  // the whole file
  FileData data;
};

struct TappedWalkResult {
  std::vector<RecordBlock> blocks;
  RecordCounts counts;
  BlockCutter::Outcome outcome;  // as of one cut() over all records
};

/// `tap.begin()` must have been called.
TappedWalkResult walk_tapped(const TappedFile& file, ByteOrder order, const EventTable& events,
                             SetupCollector& setup, StreamExpander& expander, SampleTap& tap,
                             LossLedger& losses);

}  // namespace sonde
