#include "perfdata/read/decompress.h"

#include <zstd.h>

#include <algorithm>

#include "base/check.h"

namespace sonde {
namespace {

constexpr size_t kChunkSize = size_t{4} << 20;

}  // namespace

Bytes compressed_payload(const RecordView& record) {
  if (record.type != abi::kRecordCompressed2) return record.payload;
  ByteCursor in(record.payload, record.order);
  uint64_t size = in.u64();
  return in.take(size);
}

void StreamExpander::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

StreamExpander::StreamExpander(uint64_t memory_limit_bytes, ExpansionAllowance& allowance)
    : memory_limit_bytes_(memory_limit_bytes), expansion_("the compressed records", allowance) {}
StreamExpander::StreamExpander(StreamExpander&&) noexcept = default;
StreamExpander::~StreamExpander() = default;

/// Starts a new chunk for bytes that don't fit, and moves the unconsumed ones into it.
Result<> StreamExpander::make_room() {
  size_t size = std::max(kChunkSize, left() * 2);
  SpoolMemory chunk = TRY(SpoolMemory::allocate(size, held_bytes_ + size > memory_limit_bytes_));
  held_bytes_ += size;
  if (left() > 0) std::memcpy(chunk.data(), chunks_.back().data() + begin_, left());
  filled_ -= begin_;
  begin_ = 0;
  chunks_.push_back(std::move(chunk));
  return {};
}

void StreamExpander::drop_frame() {
  ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
  begin_ = filled_;
}

std::unexpected<Error> StreamExpander::damaged(const char* reason) {
  drop_frame();
  return fail(ErrorCode::kCorrupt, "{}", reason);
}

Result<Bytes> StreamExpander::expand(Bytes compressed) {
  if (!context_) context_.reset(ZSTD_createDCtx());
  if (!context_) return fail(ErrorCode::kFailed, "out of memory: no zstd context");
  if (is_over_) return fail(ErrorCode::kUnsupported, "those before it expand to too much");
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  while (true) {
    if (chunks_.empty() || filled_ == chunks_.back().capacity()) TRY(make_room());
    SpoolMemory& chunk = chunks_.back();
    ZSTD_outBuffer out{chunk.data() + filled_, chunk.capacity() - filled_, 0};
    size_t before = in.pos;
    size_t status = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(status)) return damaged(ZSTD_getErrorName(status));
    filled_ += out.pos;
    if (auto allowed = expansion_.grow(in.pos - before, out.pos); !allowed) {
      is_over_ = true;
      drop_frame();
      return std::unexpected(std::move(allowed).error());
    }
    bool flushed = out.pos < out.size;
    if (flushed && in.pos == in.size) break;
    if (flushed && out.pos == 0 && status != 0) return damaged("it does not expand");
  }
  return Bytes(chunks_.back().data() + begin_, left());
}

void StreamExpander::consume(size_t size) {
  CHECK(size <= left());
  begin_ += size;
}

void StreamExpander::release_before(uint64_t mark) {
  while (chunks_.size() > 1 && first_chunk_ + 1 < mark) {
    held_bytes_ -= chunks_.front().capacity();
    chunks_.pop_front();
    ++first_chunk_;
  }
}

}  // namespace sonde
