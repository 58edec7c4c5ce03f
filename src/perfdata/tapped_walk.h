// The first walk over the records of a plain file for a SampleTap, by several threads.
//
// The file is read through small windows that stay in a core's cache: to map its pages, wait for
// each sample's memory and unmap them again takes twice as long. The blocks show the mapped file as
// those of any walk do; of it only what is no sample is touched later.
//
// The file is cut in segments of some megabytes, each from what looks like a chain of records on.
// Whether it was one is known when the walk over the segment before ends exactly there; else what
// was found is thrown away, and that walk goes on. Segments but the first stop at records that
// describe the recording or lead on to other data: those are left to a walk in the order of the
// file.
#pragma once

#include <vector>

#include "perfdata/block_cutter.h"
#include "perfdata/event_table.h"
#include "perfdata/file_opening.h"

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

/// `tap` has begun.
TappedWalkResult walk_tapped(const TappedFile& file, ByteOrder order, const EventTable& events,
                             SetupCollector& setup, StreamExpander& expander, SampleTap& tap,
                             LossLedger& losses);

}  // namespace sonde
