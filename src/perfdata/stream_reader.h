// StreamReader: follows a pipe while it is written (`sonde record -o - | sonde script -i -`).
//
//   StreamReader reader = TRY(StreamReader::open(fd, "-", losses));
//   while (true) {
//     auto blocks = TRY(reader.next());          // waits for input
//     if (blocks.empty()) break;                 // the end
//     for (const RecordBlock& block : blocks) ...
//   }
//
// `next` gives whole records as soon as they arrived, COMPRESSED ones expanded (see Recording for
// the shape of blocks). Events and features grow while ATTR and FEATURE records pass by; an event
// is there before the first of its records. Blocks stay valid until they are released, so that a
// RoundSorter may hold their records: take a mark at every FINISHED_ROUND and, two rounds later,
// release what lay before it.
//
// A file that is piped (`cat perf.data | …`) has its features behind its records and cannot be
// followed: it is read to its end and then given as a whole.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/loss.h"
#include "perfdata/recording.h"

namespace sonde {

class StreamReader {
 public:
  /// Waits for the header. The descriptor stays the caller's.
  static Result<StreamReader> open(int fd, const std::string& name, const OpenOptions& options,
                                   LossLedger& losses);
  StreamReader(StreamReader&&) noexcept;
  StreamReader& operator=(StreamReader&&) noexcept;
  ~StreamReader();

  [[nodiscard]] const FileFacts& facts() const;
  [[nodiscard]] ByteOrder byte_order() const { return facts().order; }
  [[nodiscard]] const EventTable& events() const;
  [[nodiscard]] const Features& features() const;

  /// Called where nothing can be read yet; false ends the input here. Without it, `next` waits.
  void on_pause(std::function<bool()> wait);
  /// The span is valid until the next call; the records in it until they are released.
  Result<std::span<const RecordBlock>> next();

  struct Mark {
    uint64_t input = 0, expanded = 0;
  };
  /// Stands for everything that `next` gave so far.
  [[nodiscard]] Mark mark() const;
  /// Blocks that were given before `mark` may go. Those that share memory with later ones stay.
  void release_before(Mark mark);

  /// The piped file, where it is one; the reader is empty afterwards.
  std::optional<Recording> take_file();

 private:
  struct State;
  explicit StreamReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
