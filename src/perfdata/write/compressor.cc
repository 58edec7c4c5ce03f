#include "perfdata/write/compressor.h"

#include <zstd.h>

#include "abi/perf_event.h"

namespace sonde {

void RecordCompressor::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

Result<RecordCompressor> RecordCompressor::create(int level) {
  RecordCompressor compressor(ZSTD_createCCtx());
  ZSTD_CCtx_s* context = compressor.context_.get();
  if (context == nullptr) return fail(ErrorCode::kFailed, "no memory for zstd");
  size_t status = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  if (ZSTD_isError(status) != 0)
    return fail(ErrorCode::kUsage, "zstd level {}: {}", level, ZSTD_getErrorName(status));
  return compressor;
}

Result<> RecordCompressor::compress(Bytes records, ByteBuilder& out) {
  if (records.empty()) return {};
  // A multiple of eight below the 16-bit limit of a record.
  constexpr size_t kRoom = 65'520 - sizeof(abi::RecordHeader);
  std::byte packed[kRoom];
  ZSTD_inBuffer input{records.data(), records.size(), 0};
  size_t before = out.size();
  size_t unflushed = 1;
  while (input.pos < input.size || unflushed != 0) {
    ZSTD_outBuffer output{packed, kRoom, 0};
    unflushed = ZSTD_compressStream2(context_.get(), &output, &input, ZSTD_e_flush);
    if (ZSTD_isError(unflushed) != 0)
      return fail(ErrorCode::kFailed, "zstd: {}", ZSTD_getErrorName(unflushed));
    if (output.pos == 0) continue;
    out.u32(abi::kRecordCompressed);
    out.u16(0);
    out.u16(static_cast<uint16_t>(output.pos + sizeof(abi::RecordHeader)));
    out.bytes({packed, output.pos});
  }
  bytes_in_ += records.size();
  bytes_out_ += out.size() - before;
  return {};
}

}  // namespace sonde
