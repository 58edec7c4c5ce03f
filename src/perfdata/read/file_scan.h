// FileScan: one pass over the records of a perf.data file of any size, in little memory.
//
//   FileScan scan = TRY(FileScan::open("perf.data", {}, losses));
//   while (true) {
//     std::span<const RecordBlock> blocks = scan.next();
//     if (blocks.empty()) break;
//     for (const RecordBlock& block : blocks) ...
//   }
//
// It gives the same facts, events and records as a Recording, but neither reads the file twice nor
// keeps it: pages are returned to the kernel once passed. They are faulted in again if somebody
// accesses a record later; blocks expanded from compressed records stay. Anything but a plain file
// (a pipe, a directory, a bundle) is opened as a Recording and given as a whole.
//
// Event names and features are available before the first block.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/loss.h"
#include "perfdata/read/recording.h"

namespace sonde {

class FileScan {
 public:
  static Result<FileScan> open(const std::string& path, const OpenOptions& options,
                               LossLedger& losses);
  /// Iterates over a recording that is already open and must outlive this object.
  FileScan(const Recording& recording, LossLedger& losses);
  FileScan(FileScan&&) noexcept;
  ~FileScan();

  [[nodiscard]] const FileFacts& facts() const;
  [[nodiscard]] const EventTable& events() const;
  [[nodiscard]] const Features& features() const;

  /// The next records, at most a few MiB; empty at the end, when losses are counted. The span is
  /// valid until the next call, the records for the life of this object.
  std::span<const RecordBlock> next();
  /// Where a record is in the file, by the address of its header; what was expanded from a
  /// compressed record, where that is. Slow: for messages.
  [[nodiscard]] uint64_t file_offset_of(const std::byte* record) const;
  /// For threads that work on blocks while one of them scans on. Must be called before the first
  /// block. The last `kept_behind` bytes before the blocks that next() gave may still be in use,
  /// and the workers call tend() now and then.
  void share_work(size_t kept_behind);
  /// Makes the kernel map what comes next and unmap what was passed, so that next() need not. May
  /// be called from any thread.
  void tend();
  /// Drops passed pages that were faulted in again by later accesses. next() does this, too; call
  /// it if you access many records between two calls of next(). From any thread.
  void forget_passed() const;
  /// Drops all pages, for callers that are done with the scan but keep it for the sake of its
  /// records.
  void forget_all() const;

 private:
  struct State;
  explicit FileScan(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
