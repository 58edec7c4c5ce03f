// Expands COMPRESSED and COMPRESSED2 records.
//
// All compressed records of one stream (the file, a pipe, one data.N) are pieces of one zstd
// stream, so they are expanded in file order. A piece may end in the middle of a record; the next
// piece then starts with the rest of it:
//
//   COMPRESSED | COMPRESSED      expands to      r1 r2 r3a | r3b r4
//
// so `expand` returns `r1 r2 r3a`, the caller consumes r1 and r2, and the next call returns `r3a
// r3b r4` contiguously. Expanded bytes keep their address until they are released or the expander
// is destroyed. A stream that expands beyond all reason (base/expansion_allowance.h) is an error,
// and not read on.
#pragma once

#include <deque>
#include <memory>

#include "base/bytes.h"
#include "base/error.h"
#include "base/expansion_allowance.h"
#include "perfdata/read/spool.h"
#include "perfdata/records/record.h"

struct ZSTD_DCtx_s;

namespace sonde {

/// The zstd bytes in a COMPRESSED or COMPRESSED2 record; empty if the record is damaged.
Bytes compressed_payload(const RecordView& record);

class StreamExpander {
 public:
  /// Expanded bytes beyond `memory_limit_bytes` live in temporary files.
  explicit StreamExpander(uint64_t memory_limit_bytes,
                          ExpansionAllowance& allowance = ExpansionAllowance::of_process());
  StreamExpander(StreamExpander&&) noexcept;
  ~StreamExpander();

  /// Returns the bytes that were not yet consumed, followed by what `compressed` expands to. After
  /// an error, unconsumed bytes are dropped and the next piece must start a new frame.
  Result<Bytes> expand(Bytes compressed);
  /// Marks the first `size` of the bytes returned by `expand` as whole records.
  void consume(size_t size);
  [[nodiscard]] size_t left() const { return filled_ - begin_; }
  /// release_before() frees memory whose bytes had all been consumed when `mark()` returned `mark`.
  [[nodiscard]] uint64_t mark() const { return first_chunk_ + chunks_.size(); }
  void release_before(uint64_t mark);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  Result<> make_room();
  std::unexpected<Error> damaged(const char* reason);
  void drop_frame();

  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::deque<SpoolMemory> chunks_;  // the last one is being filled
  uint64_t first_chunk_ = 0;        // index of chunks_.front() since the start
  size_t begin_ = 0, filled_ = 0;   // in the last chunk: start of unconsumed bytes, of free space
  uint64_t memory_limit_bytes_;
  uint64_t held_bytes_ = 0;
  Expansion expansion_;
  bool is_over_ = false;  // it became too large
};

}  // namespace sonde
