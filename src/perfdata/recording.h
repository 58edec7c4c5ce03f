// Recording: a perf.data file, pipe or directory, opened. It gives facts (events, features, byte
// order) and blocks of records; it decodes no sample.
//
//   Recording recording = TRY(Recording::open("perf.data", {}, losses));
//   for (const RecordBlock& block : recording.blocks())
//     for (RecordRange r(block, recording.byte_order()); r.next(record);) ...
//
// Guarantees: blocks together hold every record of the input once. A COMPRESSED record ends its
// block, and the next blocks (`expanded`) hold what was in it. Blocks of one stream are in file
// order, streams one after the other; all views stay valid for the Recording's life. What could not
// be read is counted in the ledger, as are records of unknown and private types (so consumers need
// not). A pipe is read to its end first (memory, then an unlinked
// temporary file beyond `spool_limit_bytes`); to follow a pipe while it is written, use
// StreamReader (stream_reader.h).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "perfdata/event_table.h"
#include "perfdata/features.h"
#include "perfdata/record.h"

namespace sonde {

class Bundle;
class SampleTap;
class StreamReader;
class SpoolMemory;

struct OpenOptions {
  bool force = false;  // -f: don't check who owns the file
  int stdin_fd = 0;    // what "-" means
  uint64_t spool_limit_bytes = uint64_t{1} << 30;
  SampleTap* tap = nullptr;  // of a plain file, gets the samples while it is opened
};

/// What the file header says, for `report --header`.
struct FileFacts {
  std::string path;
  bool is_pipe = false;
  bool is_directory = false;
  bool is_bundle = false;         // with the objects that it needs, see Recording::bundle
  std::string kernel_symbols;     // of a directory with the copy that --kcore makes: its kallsyms
  bool recorder_crashed = false;  // data size 0: read to the end of the file
  ByteOrder order = kHostOrder;
  uint32_t header_version = 2;
  uint64_t data_offset = 0, data_size = 0, feature_offset = 0;
  int64_t modified_ns = 0;  // "captured on": mtime, since the epoch; 0 for a pipe
};

/// Records by type. Types from 64 on are the recorder's own.
struct RecordCounts {
  std::array<uint64_t, 128> by_type{};
  uint64_t beyond = 0;              // types from 128 on that are not simpleperf's
  uint64_t simpleperf_private = 0;  // see is_simpleperf_private

  void add(const RecordCounts& other);
};

class Recording {
 public:
  static Result<Recording> open(const std::string& path, const OpenOptions& options,
                                LossLedger& losses);
  /// The same from memory, which must outlive the Recording.
  static Result<Recording> open_bytes(Bytes bytes, const std::string& name, LossLedger& losses);
  /// A pipe that is not read to its end: it has no blocks of its own. Its reader is `stream()`, and
  /// whoever reads shows stretches of records as the recording's blocks, one after the other. A
  /// file that is piped is a recording like any other, without a stream.
  static Result<Recording> open_stream(int fd, const std::string& name, const OpenOptions& options,
                                       LossLedger& losses);
  /// What is captured right now: no bytes of its own either. Whoever reads the rings shows what
  /// came.
  static Recording live(std::vector<EventDesc> events, const Features& features,
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
  /// The objects that came in one file with the recording; null where none did.
  [[nodiscard]] const Bundle* bundle() const;
  /// How many records of each type the blocks hold.
  [[nodiscard]] const RecordCounts& record_counts() const;

  /// Null but for open_stream.
  [[nodiscard]] StreamReader* stream();
  void show(std::vector<RecordBlock> blocks);
  /// Whether blocks are shown one stretch after the other.
  [[nodiscard]] bool goes_on() const;
  /// Memory that the views of open_bytes need.
  void keep(SpoolMemory memory);

 private:
  struct State;
  explicit Recording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
