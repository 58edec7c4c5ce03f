// Recording: an open perf.data file, pipe or directory. It provides facts (events, features, byte
// order) and blocks of records; it does not decode samples.
//
//   Recording recording = TRY(Recording::open("perf.data", {}, losses));
//   for (const RecordBlock& block : recording.blocks())
//     for (RecordRange r(block, recording.byte_order()); r.next(record);) ...
//
// Guarantees: together the blocks contain every record of the input exactly once. A COMPRESSED
// record ends its block, and its content follows in the next blocks (`expanded`). Blocks of one
// stream are in file order, and streams follow one another; all views stay valid for the
// Recording's life. What could not be read is counted in the ledger, as are records of unknown and
// private types (so consumers need not). A pipe is read to its end first (into memory, then into an
// unlinked temporary file beyond `spool_limit_bytes`); to follow a pipe while it is being written,
// use StreamReader (stream_reader.h).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/features.h"
#include "perfdata/records/record.h"

namespace sonde {

class Bundle;
class SampleObserver;
class StreamReader;
class SpoolMemory;

struct OpenOptions {
  bool force = false;  // -f: don't check who owns the file
  int stdin_fd = 0;    // what "-" means
  uint64_t spool_limit_bytes = uint64_t{1} << 30;
  SampleObserver* observer =
      nullptr;  // receives the samples of a plain file while it is being opened
};

/// The recording that commands read if none is named, as perf chooses: standard input ("-") if that
/// is a pipe, otherwise perf.data.
[[nodiscard]] std::string default_recording(int stdin_fd);

/// What the file header says, for `report --header`.
struct FileFacts {
  std::string path;
  bool is_pipe = false;
  bool is_directory = false;
  bool is_bundle = false;         // comes with the objects that it needs, see Recording::bundle
  std::string kernel_symbols;     // of a directory with a --kcore copy: its kallsyms
  bool recorder_crashed = false;  // data size 0: read to the end of the file
  ByteOrder order = kHostOrder;
  uint32_t header_version = 2;
  uint64_t data_offset = 0, data_size = 0, feature_offset = 0;
  int64_t modified_ns = 0;  // "captured on": mtime, since the epoch; 0 for a pipe
};

/// Record counts by type. Types from 64 on are the recorder's own.
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
  /// A pipe that is not read to its end first: it has no blocks itself. Its reader is
  /// `stream()`, and the code that reads from it shows batches of records as the recording's
  /// blocks, one after another. A piped file becomes an ordinary recording, without a stream.
  static Result<Recording> open_stream(int fd, const std::string& name, const OpenOptions& options,
                                       LossLedger& losses);
  /// A capture in progress: no bytes of its own either. The code that reads the rings shows the
  /// records as they arrive.
  static Recording live(std::vector<EventDesc> events, const Features& features,
                        LossLedger& losses);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  [[nodiscard]] const FileFacts& facts() const;
  [[nodiscard]] ByteOrder byte_order() const { return facts().order; }
  [[nodiscard]] const EventTable& events() const;
  /// For the stage that knows names which the file lacks (events derived from attrs).
  EventTable& edit_events();
  [[nodiscard]] const Features& features() const;
  /// The recorded machine's word size in bytes (4 or 8), from ARCH and the addresses seen.
  [[nodiscard]] uint32_t word_size() const;
  /// Blocks of at most about 1 MiB, so that they can be distributed among threads.
  [[nodiscard]] const std::vector<RecordBlock>& blocks() const;
  /// After the records were read once: they can be read again, from the kernel's cache of the file.
  void release_pages() const;
  /// The same for the records of some adjacent blocks.
  void release_pages(std::span<const RecordBlock> blocks) const;
  /// The objects bundled with the recording; null if there are none.
  [[nodiscard]] const Bundle* bundle() const;
  /// The number of records of each type in the blocks.
  [[nodiscard]] const RecordCounts& record_counts() const;

  /// Null unless opened with open_stream.
  [[nodiscard]] StreamReader* stream();
  void show(std::vector<RecordBlock> blocks);
  /// Whether blocks are shown batch by batch.
  [[nodiscard]] bool goes_on() const;
  /// Keeps memory alive that the views of open_bytes need.
  void keep(SpoolMemory memory);

 private:
  struct State;
  explicit Recording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
