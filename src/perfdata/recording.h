// Recording: a perf.data file, pipe or directory, opened. It gives facts (events, features, byte
// order) and blocks of records; it decodes no sample.
//
//   Recording recording = TRY(Recording::open("perf.data", {}, losses));
//   for (const RecordBlock& block : recording.blocks())
//     for (RecordRange r(block, recording.byte_order()); r.next(record);) ...
//
// Guarantees: blocks together hold every record of the input once, COMPRESSED ones expanded; blocks
// of one stream are in file order; all views stay valid for the Recording's life. What could not be
// read is counted in the ledger. A pipe is read to its end first (memory, then an unlinked
// temporary file beyond `spool_limit_bytes`); to follow a pipe while it is written, use
// StreamReader (stream_reader.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "perfdata/event_table.h"
#include "perfdata/features.h"
#include "perfdata/record.h"

namespace sonde {

struct OpenOptions {
  bool force = false;  // -f: don't check who owns the file
  int stdin_fd = 0;    // what "-" means
  uint64_t spool_limit_bytes = uint64_t{1} << 30;
};

/// What the file header says, for `report --header`.
struct FileFacts {
  std::string path;
  bool is_pipe = false;
  bool is_directory = false;
  bool recorder_crashed = false;  // data size 0: read to the end of the file
  ByteOrder order = kHostOrder;
  uint32_t header_version = 1;
  uint64_t data_offset = 0, data_size = 0, feature_offset = 0;
  int64_t modified_ns = 0;  // "captured on": mtime, since the epoch; 0 for a pipe
};

class Recording {
 public:
  static Result<Recording> open(const std::string& path, const OpenOptions& options,
                                LossLedger& losses);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  [[nodiscard]] const FileFacts& facts() const;
  [[nodiscard]] ByteOrder byte_order() const { return facts().order; }
  [[nodiscard]] const EventTable& events() const;
  /// For the stage that knows names the file lacks (events made from attrs).
  EventTable& edit_events();
  [[nodiscard]] const Features& features() const;
  /// The recorded machine's word size in bytes (4 or 8), from ARCH and the addresses seen.
  [[nodiscard]] uint32_t word_size() const;
  /// Blocks of at most about 1 MiB, so that they can be shared out to threads.
  [[nodiscard]] const std::vector<RecordBlock>& blocks() const;

 private:
  struct State;
  explicit Recording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
