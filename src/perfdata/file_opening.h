// The first steps of opening a perf.data file, shared by Recording, which reads it as a whole, and
// FileWalk, which passes over it.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/file.h"
#include "perfdata/block_cutter.h"
#include "perfdata/file_header.h"
#include "perfdata/recording.h"

namespace sonde {

struct OpenedFile {
  Fd fd;
  struct stat status{};
};
/// Errors name the path, the reason and what helps. Regular files must be the user's own or root's
/// unless `force`.
Result<OpenedFile> open_recording_file(const std::string& path, bool force);

/// Where the records of a file lie.
struct FileData {
  uint64_t begin = 0, size = 0;
  uint64_t missing = 0;  // bytes that the header promises and the file has not
};
/// Reads what stands around the records (attrs, names, features) and fills those of `facts` that a
/// file's header knows.
FileData read_around_records(const FileHeader& header, Bytes file, EventTable& events,
                             SetupCollector& setup, FileFacts& facts, LossLedger& losses);

/// Counts what is left of a stream of records as losses. `file_offset`: of the first byte left.
void add_stream_end(BlockCutter::Stop stop, uint64_t left, uint64_t missing, uint64_t file_offset,
                    LossLedger& losses);

}  // namespace sonde
