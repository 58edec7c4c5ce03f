// COMPRESSED and COMPRESSED2 records expanded.
//
// All compressed records of one stream (the file, a pipe, one data.N) are pieces of one zstd
// stream, so they are expanded in the order of the file. A piece may end in the middle of a record;
// the rest of that record then opens the next piece:
//
//   COMPRESSED | COMPRESSED      expands to      r1 r2 r3a | r3b r4
//
// so `expand` gives `r1 r2 r3a`, the caller consumes r1 and r2, and the next call gives `r3a r3b
// r4` in one piece. Expanded bytes stay where they are for the expander's life, or until released.
// A stream that expands beyond all reason (a few bytes into gigabytes) is an error.
#pragma once

#include <deque>
#include <memory>

#include "base/bytes.h"
#include "base/error.h"
#include "perfdata/record.h"
#include "perfdata/spool.h"

struct ZSTD_DCtx_s;

namespace sonde {

/// The zstd bytes in a COMPRESSED or COMPRESSED2 record; empty where the record is damaged.
Bytes compressed_payload(const RecordView& record);

class StreamExpander {
 public:
  /// Expanded bytes beyond `memory_limit_bytes` live in temporary files.
  explicit StreamExpander(uint64_t memory_limit_bytes);
  StreamExpander(StreamExpander&&) noexcept;
  ~StreamExpander();

  /// The bytes that were not consumed before, and those that `compressed` expands to. After an
  /// error what was left is dropped, and the next piece must start a new frame.
  Result<Bytes> expand(Bytes compressed);
  /// Tells how many of the bytes that `expand` returned were whole records.
  void consume(size_t size);
  [[nodiscard]] size_t left() const { return filled_ - begin_; }
  /// Frees memory that holds only bytes which were consumed before the call of `mark()` that gave
  /// `mark`.
  [[nodiscard]] uint64_t mark() const { return first_chunk_ + chunks_.size(); }
  void release_before(uint64_t mark);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  Result<> make_room();
  std::unexpected<Error> damaged(const char* reason);

  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::deque<SpoolMemory> chunks_;  // the last one is being filled
  uint64_t first_chunk_ = 0;        // number of chunks_.front(), counted from the start
  size_t begin_ = 0, filled_ = 0;   // in the last chunk: not consumed, not written
  uint64_t memory_limit_bytes_;
  uint64_t held_bytes_ = 0;
  uint64_t bytes_in_ = 0, bytes_out_ = 0;
};

}  // namespace sonde
