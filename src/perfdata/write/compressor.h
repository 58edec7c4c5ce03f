// COMPRESSED records: a stream of zstd frames, cut into records as `perf record -z` writes them.
//
// A compressor serves one output stream and keeps its window between calls, so records must be
// expanded in file order. The records that a call to `compress` appends contain all of its input: a
// file that ends after them loses nothing.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/error.h"

struct ZSTD_CCtx_s;

namespace sonde {

class RecordCompressor {
 public:
  /// `level` 1 to 22.
  static Result<RecordCompressor> create(int level);

  /// Appends COMPRESSED records that together expand to `records`. perf expands a record into a
  /// buffer of the header's COMPRESSED.mmap_length bytes, so pass at most that many at once.
  Result<> compress(Bytes records, ByteBuilder& out);

  [[nodiscard]] uint64_t bytes_in() const { return bytes_in_; }
  [[nodiscard]] uint64_t bytes_out() const { return bytes_out_; }

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  explicit RecordCompressor(ZSTD_CCtx_s* context) : context_(context) {}
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  uint64_t bytes_in_ = 0;
  uint64_t bytes_out_ = 0;
};

}  // namespace sonde
