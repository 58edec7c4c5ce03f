// The first steps of opening a perf.data file, shared by Recording, which reads all of it, and
// FileScan, which makes one pass over it.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/file.h"
#include "perfdata/header/file_header.h"
#include "perfdata/read/block_splitter.h"
#include "perfdata/read/recording.h"

namespace sonde {

struct OpenedFile {
  Fd fd;
  struct stat status{};
};
/// Errors name the path, the reason and a remedy. Regular files must belong to the user or to root
/// unless `force` is set. `is_named`: the user gave the path, which may lead to a pipe.
Result<OpenedFile> open_recording_file(const std::string& path, bool force, bool is_named = true);

/// The position of the records in a file.
struct FileData {
  uint64_t begin = 0, size = 0;
  uint64_t missing = 0;      // bytes that the header promises but the file lacks
  bool is_complete = false;  // the header gives the size, and the file has all of it
};
/// Reads what surrounds the records (attrs, names, features) and fills in those of `facts` that the
/// file header holds.
FileData read_around_records(const FileHeader& header, Bytes file, EventTable& events,
                             SetupCollector& setup, FileFacts& facts, LossLedger& losses);

}  // namespace sonde
