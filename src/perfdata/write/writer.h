// PerfDataWriter: writes a perf.data file, pipe or directory in the layout of perf 6.1, so that
// perf can read it.
//
//   file:  header (104 bytes) | ids | attrs | feature sections known from the start | data
//          | feature table | other feature sections
//   pipe:  header (16 bytes)  | ATTR … | FEATURE … | TRACING_DATA | records
//   directory: data (a file as above, DIR_FORMAT set if there are streams), data.0 … data.N
//              (records only)
//
//   PerfDataWriter writer = TRY(PerfDataWriter::create("perf.data", {}));
//   TRY(writer.begin(events, features));
//   TRY(writer.main().write(records));                  // as often as needed
//   TRY(writer.main().write_ring(head, wrapped_rest));  // compressed if requested
//   TRY(writer.finish(features));
//
// If a write fails (disk full or any other cause), the error names the file, the reason and what
// helps. The stream then drops what follows, and `finish` still produces a readable file: cut after
// the last whole record, shortened just so far that the feature sections fit, with a final header.
// If not even the part before the records fitted, the file is empty.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/sys.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/features.h"
#include "perfdata/write/compressor.h"

namespace sonde {

/// Writes records to one descriptor. Only one thread at a time may write to a stream; different
/// streams are independent. `bytes_written` may be called from any thread.
class RecordStream {
 public:
  /// Writes whole records; `rest` is their continuation after a ring's wrap, so the boundary
  /// between the two may be inside a record. Small pieces are gathered, large ones are written
  /// without copying.
  Result<> write(Bytes records, Bytes rest = {});
  /// The same for what the kernel wrote: becomes COMPRESSED records if compression is on.
  Result<> write_ring(Bytes records, Bytes rest = {});
  /// Writes out what was gathered.
  Result<> flush();
  /// The same, and the header says that the records end there: if we are killed, perf reads them.
  Result<> settle();
  /// Bytes accepted so far, as stored (after compression, without file header and features).
  [[nodiscard]] uint64_t bytes_written() const { return bytes_.load(std::memory_order_relaxed); }
  /// Where in the file the next record will be.
  [[nodiscard]] uint64_t position() const { return prologue_size_ + bytes_written(); }
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const RecordCompressor* compressor() const {
    return compressor_ ? &*compressor_ : nullptr;
  }

  RecordStream(Sys& sys, Fd fd, std::string name, bool seekable);

 private:
  friend class PerfDataWriter;
  Result<> store(Bytes records, Bytes rest);
  Result<> put(Bytes whole_records);
  Result<> put_prologue(Bytes prologue);
  std::unexpected<Error> give_up(int error, Bytes interrupted, size_t written);
  [[nodiscard]] uint64_t end_of_file() const { return prologue_size_ + on_disk_; }
  struct Stored {
    size_t bytes = 0;
    int error = 0;  // 0: all was written
  };
  Stored store_all(Bytes bytes);
  Stored store_at(uint64_t offset, Bytes bytes);
  /// Drops at least so many bytes from the end, as few records as possible. False if nothing is
  /// left to drop.
  bool shrink(uint64_t bytes);
  [[nodiscard]] uint64_t border_before(uint64_t border, uint64_t limit) const;

  Sys& sys_;
  Fd fd_;
  std::string name_;
  bool seekable_;
  std::optional<Error> error_;  // of the first failed write
  std::vector<std::byte> gathered_;
  ByteBuilder packed_;  // output of the compressor
  std::optional<RecordCompressor> compressor_;
  size_t compress_limit_ = 0;     // bytes that one COMPRESSED record may expand to
  uint64_t prologue_size_ = 0;    // header, ids, attrs
  uint64_t on_disk_ = 0;          // bytes of data after the prologue that were written
  std::deque<uint64_t> borders_;  // data sizes at record boundaries: the latest ones
  std::atomic<uint64_t> bytes_ = 0;
};

/// Whether a file could not grow: the disk is full, or a quota or limit is reached.
bool is_want_of_room(int error);
/// "failed to write X: No space left on device; WHAT; remedy".
Error room_error(const std::string& name, int error, std::string_view what);

struct WriterOptions {
  /// 0: not compressed; else the zstd level, 1 to 22.
  int compression_level = 0;
  /// The rings' size, stored in the COMPRESSED feature; readers size their buffer by it.
  uint32_t mmap_length = 0;
  /// More than 0 makes a directory with that many data.N files beside `data`.
  uint32_t directory_streams = 0;
  /// Makes a directory even without streams: for --kcore, whose copy goes beside `data`.
  bool directory = false;
  Sys* sys = &Sys::host();
};

class PerfDataWriter {
 public:
  /// A new file (mode 0600) or directory (0700), locked against other recorders. A recording that
  /// was there is gone unless keep_previous was called before; anything else is refused
  /// (recording_place.h).
  static Result<PerfDataWriter> create(const std::string& path, const WriterOptions& options);
  /// Pipe mode. The writer takes ownership of the descriptor. `name` is for messages.
  static Result<PerfDataWriter> pipe(Fd fd, std::string name, const WriterOptions& options);

  PerfDataWriter(PerfDataWriter&&) noexcept;
  PerfDataWriter& operator=(PerfDataWriter&&) noexcept;
  ~PerfDataWriter();

  /// Called before any record: writes header, ids and attrs, and the features that `known` marks as
  /// present: in a pipe no others will be written; in a file they are those that a reader finds if
  /// the recorder is killed before `finish` (perfdata/header/early_sections.h).
  Result<> begin(std::vector<EventDesc> events, const Features& known);

  RecordStream& main();
  /// data.`index` of a directory.
  RecordStream& stream(size_t index);

  /// Flushes, writes the sections that `features.present` lists (EVENT_DESC comes from the events;
  /// COMPRESSED and DIR_FORMAT are added where they apply) and completes the header. In a pipe:
  /// only flushes. Nothing may be written afterwards. A section that doesn't fit on the disk is
  /// left out; the error of the first failed write, if any, is returned again.
  Result<> finish(const Features& features);

  /// Over all streams: what --max-size compares.
  [[nodiscard]] uint64_t bytes_written() const;
  /// Raw and stored bytes of the compressed data, over all streams.
  [[nodiscard]] std::pair<uint64_t, uint64_t> compression_in_out() const;
  [[nodiscard]] bool is_pipe() const;
  [[nodiscard]] const std::string& path() const;

 private:
  struct State;
  explicit PerfDataWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Marks every section that has content in `features.present` (a recorder calls this once it has
/// collected them); EVENT_DESC is always marked.
void mark_present(Features& features);

}  // namespace sonde
