// PerfDataWriter: writes a perf.data file, pipe or directory, laid out as perf 6.1 does, so that
// perf reads it.
//
//   file:  header (104 bytes) | ids | attrs | data | feature table | feature sections
//   pipe:  header (16 bytes)  | ATTR … | FEATURE … | TRACING_DATA | records
//   directory: data (a file as above, DIR_FORMAT set where there are streams), data.0 … data.N
//              (records only)
//
//   PerfDataWriter writer = TRY(PerfDataWriter::create("perf.data", {}));
//   TRY(writer.begin(events, features));
//   TRY(writer.main().write(records));                  // as often as needed
//   TRY(writer.main().write_ring(head, wrapped_rest));  // compressed where that is asked for
//   TRY(writer.finish(features));
//
// A full disk (or any failed write) fails the write with a sentence that names file and reason. The
// stream then drops what follows, and `finish` still gives a readable file: cut behind the last
// whole record, shortened until the feature sections fit, with a final header.
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
#include "perfdata/compressor.h"
#include "perfdata/event_table.h"
#include "perfdata/features.h"

namespace sonde {

/// Records on their way to one descriptor. One thread at a time may write to a stream; different
/// streams are independent. `bytes_written` may be asked by any thread.
class RecordStream {
 public:
  /// Whole records; `rest` is where they go on after a ring's wrap, so the border between the two
  /// may lie inside a record. Small pieces are gathered, large ones written from where they lie.
  Result<> write(Bytes records, Bytes rest = {});
  /// The same for what the kernel wrote: becomes COMPRESSED records where compression is on.
  Result<> write_ring(Bytes records, Bytes rest = {});
  /// Hands what was gathered to the operating system.
  Result<> flush();
  /// Accepted so far, as stored (after compression, without file header and features).
  [[nodiscard]] uint64_t bytes_written() const { return bytes_.load(std::memory_order_relaxed); }
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

  Sys& sys_;
  Fd fd_;
  std::string name_;
  bool seekable_;
  std::optional<Error> error_;  // of the first write that failed
  std::vector<std::byte> gathered_;
  ByteBuilder packed_;  // output of the compressor
  std::optional<RecordCompressor> compressor_;
  size_t compress_limit_ = 0;     // bytes that one COMPRESSED record may expand to
  uint64_t prologue_size_ = 0;    // header, ids, attrs
  uint64_t on_disk_ = 0;          // bytes of data behind them that arrived
  std::deque<uint64_t> borders_;  // sizes at which the data ended on a record: the latest ones
  std::atomic<uint64_t> bytes_ = 0;
};

struct WriterOptions {
  /// 0: not compressed; else the zstd level, 1 to 22.
  int compression_level = 0;
  /// The rings' size: the COMPRESSED feature tells it to readers, who size their buffer by it.
  uint32_t mmap_length = 0;
  /// More than 0 makes a directory with that many data.N beside `data`.
  uint32_t directory_streams = 0;
  /// A directory even without streams: for --kcore, whose copy lies beside `data`.
  bool directory = false;
  Sys* sys = &Sys::host();
};

class PerfDataWriter {
 public:
  /// A new file (mode 0600) or directory (0700); what was there is overwritten: see keep_previous.
  static Result<PerfDataWriter> create(const std::string& path, const WriterOptions& options);
  /// Pipe mode. The descriptor becomes the writer's. `name` is for messages.
  static Result<PerfDataWriter> pipe(Fd fd, std::string name, const WriterOptions& options);

  PerfDataWriter(PerfDataWriter&&) noexcept;
  PerfDataWriter& operator=(PerfDataWriter&&) noexcept;
  ~PerfDataWriter();

  /// Before any record: header, ids and attrs. In a pipe also the features that `known` marks as
  /// present (all that will ever be written of them), and its tracing data. For a file `known` only
  /// matters to a recorder that is killed before `finish`: perf doesn't write it either.
  Result<> begin(std::vector<EventDesc> events, const Features& known);

  RecordStream& main();
  /// data.`index` of a directory.
  RecordStream& stream(size_t index);

  /// Flushes, writes the sections that `features.present` lists (EVENT_DESC comes from the events;
  /// COMPRESSED and DIR_FORMAT are added where they apply) and completes the header. In a pipe:
  /// flushes. Afterwards nothing more may be written. A section that doesn't fit on the disk is
  /// left out; the error of the first failed write, if any, is returned again.
  Result<> finish(const Features& features);

  /// Of all streams: what --max-size compares.
  [[nodiscard]] uint64_t bytes_written() const;
  /// Raw and stored bytes of what was compressed, over all streams.
  [[nodiscard]] std::pair<uint64_t, uint64_t> compression_in_out() const;
  [[nodiscard]] bool is_pipe() const;
  [[nodiscard]] const std::string& path() const;

 private:
  struct State;
  explicit PerfDataWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// perf.data → perf.data.old, a directory as well; an empty or absent `path` is left alone, an old
/// .old is removed.
Result<> keep_previous(const std::string& path);

/// Marks in `features.present` every section that has content (what a recorder calls once it has
/// collected them); EVENT_DESC is always marked.
void mark_present(Features& features);

}  // namespace sonde
