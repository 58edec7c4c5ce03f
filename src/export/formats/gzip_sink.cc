#include "export/formats/gzip_sink.h"

#include <zlib.h>

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"

namespace sonde {
namespace {

constexpr size_t kBlockSize = size_t{512} * 1024;
constexpr size_t kBlocksAtATime = 8;
constexpr int kRawDeflate = -15;  // raw deflate without zlib's header, window of 32 KiB
// The fastest level. Level 6 makes files a third smaller but takes four times as long.
constexpr int kLevel = 1;

struct Block {
  std::string_view text;
  std::string compressed;
  uint32_t checksum = 0;
};

/// Every block but the last ends at a byte boundary, without ending the stream.
void compress(Block& block, bool is_last) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, kRawDeflate, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  constexpr size_t kMarker = 16;  // what a flush adds
  block.compressed.resize(deflateBound(&stream, block.text.size()) + kMarker);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.text.data()));
  stream.avail_in = static_cast<uInt>(block.text.size());
  stream.next_out = reinterpret_cast<Bytef*>(block.compressed.data());
  stream.avail_out = static_cast<uInt>(block.compressed.size());
  deflate(&stream, is_last ? Z_FINISH : Z_SYNC_FLUSH);
  block.compressed.resize(stream.total_out);
  deflateEnd(&stream);
  block.checksum = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(block.text.data()),
                                               static_cast<uInt>(block.text.size())));
}

std::string little_endian(uint32_t number) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

}  // namespace

void GzipSink::emit(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= kBlockSize * kBlocksAtATime) compress_waiting(false);
}

/// Data that does not fill a block is held back unless it is the last: so block boundaries do not
/// depend on how the text arrives.
void GzipSink::compress_waiting(bool is_last) {
  std::vector<Block> blocks;
  std::string_view rest = waiting_;
  while (rest.size() >= kBlockSize || (is_last && (!rest.empty() || blocks.empty()))) {
    size_t size = std::min(kBlockSize, rest.size());
    blocks.push_back({.text = rest.substr(0, size), .compressed = {}});
    rest.remove_prefix(size);
  }
  parallel_for(blocks.size(),
               [&](size_t i) { compress(blocks[i], is_last && i + 1 == blocks.size()); });
  // Deflate, no name, no time, written on Unix.
  if (!is_begun_) out_.write({"\x1f\x8b\x08\0\0\0\0\0\x04\x03", 10});
  is_begun_ = true;
  for (const Block& block : blocks) {
    out_.write(block.compressed);
    checksum_ = static_cast<uint32_t>(
        crc32_combine(checksum_, block.checksum, static_cast<z_off_t>(block.text.size())));
    size_ += static_cast<uint32_t>(block.text.size());
  }
  waiting_.erase(0, waiting_.size() - rest.size());
}

void GzipSink::finish() {
  flush_buffer();
  compress_waiting(true);
  out_.write(little_endian(checksum_) + little_endian(size_));
}

}  // namespace sonde
