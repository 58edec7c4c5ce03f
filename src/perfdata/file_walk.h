// FileWalk: one pass over the records of a perf.data file, whatever its size, in little memory.
//
//   FileWalk walk = TRY(FileWalk::open("perf.data", {}, losses));
//   while (true) {
//     std::span<const RecordBlock> blocks = walk.next();
//     if (blocks.empty()) break;
//     for (const RecordBlock& block : blocks) ...
//   }
//
// The same facts, events and records as a Recording gives, but the file is neither read twice nor
// kept: pages go back to the kernel once they were passed. They come again by themselves where
// somebody looks at a record later; blocks that came out of compressed records stay. What is no
// plain file (a pipe, a directory, a bundle) is opened as a Recording and given as a whole.
//
// The events have their names, and the features are there, before the first block.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/loss.h"
#include "perfdata/recording.h"

namespace sonde {

class FileWalk {
 public:
  static Result<FileWalk> open(const std::string& path, const OpenOptions& options,
                               LossLedger& losses);
  /// Gives the blocks of a recording that is open already, which must outlive this.
  FileWalk(const Recording& recording, LossLedger& losses);
  FileWalk(FileWalk&&) noexcept;
  ~FileWalk();

  [[nodiscard]] const FileFacts& facts() const;
  [[nodiscard]] const EventTable& events() const;
  [[nodiscard]] const Features& features() const;

  /// The next records, at most a few MiB; none at the end, where losses are counted. The span is
  /// valid until the next call, the records for the life of this object.
  std::span<const RecordBlock> next();
  /// For threads that work on blocks while one of them walks on. To be said before the first block:
  /// the last `kept_behind` bytes before those that next() gave may still be worked on, and the
  /// workers call tend() now and then.
  void share_work(size_t kept_behind);
  /// Has the kernel map what comes next and unmap what was passed, so that next() need not. From
  /// any thread.
  void tend();
  /// Lets go again of passed pages that came back because somebody looked at them; next() does it,
  /// too. For who looks at many between two calls of that, from any thread.
  void forget_passed() const;
  /// Lets go of all pages, for who is done with the walk but keeps it for the records' sake.
  void forget_all() const;

 private:
  struct State;
  explicit FileWalk(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
