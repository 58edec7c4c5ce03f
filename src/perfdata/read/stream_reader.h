// StreamReader: follows a pipe while it is written (`sonde record -o - | sonde script -i -`).
//
//   StreamReader reader = TRY(StreamReader::open(fd, "-", losses));
//   while (true) {
//     auto blocks = TRY(reader.next());          // waits for input
//     if (blocks.empty()) break;                 // the end
//     for (const RecordBlock& block : blocks) ...
//   }
//
// `next` returns whole records as soon as they arrive, with COMPRESSED ones expanded (see Recording
// for the shape of blocks). Events and features grow as ATTR and FEATURE records pass by; an event
// is available before its first record. Blocks stay valid until they are released, so that a
// RoundSorter may hold their records: take a mark at every FINISHED_ROUND and, two rounds later,
// release what precedes it.
//
// A piped file (`cat perf.data | …`) has its features after its records and cannot be followed: it
// is read to its end and then given as a whole.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/loss.h"
#include "perfdata/read/recording.h"

namespace sonde {

class StreamReader {
 public:
  /// Waits for the header. The descriptor remains the caller's.
  static Result<StreamReader> open(int fd, const std::string& name, const OpenOptions& options,
                                   LossLedger& losses);
  StreamReader(StreamReader&&) noexcept;
  StreamReader& operator=(StreamReader&&) noexcept;
  ~StreamReader();

  [[nodiscard]] const FileFacts& facts() const;
  [[nodiscard]] ByteOrder byte_order() const { return facts().order; }
  [[nodiscard]] const EventTable& events() const;
  [[nodiscard]] const Features& features() const;

  /// Called when nothing can be read yet; returning false ends the input. Without it, `next` waits.
  void on_pause(std::function<bool()> wait);
  /// The span is valid until the next call; the records in it until they are released.
  Result<std::span<const RecordBlock>> next();

  struct Mark {
    uint64_t input = 0, expanded = 0;
  };
  /// Marks everything that `next` has returned so far.
  [[nodiscard]] Mark mark() const;
  /// Blocks returned before `mark` may be freed. Those that share memory with later ones stay.
  void release_before(Mark mark);

  /// The piped file, if the input is one; the reader is empty afterwards.
  std::optional<Recording> take_file();

 private:
  struct State;
  explicit StreamReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
