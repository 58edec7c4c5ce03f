#include "elf/xz.h"

#include <lzma.h>

#include <algorithm>

#include "base/expansion_allowance.h"

namespace sonde {
namespace {

constexpr uint64_t kDecoderMemory = uint64_t{128} << 20;

struct Stream {
  lzma_stream lzma = LZMA_STREAM_INIT;
  ~Stream() { lzma_end(&lzma); }
};

}  // namespace

Result<std::vector<std::byte>> decompress_xz(Bytes packed, const std::string& name) {
  Stream stream;
  if (lzma_stream_decoder(&stream.lzma, kDecoderMemory, 0) != LZMA_OK)
    return fail(ErrorCode::kFailed, "{}: not enough memory to decompress xz data", name);
  stream.lzma.next_in = reinterpret_cast<const uint8_t*>(packed.data());
  stream.lzma.avail_in = packed.size();
  Expansion expansion(name);
  std::vector<std::byte> out;
  size_t filled = 0;
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    out.resize(std::max<size_t>(size_t{64} << 10, filled * 2));
    stream.lzma.next_out = reinterpret_cast<uint8_t*>(out.data()) + filled;
    stream.lzma.avail_out = out.size() - filled;
    size_t unread = stream.lzma.avail_in, before = filled;
    status = lzma_code(&stream.lzma, LZMA_FINISH);
    filled = out.size() - stream.lzma.avail_out;
    TRY(expansion.grow_in_memory(unread - stream.lzma.avail_in, filled - before));
  }
  if (status != LZMA_STREAM_END) return fail(ErrorCode::kCorrupt, "{}: damaged xz data", name);
  out.resize(filled);
  return out;
}

}  // namespace sonde
